"""The CPU time of this process, and of children that ended."""

from __future__ import annotations

import resource
import time

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from .cuda_clock import CudaClock

# Taken before any foreign code is loaded: patched modules do not reach them.
_cpu = time.process_time_ns
_usage = resource.getrusage
_OWN, _CHILDREN = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN


def cpu_so_far() -> int:
    """Returns CPU nanoseconds of this process and of children that ended."""
    children = _usage(_CHILDREN)
    return _cpu() + int((children.ru_utime + children.ru_stime) * 1e9)


def spent_so_far() -> tuple[int, int, int]:
    """Returns what `cpu_so_far` does, and this process's context switches of both kinds."""
    own = _usage(_OWN)
    return cpu_so_far(), own.ru_nvcsw, own.ru_nivcsw


def settled(clock: CudaClock) -> int:
    """Makes a device cold and idle; returns the CPU nanoseconds of waiting for it."""
    before = _cpu()
    clock.settle()
    return _cpu() - before
