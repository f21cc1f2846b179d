"""The heap of a process that calls on large tensors: what was freed is handed out again.

By glibc's defaults a large block is mapped when it is asked for and unmapped when it is freed, from a size on that
follows from what was freed before. An output of a MiB then costs 256 page faults within the clock in one process and
480 in the next, and what was written where it will lie is gone. Source: glibc's manual, "Malloc Tunable Parameters".
"""

from __future__ import annotations

import ctypes

TRIM_THRESHOLD, TOP_PAD, MMAP_MAX = -1, -2, -4
"""Parameters of `mallopt`, from malloc.h."""
STEP = 64 << 20
"""Bytes by which the heap grows at least."""


def keep_heap() -> None:
    """Has the heap serve all sizes and give nothing back; where the C library has no such switch, nothing changes."""
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is not None:
        for option, value in ((MMAP_MAX, 0), (TOP_PAD, STEP), (TRIM_THRESHOLD, (1 << 31) - 1)):
            set_option(option, value)
