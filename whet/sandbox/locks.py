"""Locks that all whet processes of this machine share; the kernel frees those of a process that ends."""

from __future__ import annotations

import fcntl
import os
import tempfile
from contextlib import suppress
from pathlib import Path


def lock(name: str, wait: bool = True) -> int | None:
    """Takes a lock; returns the descriptor that holds it until it is closed.

    Args:
        name: of its file, in the folder for temporary files.
        wait: for whoever has it; otherwise the answer is None then.

    Raises:
        OSError: the file is not one that this user may read.
    """
    path = Path(tempfile.gettempdir()) / name
    # Another user's file in a shared folder may be read, and not be opened with O_CREAT.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644))
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        os.close(descriptor)
        return None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
