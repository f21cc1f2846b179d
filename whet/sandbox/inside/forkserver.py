"""Forks one job after another, each into namespaces of its own, inside a sandbox of bubblewrap.

It is no administrator outside its sandbox, but keeps the right to make namespaces and mounts within it. No job has
it: each gets a PID namespace, in which there is nobody else to signal, trace or read, folders and System V objects of
its own; then all rights are dropped for good, and the filter of system calls is loaded.

    this process -> a fork that makes the namespaces -> their init -> the job
"""

from __future__ import annotations

import os
import signal
import socket
import sys

from . import kernel
from .forking import HIGHEST, TREE, Fork, alone, become, furnish, preload, take_pipes
from .link import Link

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from collections.abc import Sequence
    from typing import NoReturn

    from .forking import File

TREE_OPTIONS = "mode=0755"


class Rules:
    """What each job is kept in by.

    Attributes:
        namespaces: flags of unshare(2).
        folders: where a job may write, with the options of its file system in memory.
        kept: folders of the interpreter, which may lie below those.
        capabilities: whether all rights are dropped.
        calls: the compiled filter of system calls; empty where the machine cannot make one.
    """

    def __init__(
        self,
        namespaces: int,
        folders: Sequence[tuple[str, str]],
        kept: Sequence[str],
        capabilities: bool,
        calls: bytes,
    ) -> None:
        self.namespaces = namespaces
        self.folders = folders
        self.kept = kept
        self.capabilities = capabilities
        self.calls = calls


class Job:
    """What is asked for: a program, its tree, its pipes."""

    def __init__(self, rules: Rules, program: str, files: Sequence[File], descriptors: Sequence[int]) -> None:
        self.rules = rules
        self.program = program
        self.files = files
        *self.pipes, self.tree = descriptors

    def enter(self) -> NoReturn:
        """The way of the first fork: it makes the namespaces, and waits for what happens in them."""
        take_pipes((*self.pipes, self.tree))
        kernel.unshare(kernel.CLONE_NEWNS | self.rules.namespaces)
        init = Fork(self.init)
        os.closerange(0, HIGHEST)
        os._exit(init.wait())

    def init(self) -> NoReturn:
        """The way of the second, the first process of the namespace: all others end with it."""
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        self.move_in()
        if self.rules.capabilities:
            kernel.drop_capabilities()
        kernel.no_new_privileges()
        if self.rules.calls:
            kernel.filter_calls(self.rules.calls)
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)  # nothing of it in /proc is the job's to read
        job = Fork(self.begin)
        os.closerange(0, HIGHEST)
        while True:
            pid, status = os.wait()
            if pid == job.pid:
                code = os.waitstatus_to_exitcode(status)
                os._exit(code if code >= 0 else 128 - code)

    def begin(self) -> NoReturn:
        """The way of the third."""
        kernel.prctl(kernel.PR_SET_DUMPABLE, 1)
        os.setsid()
        os.closerange(3, HIGHEST)
        become(self.program)

    def move_in(self) -> None:
        """Makes the job's own folders; those of the process that forks are out of sight from then on."""
        kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
        quiet = kernel.MS_NOSUID | kernel.MS_NODEV
        kept = [(folder, os.open(folder, os.O_PATH)) for folder in self.rules.kept]
        for folder, options in self.rules.folders:
            kernel.mount("tmpfs", folder, "tmpfs", quiet, options)
        for folder, descriptor in kept:
            os.makedirs(folder, exist_ok=True)
            kernel.mount(f"/proc/self/fd/{descriptor}", folder, flags=kernel.MS_BIND | kernel.MS_REC)
        kernel.mount("tmpfs", TREE, "tmpfs", quiet, TREE_OPTIONS)
        furnish(self.files, len(self.pipes))
        kernel.mount("none", TREE, flags=kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY | quiet)
        if self.rules.namespaces & kernel.CLONE_NEWPID:
            kernel.mount("proc", "/proc", "proc", quiet | kernel.MS_NOEXEC)


def end(job: Fork, grace: float) -> tuple[int, bool]:
    """Ends a job and all that it started.

    Args:
        job: its first fork; the namespace goes with it.
        grace: seconds in which it may end by itself.

    Returns:
        its return code, and whether nobody of it is left.
    """
    try:
        code = job.wait(grace)
    except TimeoutError:
        job.kill()
        code = job.wait()
    return 128 - code if code > 128 else code, alone()


def works(rules: Rules) -> bool:
    """Whether this machine lets a job be made so; some take away all rights within a sandbox."""
    null = os.open(os.devnull, os.O_RDWR)
    try:
        return Fork(Job(rules, "calls", (), (null,) * 4).enter).wait() == 0  # its input ends before a message comes
    finally:
        os.close(null)


def serve(link: Link) -> None:
    """Answers messages until the world outside goes."""
    rules = Rules(*link.receive()[0])
    link.send(("ready", preload(sys.argv[1:]) and works(rules)))
    job: Fork | None = None
    while True:
        message, descriptors = link.receive()
        if message[0] == "start":
            _, program, files = message
            job = Fork(Job(rules, program, files, descriptors).enter)
            for descriptor in descriptors:
                os.close(descriptor)
            link.send(("started",))
        else:
            assert job is not None
            link.send(("ended", *end(job, message[1])))


def main() -> None:
    """Entry of the process."""
    try:
        serve(Link(socket.socket(fileno=os.dup(0))))
    except EOFError:
        return
