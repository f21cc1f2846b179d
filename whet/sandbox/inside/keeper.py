"""Keeps a container warm: starts one job after another in it, and sweeps up after each.

It is root there, with the rights to change its user and to send signals and no other; each job is a process of a
user that has none. A job gets the pipes that came from outside, so nothing but the kernel stands between it and the
clock out there; it can neither signal the keeper nor read it, and the keeper reads nothing that a job says.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from contextlib import suppress

from .link import Link

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    pass

DOOR = "/run/whet/door"
TREE = "/src"
WRITABLE = ("/work", "/tmp", "/dev/shm", "/dev/mqueue")
QUEUES = ("/proc/sysvipc/shm", "/proc/sysvipc/sem", "/proc/sysvipc/msg")
MEMORY_EVENTS = ("/sys/fs/cgroup/memory/memory.oom_control", "/sys/fs/cgroup/memory.events")
SWEEP_SECONDS = 1.0


class Keeper:
    """Runs one job at a time."""

    def __init__(self) -> None:
        os.umask(0o022)
        for folder in WRITABLE:
            # They stay root's: nothing that a job could mark on them outlives it.
            os.chmod(folder, 0o1777)
        # Some are mount points, of interpreters that live there.
        self.own = {folder: set(os.listdir(folder)) for folder in WRITABLE}
        self.process: subprocess.Popen[bytes] | None = None
        self.user = 0

    def start(
        self,
        argv: list[str],
        environment: list[tuple[str, str]],
        user: int,
        files: list[tuple[str, bytes, bool]],
        pipes: list[int],
    ) -> None:
        """Starts a job.

        Args:
            argv: the command.
            environment: all of it.
            user: whom it runs as.
            files: its tree: path, bytes, whether it is a program.
            pipes: its stdin, stdout and stderr.
        """
        for path, data, executable in files:
            place = os.path.join(TREE, path)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "wb") as file:
                file.write(data)
            os.chmod(place, 0o755 if executable else 0o644)
        self.user = user
        stdin, stdout, stderr = pipes
        _first_to_go(True)
        self.process = subprocess.Popen(
            argv,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            env=dict(environment),
            cwd="/work",
            user=user,
            group=user,
            extra_groups=(),
            start_new_session=True,
        )
        _first_to_go(False)

    def end(self, grace: float, sweeps: bool, wipes: bool) -> tuple[int, bool]:
        """Ends the job and all that it started.

        Args:
            grace: seconds in which it may end by itself.
            sweeps: whether what it started is ended too.
            wipes: whether what it wrote is removed.

        Returns:
            its return code, and whether nothing of it is left.
        """
        assert self.process is not None
        if grace:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(grace)
        if sweeps:
            with suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)  # all but init and this process, at one instant
        else:
            self.process.kill()
        code = self.process.wait()
        return code, (not sweeps or self.alone()) and (not wipes or self.wiped())

    def alone(self) -> bool:
        """Waits until init has buried what was killed; returns whether nobody is left."""
        deadline = time.monotonic() + SWEEP_SECONDS
        while {int(name) for name in os.listdir("/proc") if name.isdigit()} - {1, os.getpid()}:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.0005)
        return True

    def wiped(self) -> bool:
        """Removes what the job wrote; returns whether nothing is left."""
        for name in os.listdir(TREE):
            path = os.path.join(TREE, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
        if self.left():
            self.remove()
        return not self.left() and not any(map(_queues, QUEUES))

    def left(self) -> list[str]:
        """Returns the paths of what the job wrote."""
        return [
            os.path.join(folder, name)
            for folder in WRITABLE
            for name in os.listdir(folder)
            if name not in self.own[folder]
        ]

    def remove(self) -> None:
        """Removes what the job wrote, as the user who owns it: root without its rights may not."""
        pid = os.fork()
        if pid:
            os.waitpid(pid, 0)
            return
        try:
            os.setgroups([])
            os.setresgid(self.user, self.user, self.user)
            os.setresuid(self.user, self.user, self.user)
            for path in self.left():
                if os.path.isdir(path) and not os.path.islink(path):
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    os.unlink(path)
        finally:
            os._exit(0)  # what could not be removed is seen by the keeper


def _first_to_go(yes: bool) -> None:
    """Whether this process, and what it starts, goes before all others where memory runs out."""
    with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000" if yes else "0")


def _queues(table: str) -> bool:
    """Whether a job left shared memory, semaphores or messages of the System V kind."""
    try:
        with open(table, encoding="ascii") as file:
            return len(file.readlines()) > 1  # the first line is a heading
    except FileNotFoundError:
        return False


def serve(link: Link) -> None:
    """Answers messages until the world outside goes."""
    keeper = Keeper()
    events = [os.open(path, os.O_RDONLY | os.O_CLOEXEC) for path in MEMORY_EVENTS if os.path.exists(path)]
    link.send(("ready",), events)
    while True:
        message, pipes = link.receive()
        if message[0] == "start":
            try:
                _, argv, environment, user, files = message
                keeper.start(argv, environment, user, files, pipes)
                link.send(("started",))
            except OSError as error:
                link.send(("failed", str(error)))
            finally:
                for descriptor in pipes:
                    os.close(descriptor)
        else:
            link.send(("ended", *keeper.end(*message[1:])))


def main() -> None:
    """Entry of the process."""
    connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connected.connect(DOOR)
    try:
        serve(Link(connected))
    except EOFError:
        return
