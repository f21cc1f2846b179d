"""What a worker does with a piece of work."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from whet.core.store import Store
from whet.sandbox.workers.base import Function
from whet.sandbox.workers.errors import ours, told

BEGUN = True
"""What a worker says before it calls the function of a piece of work: from then on it may die of that work."""


@dataclass(frozen=True, slots=True)
class WorkOrder:
    """A piece of work as a worker gets it; see `whet.sandbox.workers.base.Work`.

    Attributes:
        ticket: by which it can be cancelled.
        key: of its result in the store; empty for what is never stored.
        call: the function.
        argument: of it.
    """

    ticket: int
    key: str
    call: str
    argument: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class WorkReply:
    """What a worker says of a piece of work.

    Attributes:
        result: that is in the store.
        raised: what it raised instead; see `whet.sandbox.workers.errors.told`.
        seconds: that it took.
    """

    result: Any = None
    raised: Mapping[str, Any] | None = None
    seconds: float = 0.0


@dataclass(slots=True)
class OwnBench:
    """The `Bench` of a worker; the store is opened with the first work, so that what is wrong with it is told."""

    host: str
    kept: dict[str, Any] = field(default_factory=dict)
    _store: Store | None = None

    @property
    def store(self) -> Store:
        """See `Bench.store`."""
        if self._store is None:
            self._store = Store()
        return self._store

    def close(self) -> None:
        """Closes what functions kept, and the store."""
        for thing in reversed(self.kept.values()):
            if close := getattr(thing, "close", None):
                with suppress(Exception):  # the worker ends; what is left then ends with it
                    close()
        if self._store is not None:
            self._store.close()


def serve(bench: OwnBench, order: WorkOrder, begin: Callable[[], None]) -> WorkReply:
    """Does a piece of work, unless its result is in the store; the result is stored before it is told.

    Args:
        bench: of this worker.
        order: the work.
        begin: called right before the work's function is.
    """
    begun = time.monotonic()
    try:
        result = bench.store.result(order.key) if order.key else None
        if result is None:
            function: Function = ours(order.call)
            begin()
            result = function(bench, order.argument)
            if order.key:
                result = bench.store.keep_result(order.key, result)
    except Exception as error:
        return WorkReply(raised=told(error), seconds=time.monotonic() - begun)
    return WorkReply(result, seconds=time.monotonic() - begun)
