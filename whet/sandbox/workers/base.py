"""The seam between whet and whatever does its work elsewhere: other processes of this host, or other hosts.

Work is idempotent: its result is stored by its content key before anybody is told of it, so that work which is done
twice, after a worker, a host or a driver was lost, comes to one result. Durability is the store's, never the
executor's.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from whet.core.store import Store


@dataclass(frozen=True, slots=True)
class Needs:
    """What work asks of the host that does it.

    Attributes:
        labels: names and values that the host must have; see `whet.sandbox.workers.labels`.
        timing: whether it measures: then nothing else of ours is measured on that host's core, or GPU, meanwhile.
        host: the one host that may do it, for what continues a measurement begun there; empty for any.
    """

    labels: Mapping[str, str] = field(default_factory=dict)
    timing: bool = False
    host: str = ""


@dataclass(frozen=True, slots=True)
class Work:
    """A piece of work.

    Attributes:
        key: SHA-256, in hex, of all that the result follows from; equal keys have one result in the store.
        call: ``package.module:function`` of whet; see `Function`.
        argument: plain JSON data; longer texts by their hash in the store.
        needs: what it asks of the host.
    """

    key: str
    call: str
    argument: Mapping[str, Any]
    needs: Needs = Needs()


class WorkerContext(Protocol):
    """What a function that does work finds on its worker; it lasts as long as the worker does."""

    @property
    def store(self) -> Store:
        """The store that the driver uses too."""

    @property
    def host(self) -> str:
        """The name of the worker's host."""

    @property
    def kept(self) -> dict[str, Any]:
        """What functions keep between pieces of work, such as an open ladder; whatever has a ``close`` is closed."""


class Function(Protocol):
    """What `Work.call` names. Its exceptions of ours (`WhetError`) are told to the driver, others are faults of it."""

    def __call__(self, bench: WorkerContext, argument: Mapping[str, Any]) -> Any:
        """Does the work and returns plain JSON data."""


class End(StrEnum):
    """How work came to its end.

    ``failed``: it raised. ``lost``: workers that did it died, each time. ``unplaced``: no host has what it needs.
    """

    DONE = "done"
    FAILED = "failed"
    LOST = "lost"
    UNPLACED = "unplaced"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class WorkResult:
    """What came of a piece of work.

    Attributes:
        ticket: that `Executor.submit` gave.
        end: how it ended.
        result: what the function returned, or the store held already.
        error: what went wrong, in one line.
        raised: for what failed: the class and the arguments of the exception, as `whet.sandbox.workers.errors` has it.
        host: that did it; empty where none did.
        seconds: that it took there.
        waited: seconds from the submission until a worker began.
        attempts: workers that began it.
    """

    ticket: int
    end: End
    result: Any = None
    error: str = ""
    raised: Mapping[str, Any] | None = None
    host: str = ""
    seconds: float = 0.0
    waited: float = 0.0
    attempts: int = 1


class HostStatus(StrEnum):
    """Whether a host gets work. ``quarantined``: a health probe failed there."""

    READY = "ready"
    QUARANTINED = "quarantined"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Host:
    """A host as its driver sees it.

    Attributes:
        name: of the host, unlike all others of the cluster.
        labels: such as architecture, processor, GPU model, sandbox backend.
        standing: whether it gets work.
        why: it gets none; empty where it does.
        slots: pieces of work that it does at once.
        busy: of them.
        queued: pieces of work that only it may do and that wait.
        done: pieces of work that came to their end there.
        failures: by cause: ``worker died``, ``host lost``, or the class of an exception.
        worked: seconds of work done there, over all slots.
        since: seconds that it has been there.
    """

    name: str
    labels: Mapping[str, str]
    standing: HostStatus
    why: str
    slots: int
    busy: int
    queued: int
    done: int
    failures: Mapping[str, int]
    worked: float
    since: float


class Executor(Protocol):
    """Does work, somewhere. Safe for several threads of one driver."""

    def submit(self, work: Work) -> int:
        """Takes work and returns its ticket, at once."""

    def as_completed(self, tickets: Collection[int], seconds: float = math.inf) -> Iterator[WorkResult]:
        """Yields what came of work, as it comes; ends after the last, or when the time is up.

        A ticket is forgotten once its outcome was given; each is given to one caller.

        Raises:
            SandboxError: the cluster is gone; whatever was stored is there for the next driver.
        """

    def cancel(self, tickets: Collection[int]) -> None:
        """Ends work, running or not; nothing of it is left on any host. Its outcome is ``cancelled``."""

    def hosts(self) -> tuple[Host, ...]:
        """Returns all hosts seen so far, those that are lost included."""

    @property
    def slots(self) -> int:
        """Pieces of work that can be done at once, over all hosts that get work."""

    @property
    def waiting(self) -> int:
        """Pieces of work that no worker has begun."""

    def close(self) -> None:
        """Ends all work and all workers of this driver."""
