"""Ends what a driver started and could not end: ``python -m whet.sandbox.workers.undertaker DESCRIPTOR``.

Some processes of a Ray cluster look for a minute for its head node, when that was killed with its driver.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


class Undertaker:
    """A process that outlives this one by a moment, and some others not at all."""

    def __init__(self, pids: Iterable[int]) -> None:
        """Starts it.

        Args:
            pids: processes that are to end with this one.
        """
        self._socket, theirs = socket.socketpair()
        with theirs:
            subprocess.run(
                [sys.executable, "-m", "whet.sandbox.workers.undertaker", str(theirs.fileno())],
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
                check=False,
            )
        self._socket.sendall("".join(f"{pid} {started(pid)}\n" for pid in pids).encode())

    def close(self) -> None:
        """Has them ended now."""
        self._socket.close()


def started(pid: int) -> str:
    """Returns when a process was started, which no other of its number was; empty where it is gone."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    return ""


def main() -> None:
    """Waits for the end of who started it, and ends the others."""
    if os.fork():
        os._exit(0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with socket.socket(fileno=int(sys.argv[1])) as told, told.makefile() as lines:
        known = [line.split() for line in lines]
    for pid, *start in known:
        if start and start == [started(int(pid))]:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(int(pid), signal.SIGKILL)


if __name__ == "__main__":
    main()
