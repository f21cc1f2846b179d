"""How many calls a provider gets at once and a minute; and the wait that it asks all of them for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from whet.agents.gates import Gate
from whet.agents.models.base import Model
from whet.agents.models.in_turn import parts
from whet.agents.shared_gate import SharedGate
from whet.core.config import ProviderLimits
from whet.core.store import Store

# A person sees all prompts of a round at once.
_MANUAL = ProviderLimits(slots=10_000)
# A program in this process: its samples, side by side, would only wait for one another.
_PROGRAM = ProviderLimits(slots=1)


def provider_of(model: str) -> str:
    """Returns whom a model's calls go to: what stands before the colon, or the host of its base URL."""
    word, _, rest = model.partition(":")
    _, at, base_url = rest.partition("@http")
    return (urlsplit(f"http{base_url}").hostname if at else None) or word


class ProviderGates:
    """The gates of all providers of a run.

    Args:
        configured: limits by provider.
        clock: seconds, from any zero.
        shared: the store whose processes all pass the same gates to paid models; None for gates of this run alone.
    """

    def __init__(
        self,
        configured: Mapping[str, ProviderLimits] | None = None,
        clock: Callable[[], float] = time.monotonic,
        shared: Store | None = None,
    ) -> None:
        self._configured = configured or {}
        self._clock = clock
        self._shared = shared
        self._gates: dict[str, Gate | SharedGate] = {}
        self._closed = False
        self._lock = threading.Lock()

    def slots(self, model: Model) -> int:
        """Returns how many calls to a model may be under way at once; the most of those that it asks in turn."""
        return max(self._of(part).slots for part in parts(model))

    def gate(self, model: Model) -> Gate | SharedGate:
        """Returns what calls to a model pass through, together with all others to its provider."""
        provider = provider_of(model.name)
        with self._lock:
            if provider not in self._gates:
                self._gates[provider] = self._opened(provider, model)
                if self._closed:
                    self._gates[provider].close()
            return self._gates[provider]

    def close(self) -> None:
        """Turns away all that wait, and all that come."""
        with self._lock:
            self._closed = True
            for gate in self._gates.values():
                gate.close()

    def _opened(self, provider: str, model: Model) -> Gate | SharedGate:
        if self._shared is None or model.free:
            return Gate(self._of(model), self._clock)
        return SharedGate(self._shared, provider, self._of(model))

    def _of(self, model: Model) -> ProviderLimits:
        provider = provider_of(model.name)
        if provider in self._configured:
            return self._configured[provider]
        if provider == "manual":
            return _MANUAL
        return _PROGRAM if model.free else ProviderLimits()
