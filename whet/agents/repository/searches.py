"""The search for one hot function of a repository, which is a run of its own."""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from whet.agents.optimize import optimize, resume
from whet.agents.repository.bench import AttemptContext
from whet.agents.repository.helpers import with_helpers
from whet.core.errors import UnaskedError, UsageError
from whet.core.events import Event
from whet.core.options import Budget
from whet.core.plain import from_plain
from whet.core.repository import HotFunction
from whet.core.result import Cost, Result, Status
from whet.core.store import Store
from whet.core.text import one_line
from whet.evaluators.ladder import open_ladder
from whet.evaluators.protocol import Evaluator
from whet.evaluators.repository.suite_run import SHELL, alone
from whet.evaluators.repository.trees import Snapshot
from whet.evaluators.repository.whole import WholeProject, file_task
from whet.evaluators.targets import read_task

CHILD = "child:"
"""Facts that name the runs of functions: ``child:FUNCTION:PLAN``."""
CATALOGUE = "catalogue"
"""The model that asks nobody."""


@dataclass(frozen=True, slots=True)
class FunctionPlan:
    """How the inputs and tests of one function are come by.

    Attributes:
        record: the command whose calls of it become inputs.
        tests: the command of its own tests; None judges it by comparison alone.
    """

    record: str
    tests: str | None


def spent(store: Store, run: str) -> tuple[Cost, int]:
    """Returns what the functions' runs have cost so far, and how many distinct candidates they had."""
    total, candidates = Cost(), 0
    for child in store.facts(run, CHILD).values():
        result = store.run(child).result
        if result is not None:
            total += from_plain(Cost, result["cost"])
            candidates += int(result["candidates"]["distinct"])
    return total, candidates


def left(bench: AttemptContext) -> Budget | None:
    """Returns the caps for the next function; None where one of them is used up."""
    cost, candidates = spent(bench.store, bench.run)
    used = {
        "usd": cost.usd,
        "tokens": cost.tokens.input + cost.tokens.output,
        "calls": cost.calls,
        "candidates": candidates,
        "seconds": bench.watch.seconds,
    }
    caps = {name: getattr(bench.job.budget, name) for name in used}
    rest = {name: None if cap is None else cap - used[name] for name, cap in caps.items()}
    return None if any(one is not None and one <= 0 for one in rest.values()) else Budget(**rest)


def searched(
    bench: AttemptContext, number: int, function: HotFunction, budget: Budget, standing: Snapshot
) -> Result | str:
    """Returns how the search for one function ended, or why there could be none.

    Args:
        bench: of the whole run.
        number: of the function.
        function: to search for.
        budget: that is left.
        standing: the repository with the wins so far.

    Raises:
        UnaskedError: its model never replied.
    """
    if function.symbol is None:
        return _file_searched(bench, number, function, budget, standing)
    why = "no inputs"
    for turn, plan in enumerate(_plans(bench, function)):
        key = f"{CHILD}{number}:{turn}"
        try:
            result = _function_searched(bench, key, function, plan, budget)
        except UnaskedError:
            raise
        except UsageError as error:  # nothing was recorded, or no call can be repeated
            why = one_line(str(error), 500)
            continue
        baseline = bench.store.fact(result.run, "baseline") or {}
        if result.status is not Status.BASELINE_INVALID or baseline.get("reason") != "own_tests":
            return result
        why = one_line(result.message, 500)
    return why


def _function_searched(
    bench: AttemptContext, key: str, function: HotFunction, plan: FunctionPlan, budget: Budget
) -> Result:
    target = f"{bench.worktree.root}/{function.target}"
    given: dict[str, Any] = {"record": plan.record, "tests": plan.tests, "project": bench.worktree.root}
    if bench.job.model == CATALOGUE or bench.store.fact(bench.run, key) is not None:
        return _child(bench, key, target, budget, **given)
    # Whoever reads a text may change a helper that stands in another file; no edit of the catalogue does.
    seed = secrets.randbits(63) if bench.job.options.seed is None else bench.job.options.seed
    settings = replace(bench.job.options, **given, seed=seed)
    task = with_helpers(read_task(target, settings), bench.ground.survey, function, bench.functions)
    if not task.others:
        return _child(bench, key, target, budget, **given)
    ladder = open_ladder(task, settings, seed, bench.listener, store=bench.store)
    return _child(bench, key, target, budget, ladder, **given, seed=seed)


def _file_searched(
    bench: AttemptContext, number: int, function: HotFunction, budget: Budget, standing: Snapshot
) -> Result | str:
    """Returns how the search for a source file of C or C++ ended, or why there could be none."""
    try:
        task = file_task(bench.ground, function.path, bench.command)
    except UsageError as error:
        return one_line(str(error), 500)
    judge = WholeProject(bench.ground, task, standing, bench.suite, bench.job.options, bench.job.options.seed or 0)
    return _child(bench, f"{CHILD}{number}:0", task.target, budget, judge)


def _plans(bench: AttemptContext, function: HotFunction) -> Iterator[FunctionPlan]:
    chosen = alone(bench.reach.get(function.target, ()))
    if chosen is not None:
        yield FunctionPlan(_as_words(bench.command), chosen)
    # Its tests may need what only the whole tree has; all of them come at the end in any case.
    yield FunctionPlan(_as_words(bench.command), None)
    if chosen is not None:
        yield FunctionPlan(chosen, None)


def _as_words(command: str) -> str:
    """Returns a line as a command that needs no shell to be read."""
    first = command.split()[0]
    return command if SHELL.isdisjoint(command) and "=" not in first else shlex.join(["/bin/sh", "-c", command])


def _child(
    bench: AttemptContext, key: str, target: str, budget: Budget, evaluator: Evaluator | None = None, **more: Any
) -> Result:
    """Begins the run of one function, or goes on with it.

    Args:
        bench: of the whole run.
        key: of the fact that names it.
        target: as after ``whet optimize``.
        budget: that is left.
        evaluator: judges its candidates; None opens the ladder.
        **more: options of its own.
    """
    home = bench.store.home

    def hear(event: Event) -> None:
        # The caps and the seconds that a user is shown are those of the whole run.
        data = {name: value for name, value in event.data.items() if name not in ("named", "budget", "worked")}
        if (run := data.pop("run", None)) is not None:
            # Stored before the run does anything else; the whole run is what a user resumes.
            bench.store.set_fact(bench.run, key, run)
        bench.listener(Event(event.kind, event.text, data))

    if (begun := bench.store.fact(bench.run, key)) is not None:
        return resume(begun, home=home, evaluator=evaluator, listener=hear)
    job, caps = bench.job, {f"budget_{name}": getattr(budget, name) for name in Budget.__slots__}
    given: dict[str, Any] = {name: getattr(job.options, name) for name in job.options.__slots__}
    return optimize(
        target,
        model=job.model,
        judge_model=job.judge_model,
        takeover=job.takeover,
        strategy=job.strategy,
        rounds=job.rounds,
        candidates=job.candidates,
        home=home,
        evaluator=evaluator,
        listener=hear,
        **caps,
        **{**given, **more},
    )
