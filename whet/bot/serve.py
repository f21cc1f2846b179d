"""``whet bot serve``: the server, and the workers that it keeps alive."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import uvicorn

from whet.bot.queue import Queue
from whet.bot.server import make_app
from whet.bot.settings import Credentials, JobLimits, Places
from whet.core.errors import UsageError
from whet.core.plain import to_plain

TAKEN_OVER = 15.0
"""Seconds that the workers of a server that was killed may take to end."""
LOOK = 0.25
"""Seconds between two looks at the lock of the queue, and at whether a worker ended. A larger value delays a start and
the recovery of a dead worker's job; a smaller one only looks more often."""
RESTART = 1.0
"""Seconds before a worker that ended is started anew."""
GRACE = 10.0
"""Seconds that each worker may take to end once its stdin is closed, at which it exits; then it is killed. A larger
value only lets a worker that hangs delay the end of the server; a smaller one kills workers on a busy machine."""
CONNECTIONS = 512
"""Connections at once; further ones are answered 503. A delivery is answered as soon as it is stored, so few are open
at a time; a larger value takes more file descriptors and memory in a flood, a smaller one refuses deliveries in a
burst."""
log = logging.getLogger("whet.bot")


def serve(host: str, port: int, workers: int, places: Places, limits: JobLimits) -> None:
    """Serves webhooks until it is told to end; what it accepted waits on the disk for the next start.

    Args:
        host: address to listen on.
        port: 0 takes any that is free.
        workers: processes that work on what arrives; 0 accepts only.
        places: where things are.
        limits: of one job.

    Raises:
        UsageError: another server works on this queue, or a credential is missing.
    """
    credentials = Credentials.read()
    queue = Queue(places.folder)
    with _holding(places.folder / "lock") as lock:
        if count := queue.recover():
            log.info("%d jobs that were under way go on", count)
        pool = WorkerPool(queue, lock, places, limits, workers)
        config = uvicorn.Config(
            make_app(queue, credentials.secret),
            host=host,
            port=port,
            log_config=None,
            access_log=False,
            limit_concurrency=CONNECTIONS,
            server_header=False,
            lifespan="off",
        )
        server = Announced(config)
        pool.start()
        try:
            server.run()
        except KeyboardInterrupt:
            log.info("ended; what waits goes on at the next start")
        finally:
            pool.stop()
            queue.close()


class Announced(uvicorn.Server):
    """Says where it listens once it does."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begins to listen."""
        await super().startup(sockets)
        if self.started:
            address, port = self.servers[0].sockets[0].getsockname()[:2]
            print(f"http://{address}:{port}/webhook (Ctrl-C ends it)", flush=True)


@contextmanager
def _holding(path: Path) -> Iterator[int]:
    """Holds the queue: the workers inherit the lock, so that two generations never work on it at once."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        until = time.monotonic() + TAKEN_OVER
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if time.monotonic() > until:
                    raise UsageError(f"another whet bot works on the queue in {path.parent}") from None
                time.sleep(LOOK)
        yield descriptor
    finally:
        os.close(descriptor)


@dataclass(slots=True)
class WorkerPool:
    """Worker processes, started anew when they end; what a dead one held goes back into the queue."""

    queue: Queue
    lock: int
    places: Places
    limits: JobLimits
    size: int
    _workers: list[subprocess.Popen[str]] = field(default_factory=list)
    _ending: threading.Event = field(default_factory=threading.Event)
    _watch: threading.Thread | None = None

    def start(self) -> None:
        """Starts the workers."""
        # One more answers what runs no code: somebody who cancels does not wait for what is to be cancelled.
        self._workers = [self._begin(index) for index in range(self.size + 1 if self.size else 0)]
        self._watch = threading.Thread(target=self._keep, daemon=True)
        self._watch.start()

    def stop(self) -> None:
        """Ends the workers; their jobs go on at the next start."""
        self._ending.set()
        if self._watch is not None:
            self._watch.join()
        for worker in self._workers:
            assert worker.stdin is not None
            worker.stdin.close()
        for worker in self._workers:
            try:
                worker.wait(GRACE)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()
        self.queue.recover()

    def _begin(self, index: int) -> subprocess.Popen[str]:
        worker = subprocess.Popen(
            [sys.executable, "-m", "whet.bot.worker", str(self.lock)],
            stdin=subprocess.PIPE,
            text=True,
            pass_fds=(self.lock,),
            start_new_session=True,
        )
        assert worker.stdin is not None
        told = [to_plain(self.places), to_plain(self.limits), index == self.size]
        worker.stdin.write(json.dumps(told) + "\n")
        worker.stdin.flush()
        return worker

    def _keep(self) -> None:
        while not self._ending.wait(LOOK):
            for index, worker in enumerate(self._workers):
                code = worker.poll()
                if code is not None:
                    back = self.queue.recover(worker.pid)
                    log.error("a worker ended with %d; %d jobs go back", code, back)
                    if self._ending.wait(RESTART):
                        return
                    self._workers[index] = self._begin(index)
