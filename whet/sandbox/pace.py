"""How fast a processor computes now: a fixed piece of work, timed out here.

A processor that shares its core with another one, as on rented machines, is slower while that one computes. No account
of the kernel tells it: nobody waits, and nothing is stolen.
"""

from __future__ import annotations

import os
import time

ROUNDS = 40
"""Of the piece of work: some 0.3 ms of Python, which keeps as much of a core busy as interpreters do. Fewer are timed
worse than the differences that are looked for; more take longer beside each window."""
NUMBERS = tuple(range(1000, 1100))
"""So few that they stay in the first cache, whatever ran there before."""


def pace(core: int) -> float:
    """Returns the CPU seconds that a fixed piece of work takes on a processor now.

    The calling thread moves there and back. In CPU seconds, a thread that takes turns on that processor makes it no
    longer.

    Raises:
        OSError: this thread may not use the processor.
    """
    usual = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        _work(1)  # finds the caches cold
        before = time.thread_time_ns()
        _work(ROUNDS)
        return (time.thread_time_ns() - before) / 1e9
    finally:
        os.sched_setaffinity(0, usual)


def _work(rounds: int) -> int:
    value = 0
    for _ in range(rounds):
        for number in NUMBERS:
            value = (value * 33 ^ number) & 0xFFFFFFFF
    return value
