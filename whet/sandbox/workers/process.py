"""A worker as its host's side sees it: a process that is started when it is needed, and again after it ended."""

from __future__ import annotations

import math
import os
import select
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from multiprocessing.connection import Connection

from whet.core.about import ROOT
from whet.core.errors import SandboxError
from whet.sandbox.workers.errors import told
from whet.sandbox.workers.serve import WorkOrder, WorkReply

GRACE_SECONDS = 5.0
"""In which an idle worker closes what it kept."""


class WorkerDiedError(SandboxError):
    """The process that was to do a piece of work ended, and all that it had started.

    Attributes:
        begun: whether it may have died of the work.
    """

    def __init__(self, begun: bool) -> None:
        super().__init__("the worker died")
        self.begun = begun


class Worker:
    """Does one piece of work at a time."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._changed = threading.Condition()
        self._process: _Process | None = None
        self._doing = 0
        self._ended = 0
        self._closed = False

    def do(self, order: WorkOrder) -> WorkReply:
        """Has a piece of work done.

        Raises:
            WorkerDiedError: it was ended, or the worker ended by itself; nothing of it is left.
            RuntimeError: it does something else already.
        """
        with self._changed:
            if self._doing:
                # Answers come in the order in which they are asked for: two who wait could be told each other's.
                raise RuntimeError(f"the worker does {self._doing}, and was asked for {order.ticket} beside it")
            if self._closed or self._ended == order.ticket:
                raise WorkerDiedError(begun=False)
            try:
                process = self._process = self._running()
            except OSError as error:
                return WorkReply(raised=told(SandboxError(f"no worker could be started on {self._host}: {error}")))
            self._doing = order.ticket
        died = False
        try:
            return process.ask(order)
        except (EOFError, OSError):
            died = True
            process.end()
            raise WorkerDiedError(process.begun) from None
        finally:
            with self._changed:
                self._doing = 0
                if died:
                    self._process = None
                    process.release()
                self._changed.notify_all()

    def end(self, ticket: int) -> None:
        """Ends a piece of work, whether it has begun or not; `do` says when nothing is left of it."""
        with self._changed:
            self._ended = ticket
            if self._doing == ticket and self._process is not None:
                self._process.hang_up()

    def close(self) -> None:
        """Ends the process; one that is idle closes what it kept."""
        with self._changed:
            self._closed = True
            if self._doing and self._process is not None:
                self._process.hang_up()
            # A descriptor that is closed while `do` reads from it could be another connection's by the next read.
            self._changed.wait_for(lambda: not self._doing)
            process, self._process = self._process, None
        if process is not None:
            process.dismiss()
            process.release()

    def _running(self) -> _Process:
        """Returns the process, or another one where it has ended; the lock is held."""
        if self._process is None:
            return _Process(self._host)
        if self._process.alive:
            return self._process
        self._process.release()
        self._process = None
        return _Process(self._host)


class _Process:
    """One process with its supervisor; see `whet.sandbox.workers.child`.

    Attributes:
        begun: whether it has begun the work that it was asked for last.
    """

    def __init__(self, host: str) -> None:
        self._socket, theirs = socket.socketpair()
        self._connection = Connection(os.dup(self._socket.fileno()))
        self._ready = False
        self.begun = False
        path = os.pathsep.join(filter(None, (ROOT, os.environ.get("PYTHONPATH"))))
        with theirs:
            subprocess.run(
                [sys.executable, "-m", "whet.sandbox.workers.child", str(theirs.fileno()), host],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": path},
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
                check=False,
            )

    @property
    def alive(self) -> bool:
        poll = select.poll()
        poll.register(self._socket, select.POLLRDHUP)
        return not poll.poll(0)

    def ask(self, order: WorkOrder) -> WorkReply:
        self.begun = False
        if not self._ready:
            self._ready = self._connection.recv()
        self._connection.send(order)
        while not isinstance(answer := self._connection.recv(), WorkReply):
            self.begun = True
        return answer

    def hang_up(self) -> None:
        """Has the supervisor end everything; whoever waits for an answer meets the end of the socket after that."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def end(self) -> None:
        """Ends everything, and waits until nothing is left."""
        self.hang_up()
        self._left(math.inf)

    def dismiss(self) -> None:
        """Ends everything; an idle worker closes what it kept."""
        with suppress(OSError):
            self._connection.send(None)
        self._left(GRACE_SECONDS)
        self.end()

    def release(self) -> None:
        """Closes the descriptors; only for who has the process to himself."""
        self._socket.close()
        self._connection.close()

    def _left(self, seconds: float) -> None:
        """Waits for the end of the socket."""
        poll = select.poll()
        with suppress(OSError):
            poll.register(self._socket, select.POLLIN)
            while poll.poll(None if seconds == math.inf else seconds * 1000) and self._socket.recv(1 << 16):
                pass
