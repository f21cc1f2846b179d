"""The main job as a library: begin a run, resume one, replay one."""

from __future__ import annotations

import os
import secrets
from dataclasses import replace
from pathlib import Path
from typing import Any

from whet.agents.budget import BudgetMeter, default_budget
from whet.agents.delivery import deliver, expect_writable
from whet.agents.evaluations import Evaluations, StoredEvaluations
from whet.agents.facts import Facts, Plan
from whet.agents.history import Caps, History, Stopwatch
from whet.agents.job import Job, absolute_paths, absolute_spec, store_task, stored_task
from whet.agents.ledger import Ledger
from whet.agents.loop import Loop, forget
from whet.agents.models.base import Model
from whet.agents.models.registry import open_model
from whet.agents.models.replay import ReplayModel
from whet.agents.outcome import Spent, concluded, recorded, unusable
from whet.agents.prices import load_prices
from whet.agents.strategies import open_strategy
from whet.core.config import Budget, Options, load_project_config
from whet.core.errors import BaselineError, UsageError
from whet.core.events import Event, Kind, Listener, unheard
from whet.core.plain import from_plain, to_plain
from whet.core.result import Result, Status
from whet.core.store import Store
from whet.core.task import Task
from whet.evaluators.ladder import open_ladder
from whet.evaluators.protocol import Evaluator
from whet.evaluators.targets import read_task


def optimize(
    target: str,
    *,
    model: str | Model | None = None,
    judge_model: str | Model | None = None,
    strategy: str = "auto",
    rounds: int = 8,
    candidates: int = 4,
    budget_usd: float | None = None,
    budget_tokens: int | None = None,
    budget_calls: int | None = None,
    budget_candidates: int | None = None,
    budget_seconds: float | None = None,
    apply: bool = False,
    output: str | Path | None = None,
    home: str | Path | None = None,
    evaluator: Evaluator | None = None,
    listener: Listener = unheard,
    **options: Any,
) -> Result:
    """Makes a target faster, and proves it.

    Args:
        target: as after ``whet optimize``.
        model: the Coder's: a spec as after ``--model``, or a model; None takes the project's configuration,
            then ``WHET_MODEL``, then ``catalogue``.
        judge_model: the Judge's; None takes the configuration, then the Coder's.
        strategy: how the next candidates are chosen.
        rounds: at most.
        candidates: asked for a round.
        budget_usd: cap in US dollars.
        budget_tokens: cap on input and output tokens together.
        budget_calls: cap on model calls.
        budget_candidates: cap on distinct candidates evaluated.
        budget_seconds: cap on wall time.
        apply: write the improved source over the target, where the target is still what it was.
        output: a file for the improved source.
        home: the state directory; None is the default one.
        evaluator: judges the candidates; None opens the ladder. It is closed at the end.
        listener: hears what happens; several threads may call it.
        **options: the fields of `whet.core.config.Options`.

    Returns:
        the document; its status is ``improved``, ``no_improvement``, ``budget_exhausted`` or
        ``baseline_invalid``.

    Raises:
        UsageError: target, model, workload or an option cannot be used.
    """
    for name, number in (("--rounds", rounds), ("--candidates", candidates)):
        if number < 1:
            raise UsageError(f"{name} {number} is below 1")
    open_strategy(strategy)
    settings = absolute_paths(Options(**options))
    budget = Budget(budget_usd, budget_tokens, budget_calls, budget_candidates, budget_seconds)
    task = evaluator.task if evaluator is not None else read_task(target, settings)
    destination = None if output is None else Path(output).expanduser().absolute()
    expect_writable(task, apply, destination)
    config = load_project_config(task.path.parent)
    coder = absolute_spec(model or config.model or os.environ.get("WHET_MODEL") or "catalogue")
    judge = absolute_spec(judge_model or config.judge_model or coder)
    store = Store(None if home is None else Path(home))
    try:
        models = _open(store, task, coder, judge)
        job = Job(
            task=store_task(store, task),
            options=settings,
            model=models[0].name,
            judge_model=models[1].name,
            strategy=strategy,
            rounds=rounds,
            candidates=candidates,
            budget=default_budget(budget, models, load_prices(config.prices)),
            seed=secrets.randbits(63) if settings.seed is None else settings.seed,
            apply=apply,
            output=destination,
        )
        evaluator = evaluator or open_ladder(task, settings, job.seed, listener)
        run = store.begin("optimize", task.target, to_plain(job))
        store.set_fact(run, "task", job.task)
        return _work(store, run, job, evaluator, models, listener)
    finally:
        store.close()


def resume(
    run: str,
    *,
    model: Model | None = None,
    judge_model: Model | None = None,
    home: str | Path | None = None,
    evaluator: Evaluator | None = None,
    listener: Listener = unheard,
) -> Result:
    """Goes on with an interrupted run: no recorded reply is asked for again, no evaluation repeated.

    Args:
        run: its id.
        model: the Coder's, where the run was begun with one that no spec names.
        judge_model: the same for the Judge.
        home: the state directory; None is the default one.
        evaluator: judges the candidates; None opens the ladder.
        listener: hears what happens.

    Returns:
        the document; that of a finished run as it was recorded.

    Raises:
        UsageError: there is no such run, or it cannot be resumed.
    """
    store = Store(None if home is None else Path(home))
    try:
        record = store.run(run)
        if record.command != "optimize":
            raise UsageError(f"run {run} is of whet {record.command}, which is not resumed; run it again")
        if record.result is not None:
            forget(store, run)
            return recorded(store, record)
        if not store.hold(run):
            raise UsageError(f"run {run} is being worked on by another process")
        job = from_plain(Job, record.request)
        if job.replays is not None:
            return _repeat(store, run, job, evaluator, listener)
        task = stored_task(store, job)
        models = _open(store, task, model or job.model, judge_model or model or job.judge_model)
        evaluator = evaluator or open_ladder(task, job.options, job.seed, listener)
        return _work(store, run, job, evaluator, models, listener)
    finally:
        store.close()


def replay(
    run: str,
    *,
    remeasure: bool = False,
    home: str | Path | None = None,
    evaluator: Evaluator | None = None,
    listener: Listener = unheard,
) -> Result:
    """Repeats a finished run from its ledger and its stored verdicts, as a run of its own, at no cost.

    Args:
        run: its id.
        remeasure: time the winner anew.
        home: the state directory; None is the default one.
        evaluator: times the winner; None opens the ladder.
        listener: hears what happens.

    Returns:
        the document.

    Raises:
        UsageError: there is no such run, it is not finished, or its record has a hole.
    """
    store = Store(None if home is None else Path(home))
    try:
        record = store.run(run)
        if record.command != "optimize":
            raise UsageError(f"run {run} is of whet {record.command}, which is not replayed; run it again")
        recorded(store, record)
        job = from_plain(Job, record.request)
        again = replace(
            job,
            apply=False,
            output=None,
            replays=job.replays or run,
            remeasure=remeasure,
            seed=secrets.randbits(63),
        )
        new = store.begin("optimize", record.target, to_plain(again))
        store.set_fact(new, "task", again.task)
        return _repeat(store, new, again, evaluator, listener)
    finally:
        store.close()


def _repeat(store: Store, run: str, job: Job, evaluator: Evaluator | None, listener: Listener) -> Result:
    assert job.replays is not None
    task = stored_task(store, job)
    Caps(store, run, None).copy(job.replays)
    fresh = (evaluator or open_ladder(task, job.options, job.seed)) if job.remeasure else None
    stored = StoredEvaluations(store, job.replays, task, fresh)
    return _work(store, run, job, stored, [ReplayModel(store, job.replays)] * 2, listener)


def _work(store: Store, run: str, job: Job, evaluator: Evaluator, models: list[Model], listener: Listener) -> Result:
    """Turns the loop to its end and records what came of it; an exception leaves the run resumable."""
    listener(Event(Kind.STAGE, f"run {run}", {"run": run}))
    evaluations = Evaluations(store, run, evaluator)
    watch = Stopwatch(store, run)
    try:
        budget = job.budget
        if budget.seconds is not None:
            budget = replace(budget, seconds=max(0.0, budget.seconds - watch.seconds))
        task = evaluations.task
        meter = BudgetMeter(budget, load_prices(load_project_config(task.path.parent).prices))
        history = History(store, run)
        plan = Plan(
            rounds=job.rounds,
            candidates=job.candidates,
            most=job.budget.candidates,
            workers=job.options.workers,
            metric=job.options.metric,
            cores=job.options.cores,
        )
        ledger = Ledger(store, run, meter)
        loop = Loop(
            store=store,
            run=run,
            evaluations=evaluations,
            ledger=ledger,
            coder=models[0],
            judge=models[1],
            facts=Facts(evaluations, history, open_strategy(job.strategy), plan),
            history=history,
            plan=plan,
            caps=Caps(store, run, None if job.replays else meter),
            watch=watch,
            listener=listener,
        )
        try:
            state = loop.turn()
            result = concluded(run, state, evaluations, history, Spent(ledger.cost(), watch.seconds))
        except BaselineError as error:
            result = unusable(run, task, str(error), Spent(ledger.cost(), watch.seconds))
        if result.candidate is not None and result.status is Status.IMPROVED:
            lines = deliver(result.candidate.source, task, job.apply, job.output)
            result = replace(result, message="; ".join([result.message, *lines]))
        store.finish(run, result.to_json())
        forget(store, run)
        return result
    finally:
        evaluations.close()


def _open(store: Store, task: Task, coder: str | Model, judge: str | Model) -> list[Model]:
    """Returns the Coder's model and the Judge's; the same one where both are written alike."""
    config = load_project_config(task.path.parent)

    def past(run: str) -> Model:
        return ReplayModel(store, run)

    def opened(model: str | Model) -> Model:
        return open_model(model, config=config, replay=past) if isinstance(model, str) else model

    first = opened(coder)
    return [first, first if judge == coder else opened(judge)]
