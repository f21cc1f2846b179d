"""Jobs that a process inside a sandbox starts for us: their pipes are ours, their beginning and end are its work."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from whet.core.errors import SandboxError
from whet.sandbox.inside.channel import STARTED
from whet.sandbox.inside.forking import FAILED, LINK, PLAIN, PROGRAM, File
from whet.sandbox.inside.link import Link
from whet.sandbox.protocol import Incident, Job
from whet.sandbox.session import PipeSession, crash, text
from whet.sandbox.usage import ProcessUsage

ANSWER_SECONDS = 10.0
"""Seconds in which a server must start or end a job. To end one includes waiting for killed processes, `SWEEP_SECONDS`
at most, and removing what the job wrote. Less throws sound servers away on a busy machine; more delays the notice of
one that hangs."""
PRELOAD_SECONDS = 120.0
"""Seconds in which a new server must have imported what its jobs need, torch for example. Less fails jobs on a slow
disk; more delays the report of an import that hangs."""
GRACE_SECONDS = 0.05
"""Seconds that a job which has closed its pipe may take to end by itself. With less, more jobs are reported as killed
and not with their own exit code; with more, one that goes on is reported later."""
MOST_SAID = 1 << 16
"""Bytes of a crashed job's stderr that are read: what a pipe holds, so more would never be there. With less, the last
words, which the incident tells, could be missing."""
GONE = (OSError, EOFError)
"""What a server that does not answer raises."""

FORKABLE = ("inside.calls", "inside.programs")
"""Our programs of which a server can start a fork; it has them imported."""

Release = Callable[["JobServer", bool], None]
"""Is told that a server's job has ended, and whether something went wrong."""


def begun(made: PipeSession, words: Sequence[Any]) -> PipeSession:
    """Returns the talk with a job's process, which has been told its limits; see `whet.sandbox.staging.first_words`."""
    try:
        made.tell(*words)
    except BaseException:
        made.close()
        raise
    return made


class Unfit(Exception):
    """A process with these modules must not be forked from."""


class JobServer(ABC):
    """A process inside that starts one job at a time; this is our end of the link to it."""

    def __init__(self, link: Link, usage: ProcessUsage) -> None:
        """Takes it over.

        Args:
            link: to it.
            usage: of its jobs, of which one runs at a time, and of what starts them, which waits meanwhile.
        """
        self._link = link
        self.usage = usage

    @abstractmethod
    def start(self, job: Job, release: Release) -> ServedProcess:
        """Starts a job that is of its shape.

        Raises:
            OSError: it does not answer.
            EOFError: it is gone.
        """

    @abstractmethod
    def limit_incident(self) -> Incident | None:
        """Returns what was stopped in it for what it used."""

    @abstractmethod
    def remove(self) -> None:
        """Ends it, and all within."""

    def end(self, grace: float = 0.0) -> tuple[int, bool]:
        """Ends the job; returns its return code and whether nothing of it is left.

        Raises:
            OSError: it does not answer.
            EOFError: it is gone.
        """
        self._link.send(("end", grace))
        (_, code, clean), _ = self._link.receive()
        return code, clean

    def _hand_over(self, message: Sequence[Any], tree: Path | None, release: Release) -> ServedProcess:
        """Sends what is to be started, with pipes of ours and a copy in memory of its tree."""
        with ExitStack() as undoing, ExitStack() as passed:

            def pipe(ours: int) -> tuple[int, int]:
                ends = os.pipe2(os.O_CLOEXEC)
                undoing.callback(os.close, ends[ours])
                passed.callback(os.close, ends[1 - ours])
                return ends

            stdin, our_stdin = pipe(1)
            our_stdout, stdout = pipe(0)
            our_stderr, stderr = pipe(0)
            packed = os.memfd_create("tree", os.MFD_CLOEXEC)
            passed.callback(os.close, packed)
            files = _pack(tree, packed)
            self._link.send(("start", *message, files), (stdin, stdout, stderr, packed))
            answer, _ = self._link.receive()
            if answer[0] != "started":
                raise OSError(answer[1])
            undoing.pop_all()
        return ServedProcess(self, release, our_stdin, our_stdout, our_stderr)


class ServedProcess:
    """A `whet.sandbox.session.Child` that a server started."""

    def __init__(self, server: JobServer, release: Release, stdin: int, stdout: int, stderr: int) -> None:
        self.stdin, self.stdout = stdin, stdout
        self.usage = server.usage
        self._stderr = stderr
        self._server = server
        self._release = release
        self._ended = False
        self._crashed = False

    def exit_incident(self) -> Incident:
        """See `whet.sandbox.session.Child.exit_incident`."""
        self._ended = self._crashed = True
        try:
            code, _ = self._server.end(GRACE_SECONDS)
        except GONE:
            return Incident("crash", "the sandbox ended")
        os.set_blocking(self._stderr, False)
        said = b""
        with suppress(BlockingIOError):
            said = os.read(self._stderr, MOST_SAID)
        first, started, rest = said.partition(STARTED)
        if not started and (why := text(first)).startswith(FAILED):
            raise SandboxError(f"a process could not be forked: {why.removeprefix(FAILED)}")
        return crash(code, text(rest))

    def limit_incident(self) -> Incident | None:
        """See `whet.sandbox.session.Child.limit_incident`."""
        return self._server.limit_incident()

    def close(self, spoiled: bool) -> None:
        """See `whet.sandbox.session.Child.close`."""
        if not self._ended:
            self._ended = True
            try:
                clean = self._server.end()[1]
            except GONE:
                clean = False
            spoiled = spoiled or not clean
        spoiled = spoiled or self._crashed or self._server.limit_incident() is not None
        for descriptor in (self.stdin, self.stdout, self._stderr):
            os.close(descriptor)
        self._release(self._server, spoiled)


def _pack(tree: Path | None, descriptor: int) -> list[File]:
    """Writes the bytes of a tree's files one after the other; returns what each of them is."""
    if tree is None:
        return []
    files = []
    with open(descriptor, "wb", closefd=False) as packed:
        for path in tree.rglob("*"):
            name = str(path.relative_to(tree))
            if path.is_symlink():
                files.append((name, packed.write(os.fsencode(path.readlink())), LINK))
            elif path.is_file():
                kind = PROGRAM if path.stat().st_mode & 0o100 else PLAIN
                files.append((name, packed.write(path.read_bytes()), kind))
    os.lseek(descriptor, 0, os.SEEK_SET)
    return files
