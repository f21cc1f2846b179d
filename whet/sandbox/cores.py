"""One core, one measurement: locks that all whet processes of this machine share, and affinity."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from whet.core.errors import UsageError


@contextmanager
def measuring_cores(count: int) -> Iterator[tuple[int, ...]]:
    """Reserves the last ``count`` processors for measuring, waiting for other measurements to end.

    The calling thread moves to the other processors meanwhile, so that the clock out here does not disturb.

    Raises:
        UsageError: this process may not use so many processors.
    """
    allowed = sorted(os.sched_getaffinity(0))
    if count > len(allowed):
        raise UsageError(f"--cores {count}: this process may use {len(allowed)}")
    cores = tuple(allowed[-count:])
    others = set(allowed) - set(cores)
    with ExitStack() as stack:
        for core in cores:
            stack.enter_context(_locked(core))
        if others:
            os.sched_setaffinity(0, others)
            stack.callback(os.sched_setaffinity, 0, allowed)
        yield cores


def megahertz(core: int) -> float | None:
    """Returns the clock at which a processor runs now; None where the kernel does not tell."""
    with suppress(OSError, ValueError):
        return int(Path(f"/sys/devices/system/cpu/cpu{core}/cpufreq/scaling_cur_freq").read_text()) / 1e3
    number = -1
    with suppress(OSError, ValueError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "processor":
                number = int(value)
            elif name.strip() == "cpu MHz" and number == core:
                return float(value)
    return None


@contextmanager
def _locked(core: int) -> Iterator[None]:
    path = Path(tempfile.gettempdir()) / f"whet-core-{core}.lock"
    # Another user's file in a shared folder may be read, and not be opened with O_CREAT.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644))
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
