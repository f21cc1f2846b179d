"""Holders that stay warm, each with one job at a time; one whose job went wrong is thrown away."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar, cast

from whet.core.errors import SandboxError
from whet.sandbox.job_server import GONE, JobServer, ServedProcess, Unfit
from whet.sandbox.protocol import Job

MOST_IDLE = 8
"""Idle servers that are kept, of all shapes together. More hold more memory; with fewer, servers are made anew more
often, and a container takes a quarter of a second."""

Kept = TypeVar("Kept", bound=JobServer)


class Pool(Generic[Kept]):
    """Gives each job a server of its shape, an idle one where there is one. Safe for several threads."""

    def __init__(
        self, shape_of: Callable[[Job], Hashable], make: Callable[[Job], Kept], remove: Callable[[Kept], object]
    ) -> None:
        """Starts empty.

        Args:
            shape_of: what a server must be like for a job.
            make: starts one.
            remove: ends one.
        """
        self._shape_of = shape_of
        self._make = make
        self._remove = remove
        self._lock = threading.Lock()
        self._idle: list[tuple[Hashable, Kept]] = []  # the one that waits longest comes first
        self._alive: set[Kept] = set()
        self._unfit: set[Hashable] = set()

    def start(self, job: Job) -> ServedProcess:
        """Starts a job.

        Raises:
            SandboxError: a new server does not take it.
            Unfit: no server of its shape can be forked from.
        """
        shape = self._shape_of(job)
        if shape in self._unfit:
            raise Unfit

        def release(server: JobServer, spoiled: bool) -> None:
            self._released(shape, cast(Kept, server), spoiled)

        while (idle := self._take(shape)) is not None:
            try:
                return idle.start(job, release)
            except GONE:  # somebody removed it meanwhile
                self._drop(idle)
        try:
            made = self._make(job)
        except Unfit:
            self._unfit.add(shape)
            raise
        with self._lock:
            self._alive.add(made)
        try:
            return made.start(job, release)
        except GONE as error:
            self._drop(made)
            raise SandboxError(f"a sandbox does not take a job: {error}") from None

    def close(self) -> None:
        """Ends all servers."""
        for server in self._alive.copy():
            self._drop(server)

    @property
    def alive(self) -> frozenset[Kept]:
        """All servers that there are now."""
        with self._lock:
            return frozenset(self._alive)

    def _take(self, shape: Hashable) -> Kept | None:
        with self._lock:
            found = next((one for one in reversed(self._idle) if one[0] == shape), None)
            if found is None:
                return None
            self._idle.remove(found)
            return found[1]

    def _released(self, shape: Hashable, server: Kept, spoiled: bool) -> None:
        if spoiled:
            self._drop(server)
            return
        with self._lock:
            self._idle.append((shape, server))
            surplus = self._idle.pop(0)[1] if len(self._idle) > MOST_IDLE else None
        if surplus is not None:
            self._drop(surplus)

    def _drop(self, server: Kept) -> None:
        """Ends a server, once."""
        with self._lock:
            known = server in self._alive
            self._alive.discard(server)
        if known:
            self._remove(server)
