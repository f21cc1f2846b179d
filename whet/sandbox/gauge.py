"""The most memory that all processes of a control group used together, read from outside.

What the kernel holds for them counts: anonymous memory, files in memory, System V segments, and files of the disk
that they were the first to read. Nothing inside the group can lower it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

PLACES = (("memory", "/sys/fs/cgroup/memory", "memory.max_usage_in_bytes"), ("", "/sys/fs/cgroup", "memory.peak"))
"""Of each version of the interface: the controller's name in ``/proc/PID/cgroup``, its tree, and the peak's file."""


class Gauge:
    """The peak of one control group, without what was used when it began."""

    def __init__(self, file: Path) -> None:
        """Opens the file of its peak.

        Raises:
            OSError: it is not there, or may not be read.
        """
        writable = os.access(file, os.W_OK)
        self._peak = os.open(file, (os.O_RDWR if writable else os.O_RDONLY) | os.O_CLOEXEC)
        self._base = 0

    def peak(self) -> int:
        """Returns the most bytes used together since it was made; or, beyond what was used then, since `reset`."""
        return max(0, self._read() - self._base)

    def reset(self) -> bool:
        """Begins the peak anew at what is used now; returns False where the kernel does not let it."""
        try:
            os.pwrite(self._peak, b"0", 0)
        except OSError:  # opened for reading alone, or the second interface before Linux 6.12
            return False
        self._base = self._read()
        return True

    def _read(self) -> int:
        return int(os.pread(self._peak, 64, 0))

    def close(self) -> None:
        """Closes the file."""
        os.close(self._peak)


def gauge(pid: int) -> Gauge | None:
    """Returns the gauge of the group that a process of the host is in; None where there is none to be read."""
    with suppress(OSError):
        rows = [line.split(":", 2) for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines()]
        groups = {name: group for _, names, group in rows for name in names.split(",")}
        for controller, root, name in PLACES:
            file = Path(f"{root}{groups.get(controller, '/')}", name)
            if controller in groups and file.exists():
                return Gauge(file)
    return None
