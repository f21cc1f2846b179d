"""The CPU time that a control group counts of all its processes, those that have ended included, read from outside.

The kernel adds to it whenever a thread leaves its processor, so nothing is missing but what runs at this moment, since
the last tick. Whatever a process does (ignore the end of its children, fork twice, end its threads), it stays in the
group, and nothing inside can lower the count. It is counted where the processor is bounded by nothing, too.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

FILES = {"cpuacct.usage": 1e9, "cpu.stat": 1e6}
"""Of each version of the interface: the file of a group, and what it counts in parts of a second."""
ROOTS = {"cpuacct": Path("/sys/fs/cgroup/cpuacct"), "": Path("/sys/fs/cgroup")}
"""Of each version: the controller's name in ``/proc/PID/cgroup``, and where its tree is."""
USAGE = b"usage_usec"
"""The row of the second version's file that holds user and system time together."""


class CpuAccount:
    """The account of one control group."""

    def __init__(self, folder: Path) -> None:
        """Opens it.

        Args:
            folder: of the group.

        Raises:
            OSError: nothing is counted there, or it may not be read.
        """
        file = next((file for name in FILES if (file := folder / name).exists()), folder / "cpu.stat")
        self._parts = FILES[file.name]
        self._file = os.open(file, os.O_RDONLY | os.O_CLOEXEC)

    def seconds(self) -> float | None:
        """Returns what the group's processes have run since it was made; None where it is gone, or does not tell."""
        with suppress(OSError, ValueError, IndexError):
            words = os.pread(self._file, 4096, 0).split()
            return int(words[words.index(USAGE) + 1 if USAGE in words else 0]) / self._parts
        return None

    def close(self) -> None:
        """Closes its file."""
        os.close(self._file)


def account_in(folder: Path) -> CpuAccount | None:
    """Returns the account of the group with this folder; None where none can be read."""
    with suppress(OSError):
        account = CpuAccount(folder)
        if account.seconds() is not None:
            return account
        account.close()
    return None


def account_of(pid: int, name: str) -> CpuAccount | None:
    """Returns the account of the group of a process of the host.

    Args:
        pid: its number.
        name: what must be in the path of the group, so that no other's processes are counted.
    """
    with suppress(OSError):
        rows = [line.split(":", 2) for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines()]
        groups = {controller: group for _, names, group in rows for controller in names.split(",")}
        for controller, root in ROOTS.items():
            group = groups.get(controller, "")
            if name in group and (account := account_in(root / group.lstrip("/"))) is not None:
                return account
    return None
