"""One function of a repository: a search of its own, then the whole suite and the command with its winner in place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from whet.agents.repository.bench import AttemptContext
from whet.agents.repository.searches import searched
from whet.core.candidate import Candidate
from whet.core.condition import Condition
from whet.core.events import Event, EventKind
from whet.core.measurement import Measurement, Outcome, gain_in
from whet.core.options import Budget
from whet.core.repository import Attempt, HotFunction
from whet.core.result import Result, Status, Winner
from whet.core.text import one_line, percent, times
from whet.evaluators.evidence.record import recorded_task
from whet.evaluators.finding import Fault
from whet.evaluators.repository.end_to_end import end_to_end
from whet.evaluators.repository.suite_run import BESIDE
from whet.evaluators.repository.trees import Snapshot, snapshot

WORDS = {Outcome.FASTER: "faster", Outcome.NOT_SHOWN: "no gain shown", Outcome.SLOWER: "slower"}
UNUSABLE = "unusable"
"""Status of an attempt on a function whose calls cannot be recorded or repeated."""


def attempt(
    bench: AttemptContext, number: int, function: HotFunction, budget: Budget, standing: Snapshot
) -> tuple[Attempt, Snapshot]:
    """Tries to make one function faster.

    Args:
        bench: of the whole run.
        number: of the function.
        function: to try.
        budget: that is left.
        standing: the repository with the wins so far.

    Returns:
        what became of it, and the repository as it stands then.
    """
    bench.listener(Event(EventKind.STAGE, f"{function.target}: {function.own:.0%} of the time"))
    result = searched(bench, number, function, budget, standing)
    if isinstance(result, str):
        return Attempt(function, None, UNUSABLE, why=result), standing
    told = Attempt(function, result.run, result.status.value, result.speedup, why=result.message)
    winner = result.candidate
    if result.status is not Status.IMPROVED or winner is None or result.speedup is None:
        return replace(told, diff=winner.diff if winner else ""), standing
    texts = _files(bench, function, result.run, winner.source)
    told = replace(told, labels=winner.labels, diff=_diff(bench, texts), conditions=result.conditions)
    places = {path: bench.worktree.file(path) for path in texts}
    before = {path: place.read_bytes() for path, place in places.items()}
    for path, text in texts.items():
        places[path].write_bytes(text.encode())
    changed, kept, why, measured = _judged(bench, function, standing)
    if changed is None or not kept:
        for path, content in before.items():
            places[path].write_bytes(content)
        if changed is not None:
            changed.close()
        return replace(told, why=why, end_to_end=measured), standing
    commit = bench.worktree.commit(list(texts), _message(bench, function, result, winner, measured))
    return replace(told, kept=True, why=why, end_to_end=measured, commit=commit), changed


def _files(bench: AttemptContext, function: HotFunction, run: str, source: str) -> dict[str, str]:
    """Returns the files that a winner changes: path from the repository's root -> text."""
    task = recorded_task(bench.store, run)
    home = function.path.removesuffix(task.filename)
    ours = task.parts(task.source)
    return {f"{home}{name}": text for name, text in task.parts(source).items() if text != ours[name]}


def _diff(bench: AttemptContext, texts: Mapping[str, str]) -> str:
    return "".join(
        Candidate(text).diff(bench.worktree.file(path).read_bytes().decode(), path) for path, text in texts.items()
    )


def _judged(
    bench: AttemptContext, function: HotFunction, standing: Snapshot
) -> tuple[Snapshot | None, bool, str, Measurement | None]:
    """Looks at the worktree with a winner in place: (the copy of it, whether it may stay, why, the pairs)."""
    changed = snapshot(bench.ground, bench.worktree.root, BESIDE)
    if isinstance(changed, Fault):
        return None, False, one_line(changed.detail, 500), None
    bench.listener(Event(EventKind.STAGE, f"{function.target}: the whole suite with its winner in place"))
    if bench.suite is not None and (fault := bench.suite.check(bench.ground, changed)):
        return changed, False, f"the whole suite: {one_line(fault.detail, 500)}", None
    bench.listener(Event(EventKind.STAGE, f"{function.target}: the command before and after"))
    measured = end_to_end(bench.ground, bench.asked, standing, changed)
    if isinstance(measured, Fault):
        return changed, False, f"the whole command: {one_line(measured.detail, 500)}", None
    slower = measured.outcome is Outcome.SLOWER
    return changed, not slower, f"the whole command: {WORDS[measured.outcome]}", measured


def _conditions(conditions: Sequence[Condition]) -> Iterator[str]:
    """Yields what has to hold for a win, for its commit's message."""
    if conditions:
        yield ""
        yield "It behaves as before only if"
        for one in conditions:
            yield f"- {one_line(one.sentence, 200)}; else for instance {one_line(one.counterexample, 300)}:"
            yield f"  {one_line(one.difference, 300)}"


def _message(
    bench: AttemptContext, function: HotFunction, result: Result, winner: Winner, measured: Measurement | None
) -> str:
    """Returns the message of a win's commit."""
    assert result.speedup is not None
    assert measured is not None
    one, whole = result.speedup, measured.speedup
    better = gain_in(one.metric)
    tests = f"{len(bench.suite.expected.passed)} tests pass as before" if bench.suite else "there are no tests"
    return "\n".join(
        [
            f"{function.target}: {times(one.ratio)} {better}",
            "",
            f"The function: {times(one.ratio)} ({times(one.low)} to {times(one.high)} at {percent(one.confidence)}),",
            f"{one.processes} fresh processes a side, against the commit before.",
            f"The command '{one_line(bench.command, 200)}': {WORDS[measured.outcome]},",
            f"{times(whole.ratio)} ({times(whole.low)} to {times(whole.high)}).",
            f"Tests: {tests}.",
            f"Kind: {', '.join(winner.labels) or 'not known'}.",
            *_conditions(result.conditions),
            "",
            f"Whet-Run: {bench.run}",
            f"Whet-Function-Run: {result.run}",
        ]
    )
