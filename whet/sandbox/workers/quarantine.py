"""Which hosts get no work because a probe of them failed, and when each is probed next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from whet.sandbox.workers.health import Earlier, Moment, fault

HEALTHY_SECONDS = 30.0
"""Between probes of a host that gets work."""
FIRST_SECONDS, MOST_SECONDS = 5.0, 300.0
"""Until a quarantined host is probed again; twice as long after each further fault."""
RETURN = 2
"""Probes in a row that must find a quarantined host healthy."""


@dataclass(slots=True)
class _State:
    why: str = ""
    faults: int = 0
    healthy: int = 0
    next_at: float = 0.0
    earlier: Earlier | None = None


class Quarantine:
    """What a driver knows of the health of its hosts; moments are by its own clock. For one thread at a time."""

    def __init__(self) -> None:
        self._hosts: dict[str, _State] = {}

    def due(self, host: str, at: Moment) -> bool:
        """Whether a host is to be probed now; one that is new is."""
        return at.ticks >= self._hosts.setdefault(host, _State()).next_at

    def why(self, host: str) -> str:
        """Returns why a host gets no work; empty where it does."""
        return self._hosts.setdefault(host, _State()).why

    def judge(self, host: str, found: Mapping[str, Any], sent_at: Moment, received_at: Moment) -> str:
        """Takes what a probe found; returns why the host gets no work from now on, empty where it does."""
        state = self._hosts.setdefault(host, _State())
        found_fault = fault(found, sent_at, received_at, state.earlier)
        best = found["seconds"] if state.earlier is None else min(found["seconds"], state.earlier.best)
        state.earlier = Earlier(best, Moment(*found["began"]), Moment(*found["ended"]), sent_at, received_at)
        if found_fault:
            return self.blame(host, found_fault, received_at)
        state.healthy += 1
        if state.why and state.healthy < RETURN:
            state.next_at = received_at.ticks + FIRST_SECONDS
            return state.why
        state.why, state.faults = "", 0
        state.next_at = received_at.ticks + HEALTHY_SECONDS
        return ""

    def blame(self, host: str, why: str, at: Moment) -> str:
        """Quarantines a host for what the driver saw itself, such as a probe without an answer; returns ``why``."""
        state = self._hosts.setdefault(host, _State())
        state.why, state.healthy = why, 0
        state.next_at = at.ticks + min(FIRST_SECONDS * 2**state.faults, MOST_SECONDS)
        state.faults += 1
        return why

    def forget(self, host: str) -> None:
        """Forgets a host that is lost: where it comes back, its clocks may have begun anew."""
        self._hosts.pop(host, None)
