"""Talks with a process in a sandbox: framed messages, a deadline for each, and an end that is certain."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import struct
import subprocess
import time
from collections.abc import Callable, Generator, Sequence
from typing import Any, Protocol

from whet.core.errors import SandboxError
from whet.sandbox.inside.channel import STARTED
from whet.sandbox.inside.codec import CodecError, framed
from whet.sandbox.inside.decode import decode
from whet.sandbox.process_tree import tree
from whet.sandbox.protocol import CpuLimit, Incident
from whet.sandbox.usage import MemoryGroup, ProcessUsage

HEADER = 8
PIECE = 1 << 16
"""Bytes that are read at once at most, of the next answers too: what a pipe holds."""
SLACK = 1 << 20
"""Bytes that an answer may have beyond the job's limit of output: its frame, figures, and the end of stderr (16 KiB).
Less takes output at the limit for a flood; more lets a hostile process fill more of our memory."""
GRACE_SECONDS = 5.0
"""Seconds in which a message that has no answer must be written. A short one fits into the pipe and is written at once.
Less fails long ones on a busy machine; more delays the report of a process that reads nothing."""
BREATH = 0.0002
"""Seconds in which further answers may gather. To wake up for each of many short ones costs more than they do."""
UNCOUNTED_SECONDS = 0.05
"""Of waiting for an answer, in which its CPU time is not looked at."""


class Child(Protocol):
    """The process at the other end of a session."""

    @property
    def stdin(self) -> int:
        """The descriptor that it reads, at our end."""

    @property
    def stdout(self) -> int:
        """The descriptor that it writes, at our end."""

    @property
    def usage(self) -> ProcessUsage:
        """What its processes use."""

    def exit_incident(self) -> Incident:
        """Returns how it ended; ends it where it has not by itself.

        Raises:
            SandboxError: it never began.
        """

    def limit_incident(self) -> Incident | None:
        """Returns what the kernel had to stop in it, though it may look well."""

    def close(self, spoiled: bool) -> None:
        """Ends it with all that it started.

        Args:
            spoiled: something went wrong; nothing that it has touched may be used again.
        """


class Deadline(Protocol):
    """Says for how long an answer may still be waited for."""

    def left(self) -> float:
        """Returns the wall seconds until the next look at this; none or less where no answer may come any more."""


class WallDeadline:
    """A moment of the clock."""

    def __init__(self, at: float) -> None:
        self._at = at

    def left(self) -> float:
        """See `Deadline.left`."""
        return self._at - time.perf_counter()


class CpuDeadline:
    """CPU time of all processes of a child, as the kernel tells it, from now on.

    Most answers come at once, and to ask the kernel takes longer than they do: what is used in the first moments is
    not counted. Where the kernel does not tell, the clock alone ends the wait.
    """

    def __init__(self, usage: ProcessUsage, limit: CpuLimit) -> None:
        self._usage = usage
        self._limit = limit
        self._begun = time.perf_counter()
        self._before: float | None = None

    def left(self) -> float:
        """See `Deadline.left`: so long the rest of the CPU time lasts at least, for one thread."""
        waited = time.perf_counter() - self._begun
        if waited < UNCOUNTED_SECONDS:
            return UNCOUNTED_SECONDS - waited
        used = self._usage.cpu() or 0.0
        if self._before is None:
            self._before = used
        return min(self._limit.wall - waited, self._limit.seconds - (used - self._before))


class PipeSession:
    """A `whet.sandbox.protocol.Session` over pipes."""

    def __init__(self, child: Child, tree: str, output_limit: int) -> None:
        self.tree = tree
        self._child = child
        self._limit = output_limit + SLACK
        self._closed = False
        self._ahead = bytearray()  # what was read, and belongs to the next answer
        os.set_blocking(child.stdin, False)
        os.set_blocking(child.stdout, False)

    def ask(self, *message: Any, seconds: float | CpuLimit) -> tuple[tuple[Any, ...], float]:
        """See `whet.sandbox.protocol.Session.ask`."""
        incident = None
        try:
            value, spent = self._exchange(message, seconds)
        except Incident as raised:
            incident = raised
        if incident := self._child.limit_incident() or incident:
            self._end(spoiled=True)
            raise incident
        return value, spent

    def ask_each(self, *message: Any, answers: int, seconds: float | CpuLimit) -> Generator[bytes]:
        """See `whet.sandbox.protocol.Session.ask_each`."""
        incident = None
        left = answers
        try:
            self._put(framed(message), self._deadline(seconds))
            while left:
                answer = self._answer(seconds, BREATH if left > 1 else 0.0)
                if left == 1 and (incident := self._child.limit_incident()):
                    break
                left -= 1
                yield answer
        except Incident as raised:
            incident = self._child.limit_incident() or raised
        finally:
            if left:
                self._end(spoiled=incident is not None)
        if incident is not None:
            raise incident

    def tell(self, *message: Any) -> None:
        """Sends a message that has no answer."""
        self._send(framed(message), self._deadline(GRACE_SECONDS))

    def peak(self) -> int | None:
        """See `whet.sandbox.protocol.Session.peak`."""
        return self._child.usage.peak()

    def reset(self) -> None:
        """See `whet.sandbox.protocol.Session.reset`."""
        self._child.usage.reset()

    def pids(self) -> list[int]:
        """See `whet.sandbox.protocol.Session.pids`."""
        return self._child.usage.pids()

    def cpu(self) -> float | None:
        """See `whet.sandbox.protocol.Session.cpu`."""
        return self._child.usage.cpu()

    def group_cpu(self) -> float | None:
        """See `whet.sandbox.protocol.Session.group_cpu`."""
        return self._child.usage.group_cpu()

    def close(self) -> None:
        """See `whet.sandbox.protocol.Session.close`."""
        self._end(spoiled=False)

    def _end(self, spoiled: bool) -> None:
        if not self._closed:
            self._closed = True
            self._child.close(spoiled)

    def _exchange(self, message: tuple[Any, ...], seconds: float | CpuLimit) -> tuple[tuple[Any, ...], float]:
        pieces = framed(message)
        start = time.perf_counter()
        deadline = self._deadline(seconds)
        self._put(pieces, deadline)
        end = self._arrived(deadline)
        spent = time.perf_counter() - start
        try:
            value = decode(memoryview(self._ahead)[HEADER:end])
        except CodecError as error:
            raise Incident("protocol", f"the process sent no message: {error}") from None
        del self._ahead[:end]
        if not isinstance(value, tuple) or not value or not isinstance(value[0], str):
            raise Incident("protocol", "the process sent no message")
        return value, spent

    def _deadline(self, seconds: float | CpuLimit) -> Deadline:
        if isinstance(seconds, CpuLimit):
            return CpuDeadline(self._child.usage, seconds)
        return WallDeadline(time.perf_counter() + seconds)

    def _put(self, pieces: Sequence[bytes], deadline: Deadline) -> None:
        """Sends a message, if it is our turn."""
        self._expect_silence()
        self._send(pieces, deadline)

    def _expect_silence(self) -> None:
        """Raises where an answer stands there before its question."""
        if self._ahead or _readable(self._child.stdout):
            raise Incident("protocol", "the process spoke before it was asked")

    def _answer(self, seconds: float | CpuLimit, breath: float) -> bytes:
        """Returns the next answer; most of many are ahead already."""
        end = self._end_ahead() or self._arrived(self._deadline(seconds), breath)
        answer = bytes(memoryview(self._ahead)[HEADER:end])
        del self._ahead[:end]
        return answer

    def _end_ahead(self) -> int:
        """Returns where the next answer ends, where all of it is ahead; else 0."""
        if len(self._ahead) < HEADER:
            return 0
        end = HEADER + self._length()
        return end if len(self._ahead) >= end else 0

    def _arrived(self, deadline: Deadline, breath: float = 0.0) -> int:
        """Waits until all of the next answer is ahead; returns where it ends."""
        self._read_up_to(HEADER, deadline, breath)
        end = HEADER + self._length()
        self._read_up_to(end, deadline)
        return end

    def _length(self) -> int:
        """Returns how long the next answer says it is."""
        length: int
        (length,) = struct.unpack_from("<Q", self._ahead)
        if length > self._limit:
            raise Incident("output_flood", f"an answer of {length} bytes; the limit is {self._limit}")
        return length

    def _send(self, pieces: Sequence[bytes], deadline: Deadline) -> None:
        for piece in pieces:
            view = memoryview(piece)
            while view:
                _wait(self._child.stdin, select.POLLOUT, deadline)
                try:
                    view = view[os.write(self._child.stdin, view) :]
                except BrokenPipeError:
                    raise self._child.exit_incident() from None
                except BlockingIOError:
                    continue

    def _read_up_to(self, length: int, deadline: Deadline, breath: float = 0.0) -> None:
        """Reads until there are so many bytes ahead; more where more came within ``breath`` seconds."""
        while len(self._ahead) < length:
            try:
                piece = os.read(self._child.stdout, PIECE)
            except BlockingIOError:
                _wait(self._child.stdout, select.POLLIN, deadline)
                if breath:
                    time.sleep(breath)
                continue
            if not piece:
                raise self._child.exit_incident()
            self._ahead += piece


def _readable(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return any(events & select.POLLIN for _, events in poll.poll(0))


def _wait(descriptor: int, event: int, deadline: Deadline) -> None:
    poll = select.poll()
    poll.register(descriptor, event)
    while (left := deadline.left()) > 0:
        if poll.poll(left * 1000):
            return
    raise Incident("timeout", "no answer in time")


def crash(code: int, said: str = "") -> Incident:
    """Returns how a process ended by its return code: negative is a signal."""
    name = signal.Signals(-code).name if -code in signal.valid_signals() else f"exit code {code}"
    return Incident("crash", f"the process ended ({name}){': ' + said[-300:] if said else ''}")


def text(said: bytes) -> str:
    """Returns what a process said on stderr."""
    return said.decode("utf-8", "replace").strip()


class LocalProcess:
    """A `Child` that this process started, and that leads its own process group."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        group: Callable[[], MemoryGroup | None] = lambda: None,
        group_cpu: Callable[[], float | None] = lambda: None,
    ) -> None:
        """Takes it over.

        Args:
            process: with three pipes.
            group: see `ProcessUsage`.
            group_cpu: see `ProcessUsage`.
        """
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._process = process
        self.usage = ProcessUsage(lambda: list(tree(process.pid)), group, group_cpu)
        self._pipes = (process.stdin, process.stdout, process.stderr)
        self.stdin = process.stdin.fileno()
        self.stdout = process.stdout.fileno()

    def exit_incident(self) -> Incident:
        """See `Child.exit_incident`."""
        stdin, _, stderr = self._pipes
        # Closing its stdin lets an innocent process end by itself and report its code.
        stdin.close()
        try:
            code = self._process.wait(0.05)
        except subprocess.TimeoutExpired:
            self._end_group()
            code = self._process.wait()
        first, started, said = stderr.read().partition(STARTED)
        if not started and (why := text(first)):
            raise SandboxError(f"the sandbox could not be made: {why.splitlines()[0]}")
        # bubblewrap reports the end of its child as 128 + signal.
        return crash(128 - code if code > 128 else code, text(said))

    def limit_incident(self) -> Incident | None:
        """See `Child.limit_incident`."""
        return None

    def close(self, spoiled: bool) -> None:
        """Ends the process group; the PID namespace, where there is one, goes with it."""
        self._end_group()
        for pipe in self._pipes:
            pipe.close()
        self._process.wait()

    def _end_group(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
