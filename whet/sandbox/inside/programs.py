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
    """Runs one program at a time in ``/work``, with stdin and stdout as files there."""

    def __init__(self, folder: str, isolated: bool) -> None:
        self.isolated = isolated
        self.argv: list[str] = []
        self.paths = [os.path.join(folder, name) for name in (".stdin", ".stdout", ".stderr")]
        os.chdir(folder)

    def prepare(self, argv: list[str], stdin: bytes) -> None:
        """Takes what the next run needs."""
        self.argv = argv
        for path in self.paths:
            with open(path, "wb") as file:
                file.write(stdin if path == self.paths[0] else b"")

    def run(self) -> tuple[int, ...]:
        """Runs it once.

        Returns:
            return code, wall ns, CPU ns, peak resident bytes of the largest process, context switches at its own
            wish and against it.
        """
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, self.paths[0], os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, self.paths[1], os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, self.paths[2], os.O_WRONLY, 0),
        ]
        start = time.perf_counter_ns()
        pid = os.posix_spawn(self.argv[0], self.argv, os.environ, file_actions=actions, setpgroup=0)
        _, status, usage = os.wait4(pid, 0)
        wall = time.perf_counter_ns() - start
        self.sweep(pid)
        cpu = int((usage.ru_utime + usage.ru_stime) * 1e9)
        code = os.waitstatus_to_exitcode(status)
        return code, wall, cpu, usage.ru_maxrss * 1024, usage.ru_nvcsw, usage.ru_nivcsw

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
        with open(self.paths[1], "rb") as file:
            stdout = file.read()
        with open(self.paths[2], "rb") as file:
            file.seek(max(0, os.path.getsize(self.paths[2]) - TAIL))
            return stdout, file.read(TAIL)


def serve(channel: Channel, kind: type[Launcher] = Launcher) -> None:
    """Answers messages until the world outside goes."""
    _, folder, isolated, memory, processes, output = channel.read()
    # A program of the same user must not write into this process through /proc.
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    set_limits(memory, processes, output)
    launcher = kind(folder, isolated)
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


def main(kind: type[Launcher] = Launcher) -> None:
    """Entry of the process."""
    channel = Channel()
    try:
        serve(channel, kind)
    except EOFError:
        return
