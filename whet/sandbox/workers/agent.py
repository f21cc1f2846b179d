"""What runs on each host of a cluster for one driver: it has the workers there, and ends with its driver."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import threading
import time
from typing import Any

from whet.core.about import __version__
from whet.core.errors import WhetError
from whet.core.store import Store
from whet.sandbox.workers.labels import labels_here
from whet.sandbox.workers.process import Worker, WorkerDiedError
from whet.sandbox.workers.serve import WorkOrder, WorkReply

LEASE_SECONDS = 15.0
"""Without a word from the driver, after which an agent ends all work and itself."""


def versions() -> str:
    """Returns what driver and workers must have in common."""
    python = ".".join(platform.python_version_tuple()[:2])
    return f"whet {__version__} on Python {python} with Ray {importlib.metadata.version('ray')}"


class Agent:
    """Becomes an actor; each call of `do` has a thread of its own there."""

    def __init__(self, name: str, slots: int) -> None:
        """Takes its place; workers are started when they are needed.

        Args:
            name: of the host, as the driver calls it.
            slots: of it.
        """
        self._workers = [Worker(name) for _ in range(slots)]
        self._heard = time.monotonic()
        threading.Thread(target=self._watch, daemon=True).start()

    def hello(self, key: str, token: str) -> dict[str, Any]:
        """Says who it is: plain data, for a driver that may be of another version.

        Args:
            key: of a result in the driver's store.
            token: that result.
        """
        try:
            store = Store()
            same, why = store.result(key) == token, ""
            store.close()
        except WhetError as error:
            same, why = False, str(error)
        return {"versions": versions(), "labels": labels_here(), "same_store": same, "why": why}

    def beat(self) -> None:
        """Is told that the driver is there."""
        self._heard = time.monotonic()

    def do(self, seat: int, order: WorkOrder) -> tuple[WorkReply | None, bool]:
        """Has a piece of work done; None where its worker died, and whether it may have died of the work."""
        try:
            return self._workers[seat].do(order), True
        except WorkerDiedError as error:
            return None, error.begun

    def end(self, seat: int, ticket: int) -> None:
        """Ends a piece of work; `do` says when nothing is left of it."""
        self._workers[seat].end(ticket)

    def close(self) -> None:
        """Ends all workers."""
        closing = [threading.Thread(target=worker.close) for worker in self._workers]
        for thread in closing:
            thread.start()
        for thread in closing:
            thread.join()

    def _watch(self) -> None:
        while time.monotonic() - self._heard < LEASE_SECONDS:
            time.sleep(1.0)
        os._exit(0)  # the supervisors of the workers notice
