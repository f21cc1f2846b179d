"""A run on a whole repository: begin one, or go on with one that was interrupted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from whet.agents.catalogue.applicable import applicable
from whet.agents.history import TIME_IS_UP, WORKED, Stopwatch
from whet.agents.preparing import in_time
from whet.agents.repository.applying import applied
from whet.agents.repository.attempts import UNUSABLE, attempt
from whet.agents.repository.bench import AttemptContext
from whet.agents.repository.job import RepositoryJob, Wish, job_of
from whet.agents.repository.searches import left, spent
from whet.core.config import load_project_config
from whet.core.errors import BaselineError, UnaskedError, UsageError
from whet.core.events import Event, EventKind, Listener, null_listener
from whet.core.measurement import Measurement, Outcome
from whet.core.plain import from_plain, to_plain
from whet.core.removal import dropping_unusable
from whet.core.repository import Attempt, HotFunction, ProjectKind, RepositoryResult, SuiteOutcome
from whet.core.result import Status
from whet.core.store import RunRecord, Store
from whet.core.text import count, one_line, times
from whet.evaluators.finding import Fault
from whet.evaluators.repository.changes import changed_functions
from whet.evaluators.repository.end_to_end import end_to_end
from whet.evaluators.repository.ranking import hot_functions
from whet.evaluators.repository.reach import reached
from whet.evaluators.repository.revisions import BRANCHES, Checkout, Worktree, listed
from whet.evaluators.repository.suite_run import BESIDE, Suite, baseline, without
from whet.evaluators.repository.trees import Ground, Snapshot, lighten, snapshot
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import find_interpreter

COMMAND = "repository"
"""What the store calls such a run."""
WORKTREES = "worktrees"
ATTEMPT = "attempt:"
UNTRIED = {UNUSABLE, Status.BASELINE_INVALID.value}
"""How attempts end in which no candidate could be judged."""
LOOKED_AT = 3
"""Hot functions that are looked at for each that shall be tried."""
GRACE_SHARE = 0.05
"""Of the cap on seconds, beside a second: a function that is being tried ends by the same cap, and is waited for."""


def optimize_repository(
    folder: str | Path, *, home: str | Path | None = None, listener: Listener = null_listener, **given: Any
) -> RepositoryResult:
    """Makes the hot functions of a repository faster, and proves each win on the whole of it.

    What is worked on is the commit that is checked out, in a worktree of whet's own.

    Args:
        folder: in a git repository.
        home: the state directory; None is the default one.
        listener: hears what happens; several threads may call it.
        **given: the fields of `whet.agents.repository.job.Wish`, and those of `whet.core.options.Options` that mean
            something for a whole repository.

    Returns:
        the document; its status is ``improved``, ``no_improvement``, ``budget_exhausted`` or ``baseline_invalid``.

    Raises:
        UsageError: the folder is no repository with a commit, an option cannot be used, or a model cannot be reached.
    """
    checkout = Checkout.open(Path(folder))
    names = {field.name for field in fields(Wish)}
    wish = Wish(**{name: value for name, value in given.items() if name in names})
    options = {name: value for name, value in given.items() if name not in names}
    job = job_of(checkout, load_project_config(checkout.root), wish, options)
    store = Store(None if home is None else Path(home))
    try:
        run = store.begin(COMMAND, str(checkout.root), to_plain(job))
        store.set_fact(run, "uncommitted", list(checkout.uncommitted()))
        with dropping_unusable(store, run):
            return _RepositoryRun(store, run, job, checkout, listener).work()
    finally:
        store.close()


def resume_repository(
    run: str, *, home: str | Path | None = None, listener: Listener = null_listener
) -> RepositoryResult:
    """Goes on with an interrupted run on a repository; returns the document of a finished one as it was recorded.

    Args:
        run: its id.
        home: the state directory; None is the default one.
        listener: hears what happens.

    Raises:
        UsageError: there is no such run, or it cannot be resumed.
    """
    store = Store(None if home is None else Path(home))
    try:
        record = store.run(run)
        if record.command != COMMAND:
            raise UsageError(f"run {run} is of whet {record.command}, not on a repository")
        if record.result is not None:
            return recorded(record)
        if not store.hold(run):
            raise UsageError(f"run {run} is being worked on by another process")
        job = from_plain(RepositoryJob, record.request)
        return _RepositoryRun(store, run, job, Checkout.open(job.root), listener).work()
    finally:
        store.close()


def recorded(record: RunRecord) -> RepositoryResult:
    """Returns the document of a finished run."""
    assert record.result is not None
    return from_plain(RepositoryResult, {name: value for name, value in record.result.items() if name != "schema"})


def so_far(store: Store, record: RunRecord) -> RepositoryResult:
    """Returns the document of a run, be it over or not: what stands in the store by now."""
    if record.result is not None:
        return recorded(record)
    job = from_plain(RepositoryJob, record.request)
    line = f"it is not over; go on with it: whet runs resume {record.id}"
    return _document(store, record.id, job, Status.NO_IMPROVEMENT, line)


@dataclass(frozen=True, slots=True)
class _RepositoryRun:
    """One run, from its first step or from wherever it was left: what is known stands in the store as facts."""

    store: Store
    run: str
    job: RepositoryJob
    checkout: Checkout
    listener: Listener

    def work(self) -> RepositoryResult:
        """Takes the run to its end.

        Raises:
            UsageError: an option cannot be used; where it is the model, the run can be resumed.
        """
        watch = Stopwatch(self.store, self.run)
        data = {"run": self.run, "budget": to_plain(self.job.budget), "worked": watch.seconds}
        self.listener(Event(EventKind.STAGE, f"run {self.run}", data))
        place = self.store.home / WORKTREES / self.run
        with ExitStack() as stack:
            sandbox = stack.enter_context(closing(open_sandbox(self.job.options.sandbox, self.job.options.unsafe)))
            interpreter = find_interpreter(self.job.options.python)
            worktree = self.checkout.open_worktree(place, self.job.head)
            try:
                lighten(worktree.root, self.job.survey.ignore)
                around = replace(self.job.survey, root=worktree.root)
                ground = Ground(sandbox, interpreter, around, self.job.options.cores)
                status, message = self._in_time(ground, worktree, watch)
            except BaselineError as error:
                status, message = Status.BASELINE_INVALID, str(error)
            except UnaskedError as error:
                back = f"once that is mended, go on with: whet runs resume {self.run}"
                raise UnaskedError(error.why, back) from None
            except UsageError:
                self.checkout.remove_worktree(place)
                raise
        if self.job.apply and status is Status.IMPROVED:
            paths = self.checkout.changed_files(self.job.head, self._tip())
            lines = applied(self.checkout, self.job.head, self._tip(), paths)
            message = "; ".join([message, *lines])
        watch.save()
        result = replace(_document(self.store, self.run, self.job, status, message), seconds=watch.seconds)
        self.store.finish(self.run, result.to_json())
        self.checkout.remove_worktree(place)
        return result

    def _in_time(self, ground: Ground, worktree: Worktree, watch: Stopwatch) -> tuple[Status, str]:
        """Does the work, and ends all of it once the time is up."""
        cap = self.job.budget.seconds
        left = math.inf if cap is None else cap * (1.0 + GRACE_SHARE) - watch.seconds
        found = in_time(lambda: self._worked(ground, worktree, watch), left, lambda late: None)
        if found is not None:
            return found
        ground.sandbox.close()
        kept = sum(one.kept for one in self._attempts())
        said = f"{_faster(kept, self.run)}; the whole command was not measured with it" if kept else "nothing was kept"
        return Status.BUDGET_EXHAUSTED, f"{TIME_IS_UP}; {said}"

    def _worked(self, ground: Ground, worktree: Worktree, watch: Stopwatch) -> tuple[Status, str]:
        unchanged = _expect(snapshot(ground, worktree.root, BESIDE))
        suite = self._suite(ground, unchanged)
        command = self._command(suite)
        functions = self._functions(ground, command)
        hot = [function for function in functions if not function.skipped][: LOOKED_AT * self.job.top]
        reach = self._reach(ground, suite, hot)
        given = (command, worktree, ground, suite, functions, reach, watch, self.listener)
        bench = AttemptContext(self.store, self.run, self.job, *given)
        standing, spent_up, silent = self._attempted(bench, hot, unchanged)
        if standing is unchanged:
            status, message = _unchanged(self._attempts(), functions, spent_up)
        else:
            status, message = self._concluded(bench, unchanged, standing)
        return status, "; ".join(filter(None, (message, silent)))

    def _suite(self, ground: Ground, unchanged: Snapshot) -> Suite | None:
        """Returns the tests that pass before any change; None where the repository has none."""
        if self.job.survey.tests is None:
            return None
        if (known := self.store.fact(self.run, "suite")) is not None:
            return from_plain(Suite, known)
        self.listener(Event(EventKind.STAGE, f"the tests before any change: {self.job.survey.tests}"))
        suite = _expect(baseline(ground, unchanged, self.job.survey.tests))
        if not suite.expected.passed:
            failing = f": {listed(suite.failing)}" if suite.failing else ""
            raise BaselineError(f"no test of '{suite.command}' passes twice before any change{failing}", "own_tests")
        self.store.set_fact(self.run, "suite", to_plain(suite))
        return suite

    def _command(self, suite: Suite | None) -> str:
        """Returns the command whose time counts; where it is that of the tests, without those that do not pass."""
        if suite is not None and self.job.command == suite.command:
            return without(suite.command, (*suite.failing, *suite.flaky))
        return self.job.command

    def _functions(self, ground: Ground, command: str) -> tuple[HotFunction, ...]:
        if (known := self.store.fact(self.run, "functions")) is not None:
            return tuple(from_plain(HotFunction, one) for one in known)
        self.listener(Event(EventKind.STAGE, f"where the time goes: {command}"))
        found = hot_functions(
            ground.survey, command, ground.sandbox, ground.interpreter, self.job.min_share, applicable
        )
        if self.job.base is not None:
            changed = {one.target for one in changed_functions(self.checkout, self.job.base, self.job.head)}
            changed.update(self.checkout.changed_files(self.job.base, self.job.head))  # which stand for functions of C
            found = _only(found, changed, f"not changed since {self.job.base[:10]}")
        if self.job.targets:
            found = _only(found, set(self.job.targets), "not asked for")
        self.store.set_fact(self.run, "functions", [to_plain(one) for one in found])
        return found

    def _reach(self, ground: Ground, suite: Suite | None, hot: Sequence[HotFunction]) -> Mapping[str, tuple[str, ...]]:
        """Returns the passing tests that reach each function."""
        if suite is None or self.job.survey.kind is not ProjectKind.PYTHON:
            return {}
        known = self.store.fact(self.run, "reach")
        if known is None:
            self.listener(Event(EventKind.STAGE, "which tests reach which function"))
            command = without(suite.command, (*suite.failing, *suite.flaky))
            known = dict(reached(ground.survey, command, hot, ground.sandbox, ground.interpreter))
            self.store.set_fact(self.run, "reach", known)
        passing = suite.expected.passed
        return {target: tuple(test for test in tests if test in passing) for target, tests in known.items()}

    def _attempts(self) -> list[Attempt]:
        return _attempts(self.store, self.run)

    def _tip(self) -> str:
        """Hash of the commit that holds the wins so far."""
        return next((one.commit for one in reversed(self._attempts()) if one.commit), self.job.head)

    def _attempted(
        self, bench: AttemptContext, hot: Sequence[HotFunction], unchanged: Snapshot
    ) -> tuple[Snapshot, bool, str]:
        """Tries function after function; one whose calls cannot be repeated or timed makes room for the next.

        Returns:
            the repository with its wins, whether a cap ended that, and why the model could not be asked any more.

        Raises:
            UnaskedError: the model could not be asked from the beginning.
        """
        standing = unchanged
        if (tip := self._tip()) != self.job.head:
            bench.worktree.reset(tip)
            self.checkout.set_branch(self.run, tip)
            standing = _expect(snapshot(bench.ground, bench.worktree.root, BESIDE))
        for number, function in list(enumerate(hot))[len(self._attempts()) :]:
            if sum(one.status not in UNTRIED for one in self._attempts()) >= self.job.top:
                break
            # What a run that was killed in the middle of a function left there is gone then.
            bench.worktree.reset(self._tip())
            budget = left(bench)
            if budget is None:
                return standing, True, ""
            try:
                told, standing = attempt(bench, number, function, budget, standing)
            except UnaskedError as error:
                if not self._attempts():
                    raise
                return standing, False, error.why
            self.store.set_fact(self.run, f"{ATTEMPT}{number:04}", to_plain(told))
            if told.commit is not None:
                self.checkout.set_branch(self.run, told.commit)
            bench.watch.save()
        return standing, any(one.status == Status.BUDGET_EXHAUSTED for one in self._attempts()), ""

    def _concluded(self, bench: AttemptContext, unchanged: Snapshot, standing: Snapshot) -> tuple[Status, str]:
        """Measures the command at the head against the branch, afresh."""
        self.listener(Event(EventKind.STAGE, f"the command at the head and on the branch: {bench.command}"))
        known = self.store.fact(self.run, "end_to_end")
        measured = _expect(end_to_end(bench.ground, bench.asked, unchanged, standing)) if known is None else None
        if measured is not None:
            known = to_plain(measured)
            self.store.set_fact(self.run, "end_to_end", known)
        whole = from_plain(Measurement, known)
        kept = [one for one in self._attempts() if one.kept]
        message = _faster(len(kept), self.run)
        if whole.outcome is Outcome.SLOWER:
            return Status.NO_IMPROVEMENT, f"{message}; but all together the command is slower: {whole.note}"
        said = times(whole.speedup.ratio) if whole.outcome is Outcome.FASTER else f"no gain shown ({whole.note})"
        return Status.IMPROVED, f"{message}; the whole command: {said}"


def _faster(number: int, run: str) -> str:
    return f"{count(number, 'function')} faster, one commit each on {BRANCHES}{run}"


T = TypeVar("T", Snapshot, Suite, Measurement)


def _expect(found: T | Fault) -> T:
    """Returns what was found of the repository as it stands.

    Raises:
        BaselineError: it is a fault.
    """
    if isinstance(found, Fault):
        raise BaselineError(one_line(found.detail, 500), found.reason.value)
    return found


def _only(functions: Sequence[HotFunction], targets: set[str], why: str) -> tuple[HotFunction, ...]:
    """Returns functions, of which all but some are skipped; those that are tried come first as before."""
    marked = [each if each.skipped or each.target in targets else replace(each, skipped=why) for each in functions]
    return tuple(sorted(marked, key=lambda each: bool(each.skipped)))


def _unchanged(attempts: Sequence[Attempt], functions: Sequence[HotFunction], spent_up: bool) -> tuple[Status, str]:
    """Returns how a run ends in which nothing was kept."""
    if spent_up:
        return Status.BUDGET_EXHAUSTED, f"the budget is spent; nothing was kept of {count(len(attempts), 'attempt')}"
    if not attempts:
        return Status.NO_IMPROVEMENT, f"no function could be tried: {_why_none(functions)}"
    return Status.NO_IMPROVEMENT, f"nothing was kept of {count(len(attempts), 'attempt')}"


def _why_none(functions: Sequence[HotFunction]) -> str:
    if not functions:
        return "the command spends no time in functions of this repository"
    first = max(functions, key=lambda each: each.own)
    return f"{first.target}, the hottest, is skipped: {first.skipped}"


def _attempts(store: Store, run: str) -> list[Attempt]:
    return [from_plain(Attempt, one) for _, one in sorted(store.facts(run, ATTEMPT).items())]


def _document(store: Store, run: str, job: RepositoryJob, status: Status, message: str) -> RepositoryResult:
    """Returns what stands in the store as a document."""
    attempts = _attempts(store, run)
    suite, measured = store.fact(run, "suite"), store.fact(run, "end_to_end")
    cost, _ = spent(store, run)
    tests = None if suite is None else from_plain(Suite, suite).outcome
    return RepositoryResult(
        run=run,
        root=str(job.root),
        head=job.head,
        branch=f"{BRANCHES}{run}" if any(one.commit for one in attempts) else None,
        command=job.command,
        status=status,
        end_to_end=None if measured is None else from_plain(Measurement, measured),
        tests=tests,
        functions=tuple(from_plain(HotFunction, one) for one in store.fact(run, "functions") or ()),
        attempts=tuple(attempts),
        cost=cost,
        seconds=float(store.fact(run, WORKED) or 0.0),
        message=message,
        notes=tuple(_notes(job, store.fact(run, "uncommitted") or (), tests)),
    )


def _notes(job: RepositoryJob, uncommitted: Sequence[str], tests: SuiteOutcome | None) -> Iterator[str]:
    yield from job.survey.notes
    if uncommitted:
        yield f"left out, for it is not committed: {listed(uncommitted)}"
    if tests is not None and tests.failing:
        yield f"fail before any change, and are not asked for: {listed(tests.failing)}"
    if tests is not None and tests.flaky:
        yield f"do not end alike each time, and are not asked for: {listed(tests.flaky)}"
