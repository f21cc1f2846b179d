"""Keeps a container warm: starts one job after another in it, and sweeps up after each.

It is root there, with the rights to change its user and to send signals and no other; each job is a process of a
user that has none. A job gets the pipes that came from outside, so nothing but the kernel stands between it and the
clock out there; it can neither signal the supervisor nor read it, and the supervisor reads nothing that a job says.

A supervisor that was told to import modules forks its jobs off itself. So it never holds a byte of a job, not even the
name of a file that one left: what reads such things is a child that ends at once.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import suppress

from . import kernel
from .forking import TREE, Fork, alone, become, furnish, preload, take_pipes
from .link import Link

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from collections.abc import Sequence
    from typing import Any, NoReturn

    from .forking import File

SOCKET = "/run/whet/socket"
WRITABLE = ("/work", "/tmp", "/dev/shm", "/dev/mqueue")
QUEUES = ("/proc/sysvipc/shm", "/proc/sysvipc/sem", "/proc/sysvipc/msg")
MEMORY_EVENTS = ("/sys/fs/cgroup/memory/memory.oom_control", "/sys/fs/cgroup/memory.events")
PERFMON = 1 << 38


class Supervisor:
    """Runs one job at a time."""

    def __init__(self) -> None:
        os.umask(0o022)
        for folder in WRITABLE:
            # They stay root's: nothing that a job could mark on them outlives it.
            os.chmod(folder, 0o1777)
        # Some are mount points, of interpreters that live there.
        self.own = {folder: set(os.listdir(folder)) for folder in WRITABLE}
        self.process: subprocess.Popen[bytes] | Fork | None = None
        self.user = 0
        self.sweeps = self.wipes = True

    def start(
        self,
        program: Sequence[str],
        environment: Sequence[tuple[str, str]] | None,
        user: int,
        files: Sequence[File],
        profiling: bool,
        sweeps: bool,
        wipes: bool,
        descriptors: Sequence[int],
    ) -> None:
        """Starts a job.

        Args:
            program: the command; for a fork, one of our programs.
            environment: all of it; None is a fork, whose environment is the supervisor's.
            user: whom it runs as.
            files: its tree.
            profiling: whether it keeps the right to count events, where this container has that; never for a fork.
            sweeps: whether all that it starts is ended with it.
            wipes: whether what it wrote is removed then.
            descriptors: its stdin, stdout and stderr, and where its tree is read from.
        """
        self.user, self.sweeps, self.wipes = user, sweeps, wipes
        *pipes, tree = descriptors
        furnish(files, tree)
        _first_to_go(True)
        if environment is None:
            self.process = Fork(lambda: self.begin(program[0], pipes))
        else:
            stdin, stdout, stderr = pipes
            counts = profiling and _may_count()
            owner: dict[str, Any] = {} if counts else {"user": user, "group": user, "extra_groups": ()}
            self.process = subprocess.Popen(
                [*counting(user), *program] if counts else program,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                env=dict(environment),
                cwd="/work",
                start_new_session=True,
                **owner,
            )
        _first_to_go(False)

    def begin(self, program: str, pipes: Sequence[int]) -> NoReturn:
        """The way of a fork."""
        os.setsid()
        take_pipes(pipes)
        self.become_user()
        # The kernel hides a process that has changed its user from itself; libraries read /proc/self. Nobody else
        # gains by it: what this user could read of it now is the job's own.
        kernel.prctl(kernel.PR_SET_DUMPABLE, 1)
        become(program)

    def become_user(self) -> None:
        """Gives up all rights for good."""
        os.setgroups([])
        os.setresgid(self.user, self.user, self.user)
        os.setresuid(self.user, self.user, self.user)

    def end(self, grace: float) -> tuple[int, bool]:
        """Ends the job and all that it started.

        Args:
            grace: seconds in which it may end by itself.
            sweeps: whether what it started is ended too.
            wipes: whether what it wrote is removed.

        Returns:
            its return code, and whether nothing of it is left.
        """
        assert self.process is not None
        code = None
        with suppress(subprocess.TimeoutExpired, TimeoutError):
            code = self.process.wait(grace)
        if self.sweeps:
            with suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)  # all but init and this process, at one instant
        elif code is None:
            self.process.kill()
        if code is None:
            code = self.process.wait()
        return code, (not self.sweeps or alone()) and (not self.wipes or Fork(self.wipe).wait() == 0)

    def wipe(self) -> NoReturn:
        """Removes what the job wrote, as the user who owns it: root without its rights may not."""
        for name in os.listdir(TREE):
            path = os.path.join(TREE, name)
            shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
        self.become_user()
        for path in self.left():
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path, ignore_errors=True)
            else:
                os.unlink(path)
        os._exit(bool(self.left() or any(map(_queues, QUEUES))))

    def left(self) -> list[str]:
        """Returns the paths of what the job wrote."""
        return [
            os.path.join(folder, name)
            for folder in WRITABLE
            for name in os.listdir(folder)
            if name not in self.own[folder]
        ]


def _may_count() -> bool:
    with open("/proc/self/status", encoding="ascii") as file:
        masks = [int(line.split()[1], 16) for line in file if line.startswith("CapPrm:")]
    return bool(masks[0] & PERFMON)


def counting(user: int) -> list[str]:
    """Returns what makes a command another user's, with no right but the one to count events."""
    rights = ("--inh-caps=-all,+perfmon", "--ambient-caps=-all,+perfmon")
    return ["/usr/bin/setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *rights, "--"]


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
    fit = preload(sys.argv[1:]) if sys.argv[1:] else False
    supervisor = Supervisor()
    events = [os.open(path, os.O_RDONLY | os.O_CLOEXEC) for path in MEMORY_EVENTS if os.path.exists(path)]
    link.send(("ready", fit), events)
    while True:
        message, descriptors = link.receive()
        if message[0] == "start":
            try:
                _, program, environment, user, profiling, sweeps, wipes, files = message
                supervisor.start(program, environment, user, files, profiling, sweeps, wipes, descriptors)
                link.send(("started",))
            except OSError as error:
                link.send(("failed", str(error)))
            finally:
                for descriptor in descriptors:
                    os.close(descriptor)
        else:
            link.send(("ended", *supervisor.end(message[1])))


def main() -> None:
    """Entry of the process."""
    connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connected.connect(SOCKET)
    try:
        serve(Link(connected))
    except EOFError:
        return
