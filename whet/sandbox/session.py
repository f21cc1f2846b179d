"""Talks with a process in a sandbox: framed messages, a deadline for each, and an end that is certain."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import struct
import subprocess
import time
from typing import Any

from whet.core.errors import SandboxError
from whet.sandbox.inside.codec import CodecError, encode
from whet.sandbox.inside.decode import decode
from whet.sandbox.protocol import Incident

HEADER = 8
SLACK = 1 << 20
GRACE_SECONDS = 5.0


class ProcessSession:
    """A `Session` over the pipes of a child process that leads its own process group."""

    def __init__(self, process: subprocess.Popen[bytes], tree: str, output_limit: int) -> None:
        self.tree = tree
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._stdin = process.stdin.fileno()
        self._stdout = process.stdout.fileno()
        self._limit = output_limit + SLACK
        self._closed = False
        os.set_blocking(self._stdin, False)
        os.set_blocking(self._stdout, False)

    def ask(self, *message: Any, seconds: float) -> tuple[tuple[Any, ...], float]:
        """See `whet.sandbox.protocol.Session.ask`."""
        data = encode(message)
        start = time.perf_counter()
        deadline = start + seconds
        try:
            self._send(struct.pack("<Q", len(data)) + data, deadline)
            (length,) = struct.unpack("<Q", self._receive(HEADER, deadline))
            if length > self._limit:
                raise Incident("output_flood", f"an answer of {length} bytes; the limit is {self._limit}")
            answer = self._receive(length, deadline)
            spent = time.perf_counter() - start
            value = decode(answer)
            if not isinstance(value, tuple) or not value or not isinstance(value[0], str):
                raise Incident("protocol", "the process sent no message")
        except CodecError as error:
            self.close()
            raise Incident("protocol", f"the process sent no message: {error}") from None
        except Incident:
            self.close()
            raise
        return value, spent

    def tell(self, *message: Any) -> None:
        """Sends a message that has no answer."""
        data = encode(message)
        self._send(struct.pack("<Q", len(data)) + data, time.perf_counter() + GRACE_SECONDS)

    def _send(self, data: bytes, deadline: float) -> None:
        view = memoryview(data)
        while view:
            self._wait(self._stdin, select.POLLOUT, deadline)
            try:
                view = view[os.write(self._stdin, view) :]
            except (BrokenPipeError, BlockingIOError) as error:
                if isinstance(error, BrokenPipeError):
                    raise self._gone() from None

    def _receive(self, length: int, deadline: float) -> bytes:
        pieces = []
        while length:
            self._wait(self._stdout, select.POLLIN, deadline)
            piece = os.read(self._stdout, min(length, 1 << 20))
            if not piece:
                raise self._gone()
            pieces.append(piece)
            length -= len(piece)
        return b"".join(pieces)

    def _wait(self, descriptor: int, event: int, deadline: float) -> None:
        poll = select.poll()
        poll.register(descriptor, event)
        left = deadline - time.perf_counter()
        if left <= 0 or not poll.poll(left * 1000):
            raise Incident("timeout", "no answer in time")

    def _gone(self) -> Incident:
        self._kill()
        code = self._process.wait()
        said = self._process.stderr.read().decode("utf-8", "replace").strip() if self._process.stderr else ""
        if said.startswith(("bwrap:", "setpriv:", "unshare:", "mount:", "sh:")):
            raise SandboxError(f"the sandbox could not be made: {said.splitlines()[0]}")
        # bubblewrap reports the end of its child as 128 + signal.
        number = -code if code < 0 else code - 128 if code > 128 else 0
        name = signal.Signals(number).name if number in signal.valid_signals() else f"exit code {code}"
        return Incident("crash", f"the process ended ({name}){': ' + said[-300:] if said else ''}")

    def _kill(self) -> None:
        if self._process.poll() is None:
            # Closing its stdin lets an innocent process end by itself and report its code.
            if self._process.stdin and not self._process.stdin.closed:
                self._process.stdin.close()
            try:
                self._process.wait(0.05)
            except subprocess.TimeoutExpired:
                self._end_group()

    def _end_group(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Ends the process group; the PID namespace, where there is one, goes with it."""
        if self._closed:
            return
        self._closed = True
        self._end_group()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None and not pipe.closed:
                pipe.close()
        self._process.wait()
