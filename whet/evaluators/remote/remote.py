"""An evaluator whose steps are work for an executor."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from whet.core.candidate import Candidate
from whet.core.circumstances import Circumstances
from whet.core.errors import SandboxError
from whet.core.events import Event, EventKind, Listener, null_listener
from whet.core.evidence import Provenance
from whet.core.helpers import Helpers
from whet.core.options import Options
from whet.core.plain import from_plain, to_plain
from whet.core.profile import Profile
from whet.core.store import Store
from whet.core.task import Task
from whet.core.verdict import Verdict
from whet.evaluators.remote import functions
from whet.evaluators.remote.opening import Opening, key_of, task_of
from whet.evaluators.remote.placing import anywhere, chosen, described, told
from whet.sandbox.workers.base import End, Executor, HostStatus, Needs, Work, WorkResult
from whet.sandbox.workers.errors import error_of

ENDED = "the run was ended while a candidate was under way"
WAKE_SECONDS = 0.5
"""An interrupt that another thread was given reaches the waiting one only when that wakes."""


def open_remote(
    task: Task,
    options: Options,
    seed: int,
    store: Store,
    executor: Executor,
    listener: Listener = null_listener,
    *,
    explain: bool = True,
    kind: Mapping[str, str] | None = None,
) -> Remote:
    """Returns the evaluator of a task, which a worker has made ready; see `whet.evaluators.ladder.open_ladder`.

    Args:
        task: whose candidates are to be judged.
        options: as the user gave them.
        seed: of all inputs; no candidate ever sees it.
        store: that the workers use too.
        executor: does the work; it stays open.
        listener: hears what is done about the baseline.
        explain: whether the smallest input that shows a fault is looked for.
        kind: the class of hosts that the run was timed on so far; None chooses one.

    Raises:
        UsageError: no host suits it; or the sandbox, the interpreter, the workload or an option cannot be used there.
        SandboxError: the work could not be done.
    """
    kind = dict(kind) if kind is not None else chosen(executor.hosts(), task, options)
    opening = Opening.of(store, task, options, seed, explain)
    asking = _Asking(executor, store, opening, kind)
    try:
        found = asking.found("opened", {}, Needs(kind, timing=True))
    finally:
        asking.close()
    _tell(listener, found["told"])
    opening = replace(opening, task=found["task"])
    return Remote(task_of(store, opening.task), _Asking(executor, store, opening, kind), listener)


class Remote:
    """Judges the candidates of one task on other processes and hosts; see `whet.evaluators.protocol.Verifier`.

    Attributes:
        task: it, as a worker has made it ready.
        kind: the class of hosts on which all timing is done.
    """

    def __init__(self, task: Task, asking: _Asking, listener: Listener) -> None:
        self.task = task
        self.kind = asking.kind
        self._asking = asking
        self._listener = listener
        self._cheap = Needs(anywhere(self.kind, task))
        self._near = Needs(self.kind)
        self._timed = Needs(self.kind, timing=True)
        self._validated: Mapping[str, Any] | None = None
        self._announced: dict[str, tuple[str, ...]] = {}
        self._lock = threading.Lock()

    def validate(self) -> None:
        """See `whet.evaluators.protocol.Evaluator.validate`."""
        self._validated = self._asking.found("validate", {}, self._timed)
        _tell(self._listener, self._validated["told"])

    @property
    def _standing(self) -> Mapping[str, Any]:
        assert self._validated is not None, "validate() comes first"
        return self._validated

    def provenance(self, keep: Callable[[str], str]) -> Provenance:
        """See `whet.evaluators.protocol.Evaluator.provenance`; its texts were stored by the worker."""
        return from_plain(Provenance, self._standing["provenance"])

    def circumstances(self) -> Circumstances:
        """See `whet.evaluators.protocol.Evaluator.circumstances`."""
        return from_plain(Circumstances, self._standing["circumstances"])

    def profile(self, candidate: Candidate) -> Profile:
        """See `whet.evaluators.protocol.Evaluator.profile`."""
        return from_plain(Profile, self._asked("profile", candidate, {}, self._near))

    def announce(self, candidates: Sequence[Candidate]) -> None:
        """See `whet.evaluators.protocol.Evaluator.announce`."""
        for candidate in candidates:
            self._asking.store.put(candidate.source)
        batch = tuple(sorted(candidate.id for candidate in candidates))
        with self._lock:
            self._announced = dict.fromkeys(batch, batch)

    def check(self, candidate: Candidate) -> Verdict:
        """See `whet.evaluators.protocol.Evaluator.check`."""
        with self._lock:
            batch = self._announced.pop(candidate.id, (candidate.id,))
        return from_plain(Verdict, self._asked("check", candidate, {"batch": batch}, self._cheap))

    def helpers(self, candidate: Candidate, verdict: Verdict) -> Helpers:
        """See `whet.evaluators.protocol.Evaluator.helpers`."""
        return from_plain(Helpers, self._asked("helpers", candidate, self._after(verdict), self._cheap))

    def measure(self, candidate: Candidate, verdict: Verdict, *, looks: int | None = None) -> Verdict:
        """See `whet.evaluators.protocol.Evaluator.measure`.

        A measurement that was begun goes on where that was, or begins afresh where that host is gone.
        """
        more = {"looks": looks, "alone": False}
        if verdict.rung("measure") is not None:
            host = functions.begun_on(self._asking.store, functions.text_of(to_plain(verdict)))
            if self._asking.has(host):
                try:
                    return self._measured(candidate, verdict, more, replace(self._timed, host=host))
                except _Unplaced:
                    pass
            verdict = verdict.until("measure")
        return self._measured(candidate, verdict, more, self._timed)

    def screen(self, candidate: Candidate) -> Verdict:
        """See `whet.evaluators.protocol.Verifier.screen`; a worker screens when it checks."""
        return Verdict(candidate.id, ())

    def measure_alone(self, candidate: Candidate, verdict: Verdict) -> Verdict:
        """See `whet.evaluators.protocol.Verifier.measure_alone`."""
        return self._measured(candidate, verdict, {"looks": None, "alone": True}, self._timed)

    def _measured(self, candidate: Candidate, verdict: Verdict, more: Mapping[str, Any], needs: Needs) -> Verdict:
        return from_plain(Verdict, self._asked("measure", candidate, {**self._after(verdict), **more}, needs))

    def confirm(self, candidate: Candidate, verdict: Verdict) -> Verdict:
        """See `whet.evaluators.protocol.Evaluator.confirm`."""
        return from_plain(Verdict, self._asked("confirm", candidate, self._after(verdict), self._timed))

    def close(self) -> None:
        """Ends what is under way; the workers keep their ladders until others take their place."""
        self._asking.close()

    def _after(self, verdict: Verdict) -> dict[str, str]:
        return {"verdict": self._asking.store.put(functions.text_of(to_plain(verdict)))}

    def _asked(self, step: str, candidate: Candidate, more: Mapping[str, Any], needs: Needs) -> Any:
        self._asking.store.put(candidate.source)
        return self._asking.found(step, {"candidate": candidate.id, **more}, needs)


class _Unplaced(SandboxError):
    """No host that there is may do the work."""


class _Asking:
    """Has work done that the store has no result of. Safe for several threads."""

    def __init__(self, executor: Executor, store: Store, opening: Opening, kind: Mapping[str, str]) -> None:
        self.store = store
        self.kind = kind
        self._executor = executor
        self._opening = opening
        self._tickets: set[int] = set()
        self._closed = False
        self._lock = threading.Lock()

    def has(self, host: str) -> bool:
        """Whether a host gets work."""
        return any(one.name == host and one.standing is HostStatus.READY for one in self._executor.hosts())

    def found(self, step: str, follows: Mapping[str, Any], needs: Needs) -> Any:
        """Returns what a step comes to; what the store holds already is not worked out again.

        Raises:
            BaselineError: no verdict could rest on the baseline of a worker.
            UsageError: its sandbox, interpreter or options cannot be used.
            SandboxError: the work could not be done.
        """
        # What is gone on with elsewhere comes to the same: the host is no part of the key.
        key = key_of(self._opening, step, {**follows, "labels": needs.labels})
        if (known := self.store.result(key)) is not None:
            return known
        argument = {"opening": to_plain(self._opening), **follows}
        ticket = self._submitted(Work(key, f"{functions.__name__}:{step}", argument, needs))
        try:
            return self._result(self._awaited(ticket), needs)
        finally:
            with self._lock:
                self._tickets.discard(ticket)

    def _submitted(self, work: Work) -> int:
        with self._lock:
            if self._closed:
                raise SandboxError(ENDED)
            ticket = self._executor.submit(work)
            self._tickets.add(ticket)
        return ticket

    def _awaited(self, ticket: int) -> WorkResult:
        try:
            while True:
                for outcome in self._executor.as_completed((ticket,), WAKE_SECONDS):
                    return outcome
        except BaseException:
            self._executor.cancel((ticket,))
            raise

    def _result(self, outcome: WorkResult, needs: Needs) -> Any:
        if outcome.end is End.DONE:
            return outcome.result
        if outcome.end is End.CANCELLED:
            raise SandboxError(ENDED)
        if outcome.end is End.UNPLACED:
            wanted = (
                f"on host {needs.host}" if needs.host else f"of the class that this run needs ({told(needs.labels)})"
            )
            raise _Unplaced(f"no host {wanted} is left; {described(self._executor.hosts())}")
        raise error_of(outcome)

    def close(self) -> None:
        """Ends what is under way."""
        with self._lock:
            self._closed = True
            tickets = frozenset(self._tickets)
        if tickets:
            self._executor.cancel(tickets)


def _tell(listener: Listener, lines: Iterable[str]) -> None:
    for line in lines:
        listener(Event(EventKind.STAGE, line))
