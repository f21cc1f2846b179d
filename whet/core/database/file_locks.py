"""Locks on the runs of a state directory: files that the kernel unlocks when their process ends."""

from __future__ import annotations

import fcntl
import os
import struct
from pathlib import Path

FLOCK = "hhqqi4x"
"""``struct flock`` of the kernel: type, whence, start, length (0 is all of the file) and process."""


class FileLocks:
    """The locks that this process has, and those of others.

    Args:
        folder: where the files are; made if need be.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._held: dict[str, int] = {}

    def hold(self, run: str) -> bool:
        """Takes the run's lock for this process; False where another one has it."""
        path = self._path(run)
        while True:
            descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            try:
                fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, _exclusive())
            except (BlockingIOError, PermissionError):  # which of the two is the file system's choice, see fcntl(2)
                os.close(descriptor)
                return False
            # Who let go of it meanwhile took the file away: a lock on that one keeps nobody out.
            if path.exists() and os.path.samestat(os.fstat(descriptor), path.stat()):
                self._held[run] = descriptor
                return True
            os.close(descriptor)

    def release(self, run: str) -> None:
        """Lets go of a run that this process held."""
        if (descriptor := self._held.pop(run, None)) is not None:
            self._path(run).unlink(missing_ok=True)
            os.close(descriptor)

    def is_held(self, run: str) -> bool:
        """Tells whether any process has the run's lock."""
        if run in self._held:
            return True
        try:
            file = self._path(run).open("rb")
        except FileNotFoundError:
            return False
        # Asked for, not taken: whoever wants the lock meanwhile gets it.
        with file:
            kind, *_ = struct.unpack(FLOCK, fcntl.fcntl(file, fcntl.F_OFD_GETLK, _exclusive()))
        return bool(kind != fcntl.F_UNLCK)

    def close(self) -> None:
        """Lets go of all."""
        for descriptor in self._held.values():
            os.close(descriptor)
        self._held.clear()

    def _path(self, run: str) -> Path:
        return self._folder / f"{run}.lock"


def _exclusive() -> bytes:
    """Returns the description of a lock on a whole file that belongs to its descriptor, not to the process."""
    return struct.pack(FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
