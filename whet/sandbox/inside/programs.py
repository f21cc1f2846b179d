"""Starts programs (compilers, candidates) and says how they ended. It knows no expected output."""

from __future__ import annotations

import ctypes
import os
import signal
import time

from .channel import Channel, set_limits

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from typing import Any

PR_SET_DUMPABLE = 4
TAIL = 16384


class Launcher:
    """Runs one program at a time in ``/work``, with stdin and stdout as files without a name there."""

    def __init__(self, folder: str, isolated: bool) -> None:
        self.isolated = isolated
        self.argv: list[str] = []
        self.files: list[tuple[int, int]] = []
        os.chdir(folder)

    def prepare(self, argv: list[str], stdin: bytes) -> None:
        """Takes what the next run needs."""
        self.argv = argv
        for descriptor in (descriptor for pair in self.files for descriptor in pair):
            os.close(descriptor)
        self.files = [unnamed() for _ in range(3)]
        with open(self.files[0][1], "wb", closefd=False) as file:
            file.write(stdin)

    def run(self) -> tuple[int, int, int, int]:
        """Returns (return code, wall ns, CPU ns, peak resident bytes of the largest process)."""
        (stdin, _), (_, stdout), (_, stderr) = self.files
        actions = []
        for to, descriptor in enumerate((stdin, stdout, stderr)):
            os.lseek(descriptor, 0, os.SEEK_SET)  # the same once more, where it is run again
            actions.append((os.POSIX_SPAWN_DUP2, descriptor, to))
        start = time.perf_counter_ns()
        pid = os.posix_spawn(self.argv[0], self.argv, os.environ, file_actions=actions, setpgroup=0)
        _, status, usage = os.wait4(pid, 0)
        wall = time.perf_counter_ns() - start
        self.sweep(pid)
        cpu = int((usage.ru_utime + usage.ru_stime) * 1e9)
        return os.waitstatus_to_exitcode(status), wall, cpu, usage.ru_maxrss * 1024

    def sweep(self, pid: int) -> None:
        """Kills whatever the program left running."""
        try:
            if self.isolated:
                os.kill(-1, signal.SIGKILL)  # all of this PID namespace but its init and this process
            else:
                os.killpg(pid, signal.SIGKILL)
        except ProcessLookupError:
            return

    def output(self) -> tuple[bytes, bytes]:
        """Returns stdout and the end of stderr of the last run."""
        _, (stdout, _), (stderr, _) = self.files
        with open(stdout, "rb", closefd=False) as file:
            file.seek(0)
            written = file.read()
        return written, os.pread(stderr, TAIL, max(0, os.fstat(stderr).st_size - TAIL))


def unnamed() -> tuple[int, int]:
    """Returns descriptors to read and to write a file in the working folder.

    It has no name by which a program could put something else in its place.
    """
    path = f".{os.urandom(8).hex()}"
    writing = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    reading = os.open(path, os.O_RDONLY)
    os.unlink(path)
    return reading, writing


def serve(channel: Channel) -> None:
    """Answers messages until the world outside goes."""
    _, folder, isolated, memory, processes, output = channel.read()
    # A program of the same user must not write into this process through /proc.
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    set_limits(memory, processes, output)
    launcher = Launcher(folder, isolated)
    while True:
        message: Any = channel.read()
        operation = message[0]
        if operation == "prepare":
            launcher.prepare(message[1], message[2])
            channel.write(("ready",))
        elif operation == "go":
            try:
                channel.write(("done", *launcher.run()))
            except OSError as error:
                channel.write(("error", type(error).__name__, str(error)))
        elif operation == "output":
            channel.write(("output", *launcher.output()))
        elif operation == "read":
            with open(message[1], "rb") as file:
                channel.write(("bytes", file.read()))


def main() -> None:
    """Entry of the process."""
    channel = Channel()
    try:
        serve(channel)
    except EOFError:
        return
