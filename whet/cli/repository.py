"""Whole repositories on the command line: what `optimize` and `verify` do with a folder, and how its end is shown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from whet.cli import options as opt
from whet.cli.render import clocked
from whet.core.errors import BaselineError
from whet.core.measurement import Measurement
from whet.core.text import count, one_line, percent, times

if TYPE_CHECKING:
    from whet.core.repository import Attempt, HotFunction, HotSpots, RepositoryResult
    from whet.core.revision import RevisionResult

SHOWN_FUNCTIONS = 12  # functions of a table, the hottest first; more are counted in a line, and --json shows all
HEADLINE = {
    "improved": "faster, and the whole suite passes",
    "no_improvement": "no verified improvement",
    "budget_exhausted": "budget spent without a verified improvement",
}
WORDS = {
    "faster": "faster",
    "not_shown": "no gain shown",
    "slower": "slower",
    "wrong": "wrong",
    "not_judged": "not judged",
}
"""Of the answers of measurements and of revisions."""


def optimize_repository(ctx: typer.Context, folder: str, *, as_json: bool) -> int:
    """Makes the hot functions of a repository faster and shows what came of it."""
    from whet.agents.repository.run import optimize_repository as work
    from whet.cli.progress import watching
    from whet.core.options import Budget

    asked = opt.written(ctx)
    budget = Budget(**{name: asked.get(f"budget_{name}") for name in Budget.__slots__})
    with watching(ctx.obj, budget, silent=as_json) as listener:
        result = work(folder, listener=listener, **asked)
    return show_repository(result, as_json=as_json)


def resume_repository(ctx: typer.Context, run: str, *, as_json: bool) -> int:
    """Goes on with an interrupted run on a repository and shows what came of it."""
    from whet.agents.repository.run import resume_repository as work
    from whet.cli.progress import watching
    from whet.core.options import Budget

    with watching(ctx.obj, Budget(), silent=as_json) as listener:
        result = work(run, listener=listener)
    return show_repository(result, as_json=as_json)


def show_repository(result: RepositoryResult, *, as_json: bool) -> int:
    """Prints the end of a run on a repository and returns the exit code that it ends the command with."""
    if as_json:
        print(json.dumps(result.to_json(), indent=2))
        return int(result.exit_code)
    if result.status == "baseline_invalid":
        raise BaselineError(result.message, "unusable")
    print("\n".join(repository_lines(result)))
    return int(result.exit_code)


def repository_lines(result: RepositoryResult) -> Iterator[str]:
    """Yields all that a run on a repository says, but for its diffs."""
    yield ""
    yield f"{HEADLINE[result.status.value]}: {one_line(result.root)} at {result.head[:10]}"
    yield one_line(result.message)
    for note in result.notes:
        yield f"note        {one_line(note)}"
    yield ""
    yield f"command     {one_line(result.command)}"
    if result.end_to_end is not None:
        yield from _figures(result.end_to_end)
    if result.tests is not None:
        yield f"tests       {count(len(result.tests.passed), 'test')} passed before, and pass: {result.tests.command}"
    yield ""
    yield "  own    total  function"
    tried = {attempt.function.target: attempt for attempt in result.attempts}
    for function in result.functions[:SHOWN_FUNCTIONS]:
        yield from _function(function, tried.get(function.target))
    if (rest := len(result.functions) - SHOWN_FUNCTIONS) > 0:
        yield f"  ... {count(rest, 'more function')}; --json shows all"
    cost = result.cost
    yield ""
    least = "" if cost.usd_complete else "at least "
    yield f"cost        {least}{cost.usd:.4f} USD, {count(cost.calls, 'call')}"
    if result.branch is not None:
        yield f"branch      {result.branch}; see: git log -p {result.head[:10]}..{result.branch}"
    yield f"run         {result.run}, {result.seconds:.1f} s; report: whet runs show {result.run} --html FILE"


def _function(function: HotFunction, attempt: Attempt | None) -> Iterator[str]:
    yield f"{function.own:6.1%} {function.total:7.1%}  {one_line(function.target, 100)}"
    if attempt is None:
        yield f"                 {one_line(function.skipped, 300) or 'not tried'}"
        return
    kept = "kept" if attempt.kept else "not kept"
    ratio = ""
    if (speedup := attempt.speedup) is not None:
        ratio = f"{times(speedup.ratio)} ({times(speedup.low)} to {times(speedup.high)}), "
    yield f"                 {kept}: {ratio}{one_line(attempt.why, 300)}"
    for condition in attempt.conditions:
        yield f"                 only if {one_line(condition.sentence, 200)}"


def _figures(measured: Measurement) -> Iterator[str]:
    speedup = measured.speedup
    yield f"end to end  {WORDS[measured.outcome.value]}: {times(speedup.ratio)} in {clocked(speedup)}"
    yield f"interval    {times(speedup.low)} to {times(speedup.high)} at {percent(speedup.confidence)}"
    yield f"n           {speedup.processes} fresh processes a side"
    low, high = speedup.aa_ratio
    yield f"A/A         {times(low)} to {times(high)} (the head against itself)"


def profile_repository(ctx: typer.Context, folder: str, *, as_json: bool) -> int:
    """Shows where the time of a repository's command goes."""
    from whet.agents.catalogue.applicable import applicable
    from whet.cli.progress import watching
    from whet.core.options import Budget
    from whet.evaluators.repository.hot import hot_spots

    with watching(ctx.obj, Budget(), silent=as_json) as listener:
        found = hot_spots(folder, applicable=applicable, listener=listener, **opt.written(ctx))
    print(json.dumps(found.to_json(), indent=2) if as_json else "\n".join(hot_spot_lines(found)))
    return 0


def hot_spot_lines(found: HotSpots) -> Iterator[str]:
    """Yields all that is said of where a repository's command spends its time."""
    yield f"command     {one_line(found.command)}"
    for note in found.notes:
        yield f"note        {one_line(note)}"
    yield ""
    yield "  own    total  function"
    for function in found.functions[:SHOWN_FUNCTIONS]:
        yield f"{function.own:6.1%} {function.total:7.1%}  {one_line(function.target, 100)}"
        if why := function.skipped or ", ".join(function.edits):
            yield f"                 {one_line(why, 300)}"
    if (rest := len(found.functions) - SHOWN_FUNCTIONS) > 0:
        yield f"  ... {count(rest, 'more function')}; --json shows all"


def verify_revisions(ctx: typer.Context, folder: str, *, as_json: bool) -> int:
    """Judges a change between two revisions and shows what it comes to."""
    from whet.cli.progress import watching
    from whet.core.options import Budget
    from whet.evaluators.repository.judging import verify_revisions as work

    asked = opt.written(ctx)
    with watching(ctx.obj, Budget(), silent=as_json) as listener:
        result = work(folder, listener=listener, **asked)
    if as_json:
        print(json.dumps(result.to_json(), indent=2))
    else:
        print("\n".join(revision_lines(result)))
    return int(result.exit_code)


def revision_lines(result: RevisionResult) -> Iterator[str]:
    """Yields all that is said of a change between two revisions."""
    yield ""
    yield f"{WORDS[result.answer.value]}: {one_line(result.root)} {result.before[:10]}..{result.after[:10]}"
    yield one_line(result.message)
    yield ""
    for function in result.functions:
        yield f"  {WORDS[function.answer.value]:<14}{one_line(function.target, 100)}"
        if (speedup := function.speedup) is not None:
            yield f"                {times(speedup.ratio)} ({times(speedup.low)} to {times(speedup.high)})"
        yield f"                {one_line(function.why, 300)}"
    if not result.functions:
        yield "  no Python function changed"
    yield ""
    if result.tests is None:
        yield "tests       none: only comparison judged it"
    else:
        yield f"tests       {result.tests} pass as before, {len(result.failing)} fail, {len(result.gone)} are gone"
    if result.command is not None:
        yield f"command     {one_line(result.command)}"
    if result.end_to_end is not None:
        yield from _figures(result.end_to_end)
    yield f"run         {result.run}, {result.seconds:.1f} s"
