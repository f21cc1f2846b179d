"""Who judges the candidates of a run: a ladder in this process, or one on each worker of an executor."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

from whet.core.errors import UsageError
from whet.core.events import Event, EventKind, Listener, null_listener
from whet.core.options import Options
from whet.core.plain import to_plain
from whet.core.store import Store, default_home
from whet.core.task import Task
from whet.evaluators.protocol import Evaluator, Verifier
from whet.sandbox.workers.base import Executor, HostStatus

TIMED_ON, HOSTS = "timed_on", "hosts"
"""Facts of a run: the class of hosts that it is timed on, and what its hosts had done when it ended."""
TELL_SECONDS = 0.5
"""Seconds between two events on how the hosts are. A smaller value asks the executor and redraws the display more
often; a larger one shows a host that is lost, or busy, later."""


class Judges(Protocol):
    """Opens what judges candidates."""

    def opened(
        self,
        task: Task,
        options: Options,
        seed: int,
        listener: Listener = null_listener,
        *,
        run: str = "",
        explain: bool = True,
    ) -> Verifier:
        """Returns what judges the candidates of a task; see `whet.evaluators.ladder.open_ladder`.

        Args:
            task: whose candidates are to be judged.
            options: as the user gave them.
            seed: of all inputs.
            listener: hears what is done about the baseline.
            run: that goes on; empty for one that is yet to begin.
            explain: whether the smallest input that shows a fault is looked for.
        """

    def checks(self, workers: int) -> int:
        """Returns how many candidates are checked side by side, where the options ask for so many."""

    @property
    def looks(self) -> int:
        """How many are measured side by side."""

    def begun(self, run: str, evaluator: Evaluator) -> None:
        """Records what a run that goes on has to know of where it is judged."""

    def ended(self, run: str) -> None:
        """Records what was done where, by the end of a run."""


class Here:
    """Ladders in this process.

    Args:
        store: holds what earlier runs found of a baseline; None has it found anew.
    """

    looks = 1

    def __init__(self, store: Store | None = None) -> None:
        self._store = store

    def opened(
        self,
        task: Task,
        options: Options,
        seed: int,
        listener: Listener = null_listener,
        *,
        run: str = "",
        explain: bool = True,
    ) -> Verifier:
        """See `Judges.opened`."""
        from whet.evaluators.ladder import open_ladder  # takes longer than all that comes before

        return open_ladder(task, options, seed, listener, explain, store=self._store)

    def checks(self, workers: int) -> int:
        """See `Judges.checks`."""
        return workers

    def begun(self, run: str, evaluator: Evaluator) -> None:
        """See `Judges.begun`."""

    def ended(self, run: str) -> None:
        """See `Judges.ended`."""


class Elsewhere:
    """Ladders on the workers of an executor, which use the same store.

    Args:
        store: it.
        executor: has the workers.
        kind: the class of hosts that new runs are timed on; None chooses one for each.
    """

    def __init__(self, store: Store, executor: Executor, kind: Mapping[str, str] | None = None) -> None:
        self._store = store
        self._executor = executor
        self._kind = kind

    def opened(
        self,
        task: Task,
        options: Options,
        seed: int,
        listener: Listener = null_listener,
        *,
        run: str = "",
        explain: bool = True,
    ) -> Verifier:
        """See `Judges.opened`."""
        from whet.evaluators.remote.remote import open_remote

        kind = (self._store.fact(run, TIMED_ON) if run else None) or self._kind
        return open_remote(task, options, seed, self._store, self._executor, listener, explain=explain, kind=kind)

    def checks(self, workers: int) -> int:
        """See `Judges.checks`."""
        return max(1, self._executor.slots)

    @property
    def looks(self) -> int:
        """See `Judges.looks`: no host measures two things at once."""
        return max(1, sum(host.standing is HostStatus.READY for host in self._executor.hosts()))

    def begun(self, run: str, evaluator: Evaluator) -> None:
        """See `Judges.begun`."""
        from whet.evaluators.remote.remote import Remote

        if isinstance(evaluator, Remote):
            self._store.set_fact(run, TIMED_ON, evaluator.kind)

    def ended(self, run: str) -> None:
        """See `Judges.ended`."""
        self._store.set_fact(run, HOSTS, [to_plain(host) for host in self._executor.hosts()])


@contextmanager
def judges_of(cluster: str, store: Store, listener: Listener, executor: Executor | None = None) -> Iterator[Judges]:
    """Gives what opens the evaluators of a run; all that it started is ended in the end.

    Args:
        cluster: who evaluates, as after ``--workers``; empty for this process.
        store: that the workers use too.
        listener: hears what the hosts do.
        executor: that somebody else opened for it, and closes.

    Raises:
        UsageError: there is no such executor, or its workers would use another store.
    """
    if executor is not None:
        yield Elsewhere(store, executor)
    elif not cluster:
        yield Here(store)
    else:
        with workers(cluster, store) as opened, telling(opened, listener):
            yield Elsewhere(store, opened)


@contextmanager
def workers(cluster: str, store: Store) -> Iterator[Executor]:
    """Gives an executor whose workers use a store.

    Raises:
        UsageError: there is no such executor, or its workers would use another store.
    """
    from whet.sandbox.workers.registry import open_executor

    if store.home != default_home().resolve():
        raise UsageError(f"workers use the state directory that WHET_HOME names, not {store.home}")
    executor = open_executor(cluster)
    try:
        yield executor
    finally:
        executor.close()


@contextmanager
def telling(executor: Executor, listener: Listener) -> Iterator[None]:
    """Tells a listener again and again how the hosts are."""
    over = threading.Event()

    def tell() -> None:
        while not over.wait(TELL_SECONDS):
            listener(Event(EventKind.HOSTS, "hosts", {"hosts": executor.hosts(), "waiting": executor.waiting}))

    thread = threading.Thread(target=tell, name="whet-hosts", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
