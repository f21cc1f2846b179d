"""Pipes to processes in a sandbox."""

from __future__ import annotations

import contextlib
import fcntl
import os

PIPE_BYTES = 1 << 20
"""What a pipe holds: the most that the kernel grants without privileges. With its usual 64 KiB, a MiB of input has both
ends wait for each other sixteen times, and to be woken costs tens of microseconds on a virtual machine."""


def open_pipe() -> tuple[int, int]:
    """Returns the ends of a pipe that no other program inherits: to read, to write.

    Where its user has too many large ones already, it is as small as the kernel makes it.
    """
    ends = os.pipe2(os.O_CLOEXEC)
    with contextlib.suppress(PermissionError):
        fcntl.fcntl(ends[1], fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    return ends
