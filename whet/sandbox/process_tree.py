"""Who descends from whom, by what the kernel tells out here."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

GONE = (FileNotFoundError, ProcessLookupError, PermissionError)
"""What reading about a process that ends meanwhile raises."""
TICKS = os.sysconf("SC_CLK_TCK")
CPUCLOCK_SCHED = 2
"""Of a process, by the scheduler's account: the low bits of the number of its clock."""


def tree(pid: int) -> Iterator[int]:
    """Yields a process and all that descend from it."""
    yield pid
    for child in children(pid):
        yield from tree(child)


def children(pid: int) -> Iterator[int]:
    """Yields the processes that a process has started and not buried."""
    with suppress(*GONE):
        for task in Path(f"/proc/{pid}/task").iterdir():
            yield from map(int, (task / "children").read_text().split())


def running_seconds(pid: int) -> float:
    """Returns what the threads that a process has now have run, to the nanosecond (``schedstat``, proc(5))."""
    total = 0
    with suppress(*GONE):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(*GONE):
                total += int((thread / "schedstat").read_text().split()[0])
    return total / 1e9


def cpu_seconds(pids: Sequence[int]) -> float | None:
    """Returns what some processes, and threads and children of theirs that have ended, have run; None of no process."""
    return sum(_process_seconds(pid) + _ended_children_seconds(pid) for pid in pids) if pids else None


def ticked_seconds(pid: int) -> float:
    """Returns what all threads that a process ever had have run, and the children that it has buried, in ticks."""
    with suppress(*GONE):
        # User and system time of its own, then those of its children; the name before them may hold anything.
        ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]
        return sum(map(int, ticks)) / TICKS
    return 0.0


def _process_seconds(pid: int) -> float:
    """Returns what a process has run until now, with its threads that have ended, to the nanosecond.

    Its CPU clock (clock_getcpuclockid(3)) may be read by anybody; what is running is counted up to the call.
    """
    with suppress(OSError):
        return time.clock_gettime(~pid << 3 | CPUCLOCK_SCHED)
    return 0.0


def _ended_children_seconds(pid: int) -> float:
    """Returns what the children that a process has waited for have run, in ticks and rounded up."""
    with suppress(*GONE):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        faults, ticks = int(fields[8]), sum(map(int, fields[13:15]))
        return (ticks + 1) / TICKS if faults else 0.0  # no process ends without a page fault
    return 0.0
