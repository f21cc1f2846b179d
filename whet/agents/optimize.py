"""The main job as a library: begin a run, resume one, replay one."""

from __future__ import annotations

import math
import os
import secrets
import time
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from whet.agents.budget import default_budget
from whet.agents.checkpoints import UNASKED, forget, unasked
from whet.agents.delivery import deliver, expect_writable
from whet.agents.desk import Desk
from whet.agents.dialogue import Dialogue, Person, Recorded
from whet.agents.distinct import Distinct
from whet.agents.evaluations import BASELINE, Evaluations, StoredEvaluations
from whet.agents.facts import Facts, SearchPlan
from whet.agents.history import WORKED, Caps, History
from whet.agents.job import RunRequest, absolute_paths, absolute_spec, store_task, stored_task
from whet.agents.judges import Here, Judges, judges_of
from whet.agents.known_best import KnownBest
from whet.agents.models.base import Model
from whet.agents.models.in_turn import parts
from whet.agents.models.manual import tell_by_hand
from whet.agents.models.reach import expect_reachable
from whet.agents.models.registry import open_model
from whet.agents.models.replay import ReplayModel
from whet.agents.outcome import Spent, concluded, recorded, unusable
from whet.agents.person import Words
from whet.agents.pinned import Pinned
from whet.agents.predictions import Predictions
from whet.agents.preparing import Ready, cut_short, ready, reopened, with_workload
from whet.agents.prices import load_prices
from whet.agents.proposing import Proposing
from whet.agents.remembering import REMEMBERED, Remembering
from whet.agents.repairs import Repairs
from whet.agents.strategies import open_strategy
from whet.agents.time_cap import replayed, turned
from whet.agents.workload_author import CALLERS, DECIDED
from whet.core.ahead import import_ahead
from whet.core.belonging import repository_of
from whet.core.config import load_project_config, or_configured
from whet.core.errors import BaselineError, UnaskedError, UsageError
from whet.core.events import Event, EventKind, Listener, null_listener
from whet.core.measurement import told_as
from whet.core.options import Budget, Options
from whet.core.plain import from_plain, to_plain
from whet.core.removal import dropping_unusable
from whet.core.result import Cost, Result, Status
from whet.core.store import Store, new_run
from whet.core.task import Task
from whet.evaluators.assembly.texts import expect_tools
from whet.evaluators.environment import in_environment
from whet.evaluators.given_files import read_text
from whet.evaluators.inputs.literals import callers
from whet.evaluators.protocol import Evaluator
from whet.evaluators.targets import named_task
from whet.sandbox.workers.base import Executor

DELIVERED = "delivered"


def optimize(
    target: str,
    *,
    model: str | Model | None = None,
    judge_model: str | Model | None = None,
    takeover: str | Model | None = None,
    known_best: str | Path | None = None,
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
    remember: bool | None = None,
    shared_limits: bool = False,
    home: str | Path | None = None,
    evaluator: Evaluator | None = None,
    executor: Executor | None = None,
    listener: Listener = null_listener,
    person: Person | None = None,
    began: float | None = None,
    **options: Any,
) -> Result:
    """Makes a target faster, and proves it.

    Args:
        target: as after ``whet optimize``.
        model: the Coder's: a spec as after ``--model``, or a model; None takes the project's configuration,
            then ``WHET_MODEL``, then ``catalogue``.
        judge_model: the Judge's; None takes the configuration, then the Coder's.
        takeover: drafts in the Coder's place once that stalls; None for nobody.
        known_best: a file with a version that is known to be good; the run ends once it comes up to that.
        strategy: how the next candidates are chosen.
        rounds: at most.
        candidates: asked for a round.
        budget_usd: cap in US dollars; for each cap that is None the project's configuration.
        budget_tokens: cap on input and output tokens together.
        budget_calls: cap on model calls.
        budget_candidates: cap on distinct candidates evaluated.
        budget_seconds: cap on wall time.
        apply: write the improved source over the target, where the target is still what it was.
        output: a file for the improved source.
        remember: whether the models are told what earlier runs found out, and later ones what this one does; None takes
            the project's configuration.
        shared_limits: what a provider takes, at once and a minute, is shared with all other runs of the store that
            share it, in other processes too.
        home: the state directory; None is the default one.
        evaluator: judges the candidates; None opens the ladder. It is closed at the end.
        executor: does the work of evaluation, and stays open; None opens the one that the options name, if any.
        listener: hears what happens; several threads may call it.
        person: is asked before each round, in this thread; None where nobody takes part.
        began: when the time began to run, by ``time.monotonic``; None is now.
        **options: the fields of `whet.core.options.Options`.

    Returns:
        the document; its status is ``improved``, ``no_improvement``, ``budget_exhausted`` or ``baseline_invalid``.

    Raises:
        UsageError: target, model, workload or an option cannot be used. A model of which no reply ever came, since
            nobody listens there or its key is refused, is one of these; the run can be resumed where it has begun.
    """
    began = time.monotonic() if began is None else began
    for name, number in (("--rounds", rounds), ("--candidates", candidates)):
        if number < 1:
            raise UsageError(f"{name} {number} is below 1")
    open_strategy(strategy)
    settings = absolute_paths(in_environment(target, Options(**options)))
    given = Budget(budget_usd, budget_tokens, budget_calls, budget_candidates, budget_seconds)
    said: list[Event] = []
    task = evaluator.task if evaluator is not None else named_task(target, settings, said.append)
    expect_tools(task)
    known = None if known_best is None else read_text(Path(known_best).expanduser())
    destination = None if output is None else Path(output).expanduser().absolute()
    expect_writable(task, apply, destination)
    config = load_project_config(task.path.parent)
    coder = absolute_spec(model or config.model or os.environ.get("WHET_MODEL") or "catalogue")
    judge = absolute_spec(judge_model or config.judge_model or coder)
    remembers = config.remember if remember is None else remember
    with ExitStack() as stack:
        store = stack.enter_context(closing(Store(None if home is None else Path(home))))
        models = _open(store, task, coder, judge, takeover and absolute_spec(takeover))
        prices = load_prices(config.prices)
        budget = default_budget(or_configured(given, config), models, prices)
        expect_reachable(*models)
        replayed = next((one.run for model in models for one in parts(model) if isinstance(one, ReplayModel)), None)
        seed = secrets.randbits(63) if settings.seed is None else settings.seed
        judges = stack.enter_context(judges_of(settings.cluster, store, listener, executor))
        import_ahead("whet.agents.loop")  # while the sandbox is opened
        run, start = new_run(), None if evaluator is None else Ready(task, evaluator)
        if evaluator is None:
            for event in (Event(EventKind.STAGE, f"run {run}", {"named": run}), *said):
                listener(event)
            left = math.inf if budget.seconds is None else budget.seconds - (time.monotonic() - began)
            start = ready(judges, task, settings, seed, models[0], listener, left)
        task = task if start is None else start.task
        job = RunRequest(
            task=store_task(store, task),
            options=settings,
            model=models[0].name,
            judge_model=models[1].name,
            takeover=models[2].name if models[2:] else "",
            strategy=strategy,
            rounds=rounds,
            candidates=candidates,
            budget=budget,
            prices=prices.of(models),
            seed=seed,
            apply=apply,
            output=destination,
            author=start is not None and start.author,
            interactive=person is not None,
            known_best="" if known is None else store.put(known),
            repository=repository_of(task.path) if remembers and replayed is None else "",
            free=models[0].free,
            shared=shared_limits,
        )
        store.begin("optimize", task.target, to_plain(job), run)
        store.set_fact(run, "task", store_task(store, task))  # again: see Store.begin
        if known is not None:
            store.put(known)
        if replayed is not None:
            _tell_again(store, run, replayed)
        if job.author and task.symbol is not None:
            store.set_fact(run, CALLERS, callers(task.path, task.symbol))
        if start is None:
            return cut_short(store, run, task, Spent(Cost(), time.monotonic() - began))
        with dropping_unusable(store, run):
            told = evaluator is None
            return _work(store, run, job, judges, start.evaluator, models, listener, person, began, told)


def resume(
    run: str,
    *,
    model: Model | None = None,
    judge_model: Model | None = None,
    takeover: Model | None = None,
    home: str | Path | None = None,
    evaluator: Evaluator | None = None,
    executor: Executor | None = None,
    cluster: str | None = None,
    listener: Listener = null_listener,
    person: Person | None = None,
) -> Result:
    """Goes on with an interrupted run: no recorded reply is asked for again, no evaluation repeated.

    So does a finished one that ended because a model could not be asked: its last round is asked again.

    Args:
        run: its id.
        model: the Coder's, where the run was begun with one that no spec names.
        judge_model: the same for the Judge.
        takeover: the same for the one that takes over.
        home: the state directory; None is the default one.
        evaluator: judges the candidates; None opens the ladder.
        executor: does the work of evaluation, and stays open; None opens the one that ``cluster`` names, if any.
        cluster: who evaluates from now on, as after ``--workers``; None is who did when the run was begun.
        listener: hears what happens.
        person: who takes part, where one did when it was begun; what they said before is not asked again.

    Returns:
        the document; that of a finished run as it was recorded.

    Raises:
        UsageError: there is no such run, or it cannot be resumed.
    """
    began = time.monotonic()
    with ExitStack() as stack:
        store = stack.enter_context(closing(Store(None if home is None else Path(home))))
        record = store.run(run)
        if record.command != "optimize":
            raise UsageError(f"run {run} is of whet {record.command}, which is not resumed; run it again")
        job = from_plain(RunRequest, record.request)
        if record.result is not None and (job.replays is not None or not unasked(store, run)):
            forget(store, run)
            return recorded(store, record)
        if not store.hold(run):
            raise UsageError(f"run {run} is being worked on by another process")
        if job.replays is not None:
            return _repeat(store, run, job, evaluator, listener)
        if job.interactive and person is None:
            raise UsageError(f"run {run} asks a person, and none is here; resume it on a terminal, without --json")
        task = stored_task(store, run, job)
        judge = judge_model or model or job.judge_model
        models = _open(store, task, model or job.model, judge, takeover or job.takeover)
        cluster = job.options.cluster if cluster is None else cluster
        judges = stack.enter_context(judges_of(cluster, store, listener, executor))
        import_ahead("whet.agents.loop")  # while the sandbox is opened
        evaluator = evaluator or reopened(judges, store, run, job, task, listener, began)
        store.reopen(run)
        return _work(store, run, job, judges, evaluator, models, listener, person, began)


def replay(
    run: str,
    *,
    remeasure: bool = False,
    home: str | Path | None = None,
    evaluator: Evaluator | None = None,
    listener: Listener = null_listener,
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
    with closing(Store(None if home is None else Path(home))) as store:
        record = store.run(run)
        if record.command != "optimize":
            raise UsageError(f"run {run} is of whet {record.command}, which is not replayed; run it again")
        recorded(store, record)
        job = from_plain(RunRequest, record.request)
        again = replace(
            job,
            apply=False,
            output=None,
            replays=job.replays or run,
            remeasure=remeasure,
            seed=secrets.randbits(63),
        )
        new = store.begin("optimize", record.target, to_plain(again))
        store.set_fact(new, "task", store.fact(run, "task") or job.task)
        return _repeat(store, new, again, evaluator, listener)


def _tell_again(store: Store, run: str, past: str) -> None:
    """Has the models of a run told what those of a past one were: else its replies would answer other prompts."""
    store.set_fact(run, REMEMBERED, store.fact(past, REMEMBERED) or [])


def _repeat(store: Store, run: str, job: RunRequest, evaluator: Evaluator | None, listener: Listener) -> Result:
    assert job.replays is not None
    task = stored_task(store, run, job)
    Caps(store, run, None).copy(job.replays)
    _tell_again(store, run, job.replays)
    fresh = (evaluator or Here().opened(task, job.options, job.seed)) if job.remeasure else None
    stored = StoredEvaluations(store, job.replays, task, fresh)
    person = Recorded(Words(store, job.replays, task.source), job.replays) if job.interactive else None
    models: list[Model] = [ReplayModel(store, job.replays)] * (3 if job.takeover else 2)
    return _work(store, run, job, Here(), stored, models, listener, person)


def _work(
    store: Store,
    run: str,
    job: RunRequest,
    judges: Judges,
    evaluator: Evaluator | None,
    models: list[Model],
    listener: Listener,
    person: Person | None,
    began: float | None = None,
    told: bool = False,
) -> Result:
    """Turns the loop to its end and records what came of it; an exception leaves the run resumable."""
    worked = float(store.fact(run, WORKED) or 0.0)
    data = {"run": run, "budget": to_plain(job.budget), "worked": worked, "told": told}
    listener(Event(EventKind.STAGE, f"run {run}", data))
    tell_by_hand(models, listener)
    try:
        task = stored_task(store, run, job)
        desk = Desk.of(store, run, job, load_project_config(task.path.parent), began)
        start = Ready(task, evaluator)
        if job.author and job.replays is None and store.fact(run, DECIDED) is None:
            found = with_workload(store, run, job, judges, start, models[0], desk, listener)
            if found is None:
                return cut_short(store, run, task, Spent(desk.ledger.cost(), desk.watch.seconds))
            start = found
    except BaseException:
        if evaluator is not None:
            evaluator.close()
        raise
    if start.evaluator is not None:
        return _looped(store, run, job, judges, start.evaluator, models, desk, listener, person)
    store.set_fact(run, BASELINE, {"message": start.lacking, "reason": "no_inputs"})
    result = unusable(run, start.task, start.lacking, Spent(desk.ledger.cost(), desk.watch.seconds))
    desk.ledger.close()
    store.finish(run, result.to_json())
    return result


def _looped(
    store: Store,
    run: str,
    job: RunRequest,
    judges: Judges,
    evaluator: Evaluator,
    models: list[Model],
    desk: Desk,
    listener: Listener,
    person: Person | None,
) -> Result:
    """Turns the loop to its end and records what came of it."""
    from whet.agents.loop import Loop  # imports langgraph, which takes as long as all else

    words = Words(store, run, evaluator.task.source)
    judges.begun(run, evaluator)
    if person is not None and job.replays is None:
        evaluator = Pinned(evaluator, lambda: words.until(job.rounds))
    evaluations = Evaluations(store, run, evaluator)
    try:
        task = evaluations.task
        history = History(store, run)
        plan = SearchPlan(
            rounds=job.rounds,
            candidates=job.candidates,
            most=job.budget.candidates,
            workers=judges.checks(job.options.workers),
            metric=told_as(job.options.metrics[0]),
            cores=job.options.cores,
            others=job.options.metrics[1:],
            constraints=job.options.constraints,
            looks=judges.looks,
        )
        repository = job.repository if job.replays is None else ""
        past = Remembering(store, run, evaluations, plan.metric, repository, listener)
        strategy = open_strategy(job.strategy, free=job.free)
        facts = Facts(evaluations, history, strategy, plan, said=words.until, remembered=past.told)
        asking, distinct = desk.asking, Distinct(evaluations)
        loop = Loop(
            store=store,
            run=run,
            evaluations=evaluations,
            proposing=Proposing(store, facts, history, distinct, desk.ledger, desk.caps, asking, desk.watch),
            ledger=desk.ledger,
            coder=models[0],
            judge=models[1],
            takeover=models[2] if models[2:] else None,
            facts=facts,
            history=history,
            predictions=Predictions(store, run, history, evaluations),
            plan=plan,
            caps=desk.caps,
            asking=asking,
            watch=desk.watch,
            listener=listener,
            known_best=KnownBest.of(evaluations, store.get(job.known_best)) if job.known_best else None,
            dialogue=None if person is None else Dialogue(person, words, facts, history, evaluations),
            repairs=Repairs(store, evaluations, distinct, facts, history, asking, desk.ledger.ask),
        )
        lines: list[str] = []
        kept = False
        try:
            if job.replays is not None:
                state = replayed(loop.turn, store, run, job.replays, evaluations)
            elif person is not None:  # who is asked in this thread
                state = loop.turn()
            else:
                state = turned(loop.turn, desk.caps, store, run, evaluations, desk.ledger)
            spent = Spent(desk.ledger.cost(), desk.watch.seconds)
            result = concluded(run, state, evaluations, history, spent, job.options.metrics)
            kept = state["ended"] == UNASKED
            past.keep(history.seen(state["round"]), result)
        except BaselineError as error:
            result = unusable(run, task, str(error), Spent(desk.ledger.cost(), desk.watch.seconds))
        finally:
            desk.ledger.close()
        if result.candidate is not None and (result.status is Status.IMPROVED or task.untimed):
            lines += _delivered(store, run, job, task, result.candidate.id)
        why, back = result.message, f"once that is mended, go on with: whet runs resume {job.replays or run}"
        lines += [back] if kept else []
        result = replace(result, message="; ".join([why, *lines]), quick=job.options.quick)
        store.finish(run, result.to_json())
        if not kept or job.replays is not None:
            forget(store, run)
        elif not desk.ledger.answered:
            raise UnaskedError(why, back)
        return result
    finally:
        judges.ended(run)
        evaluations.close()


def _delivered(store: Store, run: str, job: RunRequest, task: Task, winner: str) -> list[str]:
    """Writes the winner where it was asked for; a run that went on after an end may replace what it wrote then."""
    earlier = store.fact(run, DELIVERED) or []
    if job.apply:
        store.set_fact(run, DELIVERED, [*earlier, winner])
    return deliver(store.get(winner), task, job.apply, job.output, [store.get(id) for id in earlier])


def _open(
    store: Store, task: Task, coder: str | Model, judge: str | Model, takeover: str | Model | None
) -> list[Model]:
    """Returns the Coder's model, the Judge's, and the one that takes over, if any; one where they are written alike."""
    config = load_project_config(task.path.parent)

    def past(run: str) -> Model:
        return ReplayModel(store, run)

    def opened(model: str | Model) -> Model:
        return open_model(model, config=config, replay=past) if isinstance(model, str) else model

    first = opened(coder)
    second = first if judge == coder else opened(judge)
    return [first, second, *([opened(takeover)] if takeover else [])]
