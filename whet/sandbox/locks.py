"""Locks that all whet processes of this machine share; the kernel frees those of a process that ends."""

from __future__ import annotations

import fcntl
import os
import re
import tempfile
from contextlib import suppress
from pathlib import Path

LOCKS = Path("/proc/locks")
HOLDER = re.compile(r"\d+: FLOCK +ADVISORY +WRITE (\d+) [0-9a-f]+:[0-9a-f]+:(\d+) ")
"""A line of `LOCKS`: process and inode."""
RUN = re.compile(r"/locks/(\d{8}-\d{6}-[0-9a-f]{6})\.lock")
"""The lock of a run that a process works on, as its open files show it; see `whet.core.database.file_locks`."""


def lock(name: str, wait: bool = True) -> int | None:
    """Takes a lock; returns the descriptor that holds it until it is closed.

    Args:
        name: of its file, in the folder for temporary files.
        wait: for whoever has it; otherwise the answer is None then.

    Raises:
        OSError: the file is not one that this user may read.
    """
    path = _path(name)
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


def holder(name: str) -> int | None:
    """Returns the process that has a lock; None where nobody has, or the kernel does not tell, as in a container."""
    with suppress(OSError):
        inode = str(_path(name).stat().st_ino)
        for line in LOCKS.read_text().splitlines():
            if (found := HOLDER.match(line)) and found[2] == inode and found[1] != "0":
                return int(found[1])
    return None


def run_of(process: int) -> str:
    """Returns the newest run that a process works on; empty for another user's, or one whose store is no file."""
    runs = []
    with suppress(OSError):
        for file in Path(f"/proc/{process}/fd").iterdir():
            with suppress(OSError):  # closed meanwhile
                runs += RUN.findall(str(file.readlink()))
    return max(runs, default="")


def _path(name: str) -> Path:
    return Path(tempfile.gettempdir()) / name
