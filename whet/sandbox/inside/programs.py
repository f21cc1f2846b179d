"""Starts programs (compilers, candidates) and says how they ended. It knows no expected output.

The rules of `landlock` hold for the programs and not for this process, so they can neither signal nor trace it.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import signal
import time

from .channel import Channel, set_limits
from .landlock import enter, make_rules

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from collections.abc import Callable
    from typing import Any

PR_SET_DUMPABLE = 4
MOST_SAID = 16384
"""Bytes of stderr that are handed over: of more, the first half of them and the last, since compilers tell the cause
first and tracebacks last. More let a candidate that writes without end take memory outside."""
SHARED = ("/tmp", "/dev/shm")
READY = b"\n"
SAID, GATE = 8, 9
ALONE, ALONE_NS = 1.1, 1_000_000
"""How many times the CPU time of its first thread, and how many ns beyond, a program that has no other one may take:
the two accounts round differently."""
WAIT = f'echo >&{SAID}; exec {SAID}>&-; read -r _ <&{GATE} && exec {GATE}<&- "$@"'
"""Becomes a program when a line comes through the gate: a shell's memory is gone sooner than that of a fork of ours."""


class Waiting:
    """A program's process, in which all is done but to run it.

    It is made beforehand, so that neither the fork nor the rules fall into the time of the run.
    """

    def __init__(self, argv: list[str], files: list[int], rules: int | None, start: str) -> None:
        """Makes it.

        Args:
            argv: the command; its first word is a path, or the name of a tool.
            files: its stdin, stdout and stderr.
            rules: of `landlock`, if there are any.
            start: the folder that it starts in.

        Raises:
            OSError: it cannot be started.
        """
        if "/" in argv[0] and not os.access(argv[0], os.X_OK):
            number = errno.EACCES if os.path.exists(argv[0]) else errno.ENOENT
            raise OSError(number, os.strerror(number))
        gate, self._gate = os.pipe2(os.O_CLOEXEC)
        reading, said = os.pipe2(os.O_CLOEXEC)
        self.pid = os.fork()
        if self.pid == 0:
            become(argv, files, rules, start, said, gate)
        for descriptor in (gate, said):
            os.close(descriptor)
        answer = os.read(reading, len(READY))
        os.close(reading)
        if answer != READY:
            raise OSError(errno.ECHILD, "its process could not be made")
        # Its own clock, by the number that the kernel gives it (clock_getcpuclockid).
        self._begun = time.clock_gettime_ns((~self.pid << 3) | 2)

    def run(self, end: Callable[[], None]) -> tuple[int, ...]:
        """Runs it.

        Args:
            end: ends whatever it left running. Called before it is buried: until then its number is taken, so that
                what waits for the number to be free, in order to write for it, is killed while it waits.

        Returns:
            return code, wall ns, CPU ns, peak resident bytes of the largest process, context switches at its own
            wish and against it, the few of its making included, and the ns for which it could have run and had no
            processor, -1 where that is not known.
        """
        before = scheduled(self.pid)
        start = time.perf_counter_ns()
        os.write(self._gate, b"\n")
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        wall = time.perf_counter_ns() - start
        end()
        after = scheduled(self.pid)  # while it is not buried yet
        _, status, usage = os.wait4(self.pid, 0)
        os.close(self._gate)
        cpu = max(0, int((usage.ru_utime + usage.ru_stime) * 1e9) - self._begun)
        code = os.waitstatus_to_exitcode(status)
        waited = -1
        # The account is that of its first thread: of one that had others, or children, nothing is known.
        if before is not None and after is not None and cpu <= (after[0] - before[0]) * ALONE + ALONE_NS:
            waited = after[1] - before[1]
        return code, wall, cpu, usage.ru_maxrss * 1024, usage.ru_nvcsw, usage.ru_nivcsw, waited


def scheduled(pid: int) -> tuple[int, int] | None:
    """Returns the ns that the first thread of a process has run and waited for a processor; None where nobody tells."""
    try:
        with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
            ran, waited, _ = file.read().split()
    except (OSError, ValueError):
        return None
    return int(ran), int(waited)


def become(argv: list[str], files: list[int], rules: int | None, start: str, said: int, gate: int) -> None:
    """Makes a fresh fork the shell that waits at the gate; does not return."""
    try:
        os.setpgid(0, 0)
        os.chdir(start)
        wanted = (*enumerate(files), (SAID, said), (GATE, gate))
        # Out of each other's way first.
        for descriptor, file in [(to, fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, GATE + 1)) for to, file in wanted]:
            os.dup2(file, descriptor)
        if rules is not None:
            enter(rules)
        os.execve("/bin/sh", ["sh", "-c", WAIT, "sh", *argv], os.environ)
    finally:
        os._exit(127)


class Launcher:
    """Runs one program at a time, with stdin and stdout as files without a name in ``/work``."""

    def __init__(self, folder: str, isolated: bool, start: str, rules: list[list[str]]) -> None:
        self.isolated = isolated
        self.start = start
        self.rules = make_rules(*rules) if rules else None
        self.waiting: Waiting | OSError = OSError(errno.ESRCH, "nothing is prepared")
        self.files: list[tuple[int, int]] = []
        os.chdir(folder)

    def prepare(self, argv: list[str], stdin: bytes) -> None:
        """Makes all that the next run needs."""
        for descriptor in (descriptor for pair in self.files for descriptor in pair):
            os.close(descriptor)
        self.files = [unnamed() for _ in range(3)]
        (stdin_read, stdin_write), (_, stdout), (_, stderr) = self.files
        with open(stdin_write, "wb", closefd=False) as file:
            file.write(stdin)
        try:
            self.waiting = Waiting(argv, [stdin_read, stdout, stderr], self.rules, self.start)
        except OSError as error:
            self.waiting = error

    def run(self) -> tuple[int, ...]:
        """Runs what was prepared, once; see `Waiting.run`."""
        if isinstance(self.waiting, OSError):
            raise self.waiting
        pid = self.waiting.pid
        return self.waiting.run(lambda: self.sweep(pid))

    def sweep(self, pid: int) -> None:
        """Kills whatever the program left running."""
        try:
            if self.isolated:
                os.kill(-1, signal.SIGKILL)  # all of this PID namespace but its init and this process
            else:
                os.killpg(pid, signal.SIGKILL)
        except ProcessLookupError:
            return

    def clear(self) -> None:
        """Removes the files that earlier runs left, wherever a program may write."""
        for folder in (".", *(SHARED if self.isolated else ())):
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            empty(descriptor)
            os.close(descriptor)

    def gather(self, folder: str, most: int) -> list[tuple[str, bytes]] | None:
        """Returns path and content of each file under a folder; None where they hold more than some bytes.

        A link counts as the file that it leads to within the folder; what has a name that is no text is left out. Only
        when nothing runs any more.
        """
        root = os.path.realpath(folder)
        found: list[tuple[str, bytes]] = []
        for where, folders, names in os.walk(root):
            folders.sort()
            for name in sorted(names):
                place = os.path.realpath(os.path.join(where, name))
                text = os.fsencode(name).decode("utf-8", "replace") == name
                if not (text and place.startswith(root + "/") and os.path.isfile(place)):
                    continue
                most -= os.path.getsize(place)
                if most < 0:
                    return None
                with open(place, "rb") as file:
                    found.append((os.path.relpath(os.path.join(where, name), root), file.read()))
        return found

    def output(self) -> tuple[bytes, bytes]:
        """Returns stdout, and the beginning and the end of stderr, of the last run."""
        _, (stdout, _), (stderr, _) = self.files
        with open(stdout, "rb", closefd=False) as file:
            file.seek(0)
            written = file.read()
        return written, both_ends(stderr)


def both_ends(descriptor: int) -> bytes:
    """Returns what a file holds, without its middle where that is more than `MOST_SAID` bytes."""
    size = os.fstat(descriptor).st_size
    if size <= MOST_SAID:
        return os.pread(descriptor, MOST_SAID, 0)
    half = MOST_SAID // 2
    return os.pread(descriptor, half, 0) + b"\n[...]\n" + os.pread(descriptor, half, size - half)


def unnamed() -> tuple[int, int]:
    """Returns descriptors to read and to write a file in the working folder.

    It has no name by which a program could put something else in its place.
    """
    path = f".{os.urandom(8).hex()}"
    writing = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    reading = os.open(path, os.O_RDONLY)
    os.unlink(path)
    return reading, writing


def empty(folder: int) -> None:
    """Removes all that is in an open folder, but for what must stay: an interpreter may be mounted there."""
    with os.scandir(folder) as found:
        entries = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in found]
    for name, is_folder in entries:
        try:
            if not is_folder:
                os.unlink(name, dir_fd=folder)
                continue
            os.chmod(name, 0o700, dir_fd=folder)
            # Not by its path: folders can be nested deeper than a path is long.
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            try:
                empty(inner)
            finally:
                os.close(inner)
            os.rmdir(name, dir_fd=folder)
        except OSError:
            continue


def serve(channel: Channel, kind: type[Launcher] = Launcher) -> None:
    """Answers messages until the world outside goes."""
    _, folder, isolated, start, memory, processes, output, rules = channel.read()
    # A program of the same user must not write into this process through /proc.
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    set_limits(memory, processes, output)
    launcher = kind(folder, isolated, start, rules)
    while True:
        message: Any = channel.read()
        operation = message[0]
        if operation == "prepare":
            launcher.prepare(message[1], message[2])
            channel.write(("ready",))
        elif operation == "clear":
            launcher.clear()
            channel.write(("cleared",))
        elif operation == "go":
            try:
                channel.write(("done", *launcher.run()))
            except OSError as error:
                channel.write(("error", type(error).__name__, str(error)))
        elif operation == "output":
            channel.write(("output", *launcher.output()))
        elif operation == "gather":
            channel.write(("files", launcher.gather(message[1], message[2])))
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
