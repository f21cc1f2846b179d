"""Where synthetic work is done: by local processes, or by a cluster on this machine."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from whet.core.errors import WhetError
from whet.sandbox.workers.base import End, Executor, Work, WorkResult
from whet.sandbox.workers.cluster import Cluster
from whet.sandbox.workers.registry import open_executor

LOCAL, RAY = "local processes", "Ray"
KINDS = (LOCAL, RAY)


@contextmanager
def slots_on(kind: str, slots: int, home: Path) -> Iterator[Executor]:
    """Opens an executor of local processes, or with a cluster of its own, with so many slots."""
    # By which Ray is told how many processors it may believe to have.
    believed = surrounded(RAY_OVERRIDE_RESOURCES=json.dumps({"CPU": slots}))
    with believed, opened(f"local:{slots}" if kind == LOCAL else "ray", home) as executor:
        yield executor


@contextmanager
def opened(place: str, home: Path) -> Iterator[Executor]:
    """Opens an executor whose workers find a store of their own.

    Args:
        place: as ``--workers`` has it, or a cluster's address within it.
        home: the state directory.
    """
    with surrounded(WHET_HOME=str(home)), closing(_executor(place)) as executor:
        yield executor


def _executor(place: str) -> Executor:
    return Cluster(place) if place[0].isdecimal() else open_executor(place)


@contextmanager
def surrounded(**environment: str) -> Iterator[None]:
    """Sets variables of the environment, for processes that are started meanwhile too."""
    before = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def done(executor: Executor, work: Iterable[Work]) -> Iterator[WorkResult]:
    """Has work done, and yields what came of it; see `finished`."""
    return finished(executor, [executor.submit(one) for one in work])


def finished(executor: Executor, tickets: Collection[int]) -> Iterator[WorkResult]:
    """Yields what came of work that is under way.

    Raises:
        WhetError: it was not done.
    """
    for outcome in executor.as_completed(tickets):
        if outcome.end is not End.DONE:
            raise WhetError(f"synthetic work was {outcome.end}: {outcome.error}")
        yield outcome
