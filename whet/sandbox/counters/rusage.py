"""What the kernel tells of every process that ended: CPU seconds and peak resident memory."""

from __future__ import annotations

import os

from whet.core.counter import Counter, counted
from whet.sandbox.counters.process import PROBE

SOURCE = "rusage"


def counters(cpu: float, peak: int) -> tuple[Counter, ...]:
    """Returns what a launcher reported of one process.

    Args:
        cpu: seconds in user and kernel mode.
        peak: resident bytes of the largest process at its peak.
    """
    return counted("cpu-seconds", cpu, "s", SOURCE), counted("peak-memory", peak, "bytes", SOURCE)


def probe() -> tuple[Counter, ...]:
    """Reads one run of a program that does nothing."""
    pid = os.posix_spawn(PROBE, [PROBE], {})
    _, _, usage = os.wait4(pid, 0)
    return counters(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)
