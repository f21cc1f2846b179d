"""Starts programs under a valgrind that counts their instructions, and hears its count over a socket.

What is written into a socket cannot be taken back, read or opened anew by those who hold its other end. The program
shares valgrind's processes all the same, so a count proves nothing until the clock agrees with it.
"""

from __future__ import annotations

import socket

from . import programs

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from typing import Any

ROOM = 1 << 16
"""Bytes of valgrind's output after which no more is read. Less could cut off its count, which takes a few lines; more
lets a program that writes there fill more memory."""


class CountingLauncher(programs.Launcher):
    """A launcher whose programs are given valgrind's option of where to write."""

    def prepare(self, argv: list[str], stdin: bytes) -> None:
        """See `programs.Launcher.prepare`; the first word of ``argv`` is valgrind."""
        self.before = _processes()
        self.ours, self.theirs = socket.socketpair()
        self.ours.setblocking(False)
        self.theirs.set_inheritable(True)
        super().prepare([argv[0], f"--log-fd={self.theirs.fileno()}", *argv[1:]], stdin)

    def run(self) -> tuple[Any, ...]:
        """Returns what `programs.Launcher.run` does, the number of processes and threads, and valgrind's words."""
        try:
            figures = super().run()
            return *figures, _processes() - self.before, self._said()
        finally:
            self.ours.close()
            self.theirs.close()

    def _said(self) -> bytes:
        pieces = b""
        while len(pieces) < ROOM:
            try:
                piece = self.ours.recv(ROOM)
            except BlockingIOError:
                break
            pieces += piece
        return pieces


def _processes() -> int:
    """Returns the number last given to a process or thread of this PID namespace: they are given one after another."""
    with open("/proc/loadavg", encoding="ascii") as file:
        return int(file.read().split()[4])


def main() -> None:
    """Entry of the process."""
    programs.main(CountingLauncher)
