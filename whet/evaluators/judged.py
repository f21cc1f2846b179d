"""A rewrite judged as a run of its own, from its beginning in the store to its result."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import replace

from whet.core.candidate import Candidate, content_id
from whet.core.condition import conditions_of, under
from whet.core.errors import BaselineError
from whet.core.events import Event, EventKind, Listener
from whet.core.front import front
from whet.core.measurement import gain_in
from whet.core.options import Options
from whet.core.plain import to_plain
from whet.core.removal import dropping_unusable
from whet.core.result import Cost, Counts, Result, Status, TaskName, Winner, status_of
from whet.core.rungs import place
from whet.core.store import Store, new_run
from whet.core.task import Task
from whet.core.verdict import Reason, Rung, RungStatus, Verdict
from whet.evaluators.protocol import Verifier


def drawn(settings: Options) -> int:
    """Returns the seed that the user gave, else a fresh one."""
    return settings.seed if settings.seed is not None else secrets.randbits(63)


def judged(
    store: Store,
    target: str,
    candidate: Candidate,
    ladder: Verifier,
    settings: Options,
    seed: int,
    start: float,
    listener: Listener,
    then: Callable[[str, Verdict], None] = lambda run, verdict: None,
    run: str = "",
) -> Result:
    """Judges a candidate as a run of its own, and records it.

    Args:
        store: where runs live.
        target: as the user wrote it.
        candidate: to judge.
        ladder: judges those of its task; closed at the end.
        settings: that the ladder was opened with.
        seed: that the ladder was opened with.
        start: when the work began, by ``time.perf_counter``.
        listener: hears what happens.
        then: is told the run and its verdict while the ladder is still open.
        run: its id, where that was told before; empty for a new one.
    """
    try:
        if not run:
            run = new_run()
            listener(named(run))
        begun(store, target, ladder.task, candidate, settings, seed, run, listener)
        with dropping_unusable(store, run):
            return ended(store, run, _climbed(store, run, candidate, ladder, settings, start, listener, then))
    finally:
        ladder.close()


def named(run: str) -> Event:
    """Returns the event that tells of a run before there is more of it."""
    return Event(EventKind.STAGE, f"run {run}", {"named": run})


def begun(
    store: Store,
    target: str,
    task: Task,
    candidate: Candidate,
    settings: Options,
    seed: int,
    run: str,
    listener: Listener,
) -> None:
    """Records the beginning of a run whose id was told before."""
    store.begin("verify", task.target, {"target": target, "options": to_plain(settings), "seed": seed}, run)
    store.set_fact(run, "task", to_plain(task))
    store.put(candidate.source)
    store.set_fact(run, f"candidate:{candidate.id}", to_plain(replace(candidate, source="")))
    listener(Event(EventKind.STAGE, f"run {run}", {"told": True}))


def ended(store: Store, run: str, result: Result) -> Result:
    """Records how a run ended."""
    store.finish(run, result.to_json())
    return result


def recorded(
    store: Store, run: str, task: Task, candidate: Candidate, verdict: Verdict, settings: Options, start: float
) -> Result:
    """Records a verdict and returns what it comes to."""
    store.set_fact(run, f"verdict:{candidate.id}", to_plain(verdict))
    result = _result(run, task, candidate, verdict, time.perf_counter() - start)
    rows = front(content_id(task.source), [(verdict, candidate.origin)], settings.metrics)
    return replace(result, front=rows, quick=settings.quick)


def _climbed(
    store: Store,
    run: str,
    candidate: Candidate,
    ladder: Verifier,
    settings: Options,
    start: float,
    listener: Listener,
    then: Callable[[str, Verdict], None],
) -> Result:
    task = ladder.task
    try:
        verdict = ladder.screen(candidate)
        if not verdict.failed:
            listener(Event(EventKind.STAGE, "validating the baseline"))
            ladder.validate()
    except BaselineError as error:
        spent = time.perf_counter() - start
        name = TaskName(task.name, task.language, task.target)
        return Result(run, name, Status.BASELINE_INVALID, None, None, (), Counts(), Cost(), spent, str(error))
    store.set_fact(run, "provenance", to_plain(ladder.provenance(store.put)))
    if not verdict.failed:
        listener(Event(EventKind.STAGE, "judging the candidate"))
        verdict = climb(ladder, candidate, listener)
    result = recorded(store, run, task, candidate, verdict, settings, start)
    then(run, verdict)
    return result


def climb(ladder: Verifier, candidate: Candidate, listener: Listener) -> Verdict:
    """Takes one candidate up the whole ladder."""
    verdict = Verdict(candidate.id, ())
    steps = (
        ("checking", lambda one, _: ladder.check(one)),
        ("measuring", ladder.measure_alone),
        ("confirming", ladder.confirm),
    )
    for state, step in steps:
        data = {"candidate": candidate.id, "origin": candidate.origin, "state": state}
        listener(Event(EventKind.CANDIDATE, state, data))
        shown = verdict.measurement
        verdict = step(candidate, verdict)
        if verdict.undecided and verdict.measurement is shown:
            verdict = replace(verdict, measurement=None)  # what a first look showed is no answer
        if verdict.failed or verdict.undecided:
            break
    rungs = list(verdict.rungs)
    if not (verdict.failed or verdict.undecided):
        before = sum(place(rung.name) < place("profile") for rung in rungs)
        rungs.insert(before, Rung("profile", RungStatus.SKIPPED, Reason.NOT_ASKED, "see whet optimize"))
    return Verdict(verdict.candidate, tuple(rungs), verdict.measurement)


def _result(run: str, task: Task, candidate: Candidate, verdict: Verdict, seconds: float) -> Result:
    failed = verdict.failed
    conditions = conditions_of(verdict.rungs)
    better = gain_in(verdict.measurement.speedup.metric) if verdict.measurement else ""
    if failed is not None and verdict.rejected:
        message = f"{failed.name}: {failed.reason}"
    elif verdict.undecided is not None:
        message = f"not decided at {verdict.undecided.name}: {verdict.undecided.detail}"
    elif verdict.confirmed:
        message = f"{better}, and confirmed{under(conditions)}"
    elif verdict.improved:
        message = f"measured {better}, but not confirmed: it was not asked for"
    elif verdict.too_few_inputs and (compared := verdict.rung("differential")) is not None:
        message = compared.detail
    elif (untimed := verdict.rung("measure")) is not None and untimed.reason is Reason.NO_DEVICE:
        message = "nothing wrong was found in what can be checked without a GPU; not timed"
    elif (compared := verdict.rung("differential")) is not None and compared.reason is Reason.TOOL_MISSING:
        message = f"nothing of it was run: {compared.detail}"
    elif (met := verdict.rung("differential")) is not None and met.reason is Reason.UNSUPPORTED_CPU:
        message = f"neither right nor wrong: {met.detail}"
    elif failed is not None:
        message = f"right, but {failed.reason}: {failed.detail}"
    else:
        message = f"right as far as it was checked{under(conditions)}; not timed"
    speedup = verdict.measurement.speedup if verdict.measurement and verdict.correct else None
    rejected = {} if failed is None or failed.reason is None else {failed.reason.value: 1}
    return Result(
        run=run,
        task=TaskName(task.name, task.language, task.target),
        status=status_of(verdict),
        speedup=speedup,
        candidate=Winner.of(candidate, task, verdict.measurement),
        rungs=verdict.rungs,
        candidates=Counts(1, 1, int(verdict.correct), rejected),
        cost=Cost(),
        seconds=seconds,
        message=message,
        conditions=conditions,
    )
