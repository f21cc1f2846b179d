"""Judges a change that is there already: every function that it touches, the tests, and the whole command."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from whet.core.condition import only_if
from whet.core.config import load_project_config
from whet.core.errors import BaselineError, UsageError
from whet.core.events import Event, EventKind, Listener, null_listener
from whet.core.measurement import Measurement, Outcome
from whet.core.options import Options
from whet.core.removal import dropping_unusable
from whet.core.repository import Survey
from whet.core.result import Result, Status
from whet.core.revision import FunctionAnswer, RevisionAnswer, RevisionResult
from whet.core.store import Store
from whet.core.text import count, one_line, times
from whet.core.verdict import Reason
from whet.evaluators.finding import Fault
from whet.evaluators.repository.asked import looked_around, settings_of
from whet.evaluators.repository.changes import ChangedFunction, changed_functions
from whet.evaluators.repository.end_to_end import EndToEndRequest, end_to_end
from whet.evaluators.repository.revisions import Checkout, Worktree, listed
from whet.evaluators.repository.skipped import skipped_file
from whet.evaluators.repository.suite_run import BESIDE, baseline, run_tests
from whet.evaluators.repository.trees import Ground, Snapshot, lighten, snapshot
from whet.evaluators.verify import verify
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import find_interpreter

COMMAND = "revision"
"""What the store calls such a run."""
WORKTREES = "worktrees"
MOST = 20
"""Functions that are judged by themselves."""
NEEDS_OTHERS = (Reason.CRASH, Reason.BUILD_ERROR)
"""Ends of a file that is loaded beside the rest of the old commit, and may need the new one."""
OF_OUTCOME = {
    Outcome.FASTER: RevisionAnswer.FASTER,
    Outcome.NOT_SHOWN: RevisionAnswer.NOT_SHOWN,
    Outcome.SLOWER: RevisionAnswer.SLOWER,
}
STATUS = {RevisionAnswer.FASTER: Status.IMPROVED, RevisionAnswer.WRONG: Status.REJECTED}


def verify_revisions(
    folder: str | Path,
    rev: str,
    *,
    run: str | None = None,
    tests: str | None = None,
    home: str | Path | None = None,
    listener: Listener = null_listener,
    **options: Any,
) -> RevisionResult:
    """Judges what one revision of a repository did to another.

    Each Python function whose text changed, and whose parameters did not, climbs the ladder: the old commit is the
    baseline, its file in the new one the candidate. Then come the tests that passed before, and the whole command.

    Args:
        folder: in a git repository.
        rev: ``A..B``.
        run: the command whose time counts; None takes the configuration's, or what is found.
        tests: the command that tests it; None takes the configuration's, or what is found.
        home: the state directory; None is the default one.
        listener: hears what happens.
        **options: the fields of `whet.core.options.Options` that mean something for a whole repository.

    Raises:
        UsageError: the folder is no repository, a revision is unknown, or an option cannot be used.
    """
    checkout = Checkout.open(Path(folder))
    names = rev.split("..")
    if len(names) != 2 or "" in names:
        raise UsageError(f"--rev takes A..B, such as main..HEAD, not '{one_line(rev, 80)}'")
    before, after = map(checkout.commit, names)
    config = load_project_config(checkout.root)
    around = looked_around(checkout.root, config, run, tests)
    settings = settings_of(config, options, around)
    store = Store(None if home is None else Path(home))
    start = time.perf_counter()
    try:
        request = {"rev": rev, "before": before, "after": after}
        name = store.begin(COMMAND, f"{checkout.root} {rev}", request)
        listener(Event(EventKind.STAGE, f"run {name}", {"named": name}))
        with dropping_unusable(store, name), ExitStack() as stack:
            sandbox = stack.enter_context(closing(open_sandbox(settings.sandbox, settings.unsafe)))
            places = [store.home / WORKTREES / f"{name}-{side}" for side in ("before", "after")]
            ours, theirs = (
                stack.enter_context(checkout.worktree(place, commit))
                for place, commit in zip(places, (before, after), strict=True)
            )
            for tree in (ours, theirs):
                lighten(tree.root, around.ignore)
            here = replace(around, root=ours.root)
            ground = Ground(sandbox, find_interpreter(settings.python), here, settings.cores)
            result = _Judging(store, name, checkout, ground, settings, ours, theirs, listener).result(before, after)
        result = replace(result, seconds=time.perf_counter() - start)
        store.finish(name, result.to_json())
        return result
    finally:
        store.close()


@dataclass(frozen=True, slots=True)
class _Tests:
    """What the tests that passed before do after."""

    passed: int | None = None
    failing: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class _Judging:
    store: Store
    run: str
    checkout: Checkout
    ground: Ground
    settings: Options
    ours: Worktree
    theirs: Worktree
    listener: Listener

    @property
    def survey(self) -> Survey:
        return self.ground.survey

    @property
    def command(self) -> str | None:
        """The command that is measured; tests alone are asked whether they pass."""
        return None if self.survey.run == self.survey.tests else self.survey.run

    def result(self, before: str, after: str) -> RevisionResult:
        functions = tuple(self._functions(changed_functions(self.checkout, before, after)))
        old, new = (snapshot(self.ground, tree.root, BESIDE) for tree in (self.ours, self.theirs))
        if isinstance(old, Fault):
            raise BaselineError(one_line(f"{before[:10]}: {old.detail}", 500), old.reason.value)
        measured: Measurement | Fault | None = None
        if isinstance(new, Fault):
            tests = _Tests(0, why=one_line(new.detail, 500))
        else:
            tests = self._tests(old, new)
            measured = self._measured(old, new)
        answer, message = _altogether(functions, tests, measured)
        return RevisionResult(
            run=self.run,
            root=str(self.checkout.root),
            before=before,
            after=after,
            status=STATUS.get(answer, Status.NO_IMPROVEMENT),
            answer=answer,
            functions=functions,
            tests=tests.passed,
            failing=tests.failing,
            gone=tests.gone,
            command=self.command,
            end_to_end=measured if isinstance(measured, Measurement) else None,
            seconds=0.0,
            message=message,
        )

    def _functions(self, changes: Sequence[ChangedFunction]) -> Iterator[FunctionAnswer]:
        judged = 0
        for change in changes:
            why = self._why_not(change)
            if not why and judged == MOST:
                why = f"{MOST} functions are judged by themselves at most"
            if why:
                yield FunctionAnswer(change.target, RevisionAnswer.NOT_JUDGED, why)
                continue
            judged += 1
            self.listener(Event(EventKind.STAGE, f"{change.target}: before and after"))
            yield self._judged(change)

    def _why_not(self, change: ChangedFunction) -> str:
        """Returns why a function is not judged by itself; empty where it is."""
        text = (self.ours if change.after is None else self.theirs).file(change.path).read_text("utf-8", "replace")
        if skipped := skipped_file(change.path, text, self.survey.ignore):
            return skipped
        if change.before is None:
            return "it is new"
        if change.after is None:
            return "it is gone"
        return "" if change.before == change.after else "its parameters changed"

    def _judged(self, change: ChangedFunction) -> FunctionAnswer:
        found = self._verified(change)
        if isinstance(found, str):
            return FunctionAnswer(change.target, RevisionAnswer.NOT_JUDGED, found)
        why, speedup = one_line("; ".join(filter(None, (found.message, only_if(found.conditions)))), 500), found.speedup
        failed = next((rung for rung in found.rungs if rung.status == "failed"), None)
        if found.status is Status.IMPROVED:
            answer = RevisionAnswer.FASTER
        elif found.status is Status.NO_IMPROVEMENT:
            slower = failed is not None and failed.reason is Reason.SLOWER
            answer = RevisionAnswer.SLOWER if slower else RevisionAnswer.NOT_SHOWN
        elif found.status is Status.BASELINE_INVALID:
            answer = RevisionAnswer.NOT_JUDGED
        else:
            answer = RevisionAnswer.WRONG
            if failed is not None:
                why = one_line(f"{why}: {failed.detail}", 500)
                if failed.reason in NEEDS_OTHERS:
                    answer, why = RevisionAnswer.NOT_JUDGED, f"beside the rest of the old commit: {why}"
        return FunctionAnswer(change.target, answer, why, speedup, found.run)

    def _verified(self, change: ChangedFunction) -> Result | str:
        """Takes the new file up the ladder of the old one; returns why there are no inputs, where there are none."""
        given = {name: getattr(self.settings, name) for name in Options.__slots__}
        given |= {"project": self.ours.root}
        why = ""
        for record in dict.fromkeys((self.survey.run, self.survey.tests, None)):
            try:
                return verify(
                    f"{self.ours.root}/{change.target}",
                    candidate=self.theirs.file(change.path),
                    home=self.store.home,
                    listener=_without_run(self.listener),
                    **{**given, "record": record},
                )
            except UsageError as error:
                why = why or one_line(str(error), 500)
        return why

    def _tests(self, old: Snapshot, new: Snapshot) -> _Tests:
        command = self.survey.tests
        if command is None:
            return _Tests()
        self.listener(Event(EventKind.STAGE, f"the tests before and after: {command}"))
        suite = baseline(self.ground, old, command)
        if isinstance(suite, Fault):
            raise BaselineError(suite.detail, suite.reason.value)
        told = run_tests(self.ground, new, command)
        if isinstance(told, Fault):
            return _Tests(0, why=one_line(told.detail, 500))
        expected = suite.expected.passed
        failing = tuple(test for test in expected if test in told.failed)
        gone = tuple(test for test in expected if test not in told.failed and test not in told.report.passed)
        return _Tests(len(expected) - len(failing) - len(gone), failing, gone)

    def _measured(self, old: Snapshot, new: Snapshot) -> Measurement | Fault | None:
        if self.command is None:
            return None
        self.listener(Event(EventKind.STAGE, f"the command before and after: {self.command}"))
        asked = EndToEndRequest(self.command, self.settings.min_speedup, self.settings.confidence)
        return end_to_end(self.ground, asked, old, new)


def _altogether(
    functions: Sequence[FunctionAnswer], tests: _Tests, measured: Measurement | Fault | None
) -> tuple[RevisionAnswer, str]:
    """Returns what a change comes to: right first; then what its command shows, then what its functions do."""
    if wrong := next((one for one in functions if one.answer is RevisionAnswer.WRONG), None):
        return RevisionAnswer.WRONG, f"{wrong.target}: {wrong.why}"
    if tests.why:
        return RevisionAnswer.WRONG, tests.why
    if tests.failing:
        return (
            RevisionAnswer.WRONG,
            f"{count(len(tests.failing), 'test')} fail that passed before: {listed(tests.failing)}",
        )
    if isinstance(measured, Fault):
        return RevisionAnswer.WRONG, f"the whole command: {one_line(measured.detail, 500)}"
    if measured is not None and measured.outcome is not Outcome.NOT_SHOWN:
        return OF_OUTCOME[measured.outcome], f"the whole command: {times(measured.speedup.ratio)}"
    shown = [one for one in functions if one.answer in (RevisionAnswer.SLOWER, RevisionAnswer.FASTER)]
    # One that got slower outweighs any that got faster: nothing says which of them matters more.
    if worst := next(iter(sorted(shown, key=lambda one: one.answer is RevisionAnswer.FASTER)), None):
        whole = "" if measured is None else "; the whole command shows no difference"
        return worst.answer, f"{worst.target}: {worst.why}{whole}"
    return RevisionAnswer.NOT_SHOWN, "no function that could be judged is shown faster or slower"


def _without_run(listener: Listener) -> Callable[[Event], None]:
    """A listener that does not take the run of a function for the whole one."""

    def hear(event: Event) -> None:
        listener(Event(event.kind, event.text, {name: value for name, value in event.data.items() if name != "run"}))

    return hear
