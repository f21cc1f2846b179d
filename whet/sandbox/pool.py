"""Holders that stay warm, each with one job at a time; one whose job went wrong is thrown away."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar, cast

from whet.core.errors import SandboxError
from whet.sandbox.held import GONE, HeldProcess, Holder, Unfit
from whet.sandbox.protocol import Job

MOST_IDLE = 8

Kept = TypeVar("Kept", bound=Holder)


class Pool(Generic[Kept]):
    """Gives each job a holder of its shape, an idle one where there is one. Safe for several threads."""

    def __init__(
        self, shape_of: Callable[[Job], Hashable], make: Callable[[Job], Kept], remove: Callable[[Kept], object]
    ) -> None:
        """Starts empty.

        Args:
            shape_of: what a holder must be like for a job.
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

    def start(self, job: Job) -> HeldProcess:
        """Starts a job.

        Raises:
            SandboxError: a new holder does not take it.
            Unfit: no holder of its shape can be forked from.
        """
        shape = self._shape_of(job)
        if shape in self._unfit:
            raise Unfit

        def release(holder: Holder, spoiled: bool) -> None:
            self._released(shape, cast(Kept, holder), spoiled)

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
        """Ends all holders."""
        for holder in self._alive.copy():
            self._drop(holder)

    @property
    def alive(self) -> frozenset[Kept]:
        """All holders that there are now."""
        with self._lock:
            return frozenset(self._alive)

    def _take(self, shape: Hashable) -> Kept | None:
        with self._lock:
            found = next((one for one in reversed(self._idle) if one[0] == shape), None)
            if found is None:
                return None
            self._idle.remove(found)
            return found[1]

    def _released(self, shape: Hashable, holder: Kept, spoiled: bool) -> None:
        if spoiled:
            self._drop(holder)
            return
        with self._lock:
            self._idle.append((shape, holder))
            surplus = self._idle.pop(0)[1] if len(self._idle) > MOST_IDLE else None
        if surplus is not None:
            self._drop(surplus)

    def _drop(self, holder: Kept) -> None:
        """Ends a holder, once."""
        with self._lock:
            known = holder in self._alive
            self._alive.discard(holder)
        if known:
            self._remove(holder)
