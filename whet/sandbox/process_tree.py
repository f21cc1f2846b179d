"""Who descends from whom, by what the kernel tells out here."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

GONE = (FileNotFoundError, ProcessLookupError, PermissionError)
"""What reading about a process that ends meanwhile raises."""
TICKS = os.sysconf("SC_CLK_TCK")
SETTLING_SECONDS, SETTLING_TRIES = 0.0001, 20
"""Between looks for whether a thread still runs, and how many: its account is brought up to date as it switches out."""
STEAL = 7
"""Which column of a processor in ``/proc/stat`` (proc(5))."""


class Scheduled(NamedTuple):
    """What the kernel's scheduler has given.

    Attributes:
        ran: seconds on a processor.
        waited: seconds in which a thread could have run and had no processor.
    """

    ran: float
    waited: float


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
    return sum(one.ran for one in _threads(pid).values())


def scheduled(pids: Sequence[int]) -> dict[int, Scheduled]:
    """Returns the accounts of the threads that some processes have now, by the thread's number.

    Waits some milliseconds at most for those that still run, since a running thread's account is not up to date.
    """
    for _ in range(SETTLING_TRIES):
        if not any(map(_runs, pids)):
            break
        time.sleep(SETTLING_SECONDS)
    return {thread: one for pid in pids for thread, one in _threads(pid).items()}


def given_since(before: Mapping[int, Scheduled], now: Mapping[int, Scheduled]) -> Scheduled:
    """Returns what threads were given between two of their accounts; what has ended meanwhile is not in it."""
    nothing = Scheduled(0.0, 0.0)
    both = [(one, before.get(thread, nothing)) for thread, one in now.items()]
    return Scheduled(sum(one.ran - then.ran for one, then in both), sum(one.waited - then.waited for one, then in both))


def last_number() -> int | None:
    """Returns the number last given to a process or thread of this PID namespace, which holds those of all sandboxes.

    Numbers are given one after the other (``/proc/loadavg``, proc(5)). None where nobody tells.
    """
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/loadavg").read_text().split()[4])
    return None


def own_waiting() -> float:
    """Returns the seconds in which the calling thread could have run and had no processor; 0 where nobody tells."""
    with suppress(OSError, ValueError):
        return _account(Path("/proc/thread-self/schedstat").read_text()).waited
    return 0.0


def stolen_seconds(cores: Sequence[int]) -> float:
    """Returns for how long the hypervisor ran something else in the place of some processors, in ticks (proc(5))."""
    names = {f"cpu{core}" for core in cores}
    with suppress(OSError):
        rows = [line.split() for line in Path("/proc/stat").read_text().splitlines()]
        return sum(int(row[1 + STEAL]) for row in rows if row and row[0] in names and len(row) > 1 + STEAL) / TICKS
    return 0.0


def _threads(pid: int) -> dict[int, Scheduled]:
    found = {}
    with suppress(*GONE):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(*GONE):
                found[int(thread.name)] = _account((thread / "schedstat").read_text())
    return found


def _account(line: str) -> Scheduled:
    ran, waited, *_ = line.split()
    return Scheduled(int(ran) / 1e9, int(waited) / 1e9)


def _runs(pid: int) -> bool:
    """Whether any thread of a process runs, or could."""
    with suppress(*GONE):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(*GONE):
                if (thread / "stat").read_text().rpartition(")")[2].split()[0] == "R":
                    return True
    return False


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
