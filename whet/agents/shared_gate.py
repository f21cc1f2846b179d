"""What all calls to one provider pass through, over all processes that share a store.

A slot is a lock of the store, so that one whose process dies is free again. Passages of the last minute and the
provider's wish for a pause are facts of the store, which count by the store's clock.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from whet.agents.gates import MINUTE, Abandoned, Passage, within_rates
from whet.core.config import ProviderLimits
from whet.core.store import Store
from whet.core.turns import alone

LOOK = 0.1
"""Seconds between two looks at what other processes do."""
ARRIVAL = 10.0
"""Seconds that a call may take to arrive, unless it ends sooner: the provider's minute begins when it has arrived."""
CALL, PAUSED = "call-", "paused"
"""Names of facts."""


class SharedGate:
    """A gate that other processes pass too. Safe for several threads.

    Args:
        store: that they share.
        provider: whom the calls go to.
        limits: what it takes.
        clock: seconds, the same in all processes; None is the store's.
    """

    def __init__(
        self, store: Store, provider: str, limits: ProviderLimits, clock: Callable[[], float] | None = None
    ) -> None:
        self._store = store
        self._name = f"gate-{hashlib.sha256(provider.encode()).hexdigest()[:32]}"
        self._limits = limits
        self._clock = clock or store.now
        self._closed = threading.Event()

    @contextmanager
    def passage(self, tokens: int) -> Iterator[Passage]:
        """Waits for a slot and for the rates, and keeps the slot while it is open.

        Args:
            tokens: the most that the call may use.

        Raises:
            Abandoned: the gate was closed.
        """
        key = f"{CALL}{secrets.token_hex(8)}"
        passage, slot = self._passed(key, tokens)
        try:
            yield passage
        finally:
            # Of a closed gate the store may be closed too, which let go of the slot.
            if not self._closed.is_set():
                passage.at = min(passage.at, self._clock())
                self._note(key, passage)
                self._store.release(slot)

    def pause(self, seconds: float) -> None:
        """Lets nobody pass for so long."""
        with alone(self._store, self._name):
            until = max(self._store.fact(self._name, PAUSED) or 0.0, self._clock() + seconds)
            self._store.set_fact(self._name, PAUSED, until)

    def close(self) -> None:
        """Turns away all of this process that wait, and all that come."""
        self._closed.set()

    def _passed(self, key: str, tokens: int) -> tuple[Passage, str]:
        """Waits; returns the passage, and the slot that it takes."""
        while not self._closed.is_set():
            with alone(self._store, self._name):
                wait = self._wait(tokens)
                if wait <= 0.0 and (slot := self._slot()) is not None:
                    passage = Passage(self._clock() + ARRIVAL, tokens)
                    self._note(key, passage)
                    return passage, slot
            self._closed.wait(min(LOOK, wait) if wait > 0.0 else LOOK)
        raise Abandoned

    def _wait(self, tokens: int) -> float:
        """Seconds until the rates and a pause would let a call pass."""
        now, facts = self._clock(), self._store.facts(self._name)
        recent: list[Passage] = []
        for key, (at, used) in ((key, value) for key, value in facts.items() if key.startswith(CALL)):
            if at + MINUTE <= now:
                self._store.drop_fact(self._name, key)
            else:
                recent.append(Passage(at, used))
        wait = facts.get(PAUSED, now) - now
        if recent and not within_rates(self._limits, recent, tokens):
            wait = max(wait, min(passage.at for passage in recent) + MINUTE - now)
        return float(wait)

    def _slot(self) -> str | None:
        """Takes a slot that no living process has; None where there is none."""
        names = (f"{self._name}:{number}" for number in range(self._limits.slots))
        return next((name for name in names if self._store.hold(name)), None)

    def _note(self, key: str, passage: Passage) -> None:
        """Tells all processes when a call arrives at the latest, and what it uses."""
        if (self._limits.requests_per_minute, self._limits.tokens_per_minute) != (None, None):
            self._store.set_fact(self._name, key, [passage.at, passage.tokens])
