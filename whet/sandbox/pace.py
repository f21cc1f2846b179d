"""How fast a processor computes now: a fixed piece of work, timed out here.

A processor that shares its core with another one, as on rented machines, is slower while that one computes. No account
of the kernel tells it: nobody waits, and nothing is stolen.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from functools import cache, partial

from whet.sandbox.cores import on_core

ROUNDS = 40
"""Of the piece of work: some 0.3 ms of Python, which keeps as much of a core busy as interpreters do. Fewer are timed
worse than the differences that are looked for; more take longer beside each window."""
NUMBERS = tuple(range(1000, 1100))
"""So few that they stay in the first cache, whatever ran there before."""
EVEN = 1.1
"""How many times as long as when it was fast the piece of work may take on a processor that is called fast: less would
wait for how well so short a piece is timed."""
QUICKEST = 0.1
"""Share of the readings remembered in which the processor was fast. The very quickest of many is luck: against it, most
others would be slow."""
MOST_READINGS, READING_SECONDS = 50, 0.001
"""How often a processor that is slow is looked at, and seconds between two looks: mostly it is slow for milliseconds,
and to wait for longer takes more time than to run a process anew."""
REMEMBERED = 200
"""Readings that are known: a processor whose clock is lowered for good is fast again after so many, at the most."""


class Pacer:
    """Knows how fast a processor has been.

    Args:
        read: returns the seconds that the piece of work takes there now.
        sleep: waits for so many seconds.
    """

    def __init__(self, read: Callable[[], float], sleep: Callable[[float], None] = time.sleep) -> None:
        self._read, self._sleep = read, sleep
        self._known: deque[float] = deque(maxlen=REMEMBERED)

    def pace(self) -> float:
        """Returns the seconds that the piece of work takes now."""
        self._known.append(self._read())
        return self._known[-1]

    def settled(self) -> float:
        """Waits until the processor is about as fast as it has been, for some time at most; see `pace`."""
        for _ in range(MOST_READINGS):
            if self.pace() <= EVEN * self._fast():
                break
            self._sleep(READING_SECONDS)
        return self._known[-1]

    def _fast(self) -> float:
        return sorted(self._known)[int(QUICKEST * (len(self._known) - 1))]


@cache
def pacer(core: int) -> Pacer:
    """Returns what this process knows of a processor."""
    return Pacer(partial(pace, core))


def pace(core: int) -> float:
    """Returns the CPU seconds that a fixed piece of work takes on a processor now.

    The calling thread moves there and back. In CPU seconds, a thread that takes turns on that processor makes it no
    longer.

    Raises:
        OSError: this thread may not use the processor.
    """
    with on_core(core):
        _work(1)  # finds the caches cold
        before = time.thread_time_ns()
        _work(ROUNDS)
        return (time.thread_time_ns() - before) / 1e9


def _work(rounds: int) -> int:
    value = 0
    for _ in range(rounds):
        for number in NUMBERS:
            value = (value * 33 ^ number) & 0xFFFFFFFF
    return value
