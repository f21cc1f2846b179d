"""What all calls to one provider pass through, within one process."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from whet.core.config import ProviderLimits

MINUTE = 60.0


class Abandoned(Exception):
    """Nobody waits for this call any more: the run has ended, or its time is up."""


@dataclass(slots=True)
class Passage:
    """One call that passed.

    Attributes:
        at: when; of a gate that processes share the latest moment at which it may arrive.
        tokens: that it may use; to be corrected once they are counted.
    """

    at: float
    tokens: int


class Gate:
    """What all calls to one provider pass through. Safe for several threads."""

    def __init__(self, limits: ProviderLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._busy = 0
        self._recent: deque[Passage] = deque()
        self._paused_until = -math.inf
        self._closed = False
        self._changed = threading.Condition()

    @contextmanager
    def passage(self, tokens: int) -> Iterator[Passage]:
        """Waits for a slot and for the rates, and keeps the slot while it is open.

        Args:
            tokens: the most that the call may use.

        Raises:
            Abandoned: the gate was closed.
        """
        with self._changed:
            while (wait := self._wait(tokens)) > 0:
                self._changed.wait(None if math.isinf(wait) else wait)
            passage = Passage(self._clock(), tokens)
            self._busy += 1
            self._recent.append(passage)
        try:
            yield passage
        finally:
            with self._changed:
                self._busy -= 1
                self._changed.notify_all()

    def pause(self, seconds: float) -> None:
        """Lets nobody pass for so long."""
        with self._changed:
            self._paused_until = max(self._paused_until, self._clock() + seconds)

    def close(self) -> None:
        """Turns away all that wait, and all that come."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _wait(self, tokens: int) -> float:
        """Seconds until a call might pass; infinite until another one ends, and none where it may pass now."""
        if self._closed:
            raise Abandoned
        if self._busy >= self._limits.slots:
            return math.inf
        now = self._clock()
        while self._recent and self._recent[0].at + MINUTE <= now:
            self._recent.popleft()
        wait = self._paused_until - now
        if self._recent and not within_rates(self._limits, self._recent, tokens):
            wait = max(wait, self._recent[0].at + MINUTE - now)
        return wait


def within_rates(limits: ProviderLimits, recent: Collection[Passage], tokens: int) -> bool:
    """Whether a call of so many tokens may follow those of the last minute."""
    requests, most = limits.requests_per_minute, limits.tokens_per_minute
    if requests is not None and len(recent) >= requests:
        return False
    return most is None or sum(passage.tokens for passage in recent) + tokens <= most
