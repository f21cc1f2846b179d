"""The ladder alone, on anybody's rewrite: no model needed."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, overload

from whet.core.candidate import Candidate, content_id
from whet.core.condition import conditions_of, under
from whet.core.config import Options
from whet.core.errors import BaselineError, UsageError
from whet.core.events import Event, Kind, Listener, unheard
from whet.core.evidence import Replication
from whet.core.front import front
from whet.core.measurement import BETTER
from whet.core.patch import Malformed
from whet.core.patch_target import apply_to
from whet.core.plain import to_plain
from whet.core.removal import dropping_unusable
from whet.core.result import Cost, Counts, Result, Status, TaskName, Winner, status_of
from whet.core.store import Store, new_run
from whet.core.task import Task
from whet.core.verdict import RUNGS, Reason, Rung, RungStatus, Verdict
from whet.evaluators.at_once import decided_by_text
from whet.evaluators.environment import in_environment
from whet.evaluators.given_files import read_text
from whet.evaluators.protocol import Verifier
from whet.evaluators.targets import named_task, prepared

OURS = ("until", "python", "device", "arch", "sandbox", "unsafe", "workers", "seed")
"""Options that whoever repeats evidence chooses; the others are those of the record."""


@overload
def verify(
    target: str,
    *,
    candidate: str | Path | None = None,
    patch: str | Path | None = None,
    home: str | Path | None = None,
    listener: Listener = unheard,
    **options: Any,
) -> Result: ...


@overload
def verify(
    target: None = None,
    *,
    evidence: str | Path,
    signers: str | Path | None = None,
    home: str | Path | None = None,
    listener: Listener = unheard,
    **options: Any,
) -> Replication: ...


def verify(
    target: str | None = None,
    *,
    candidate: str | Path | None = None,
    patch: str | Path | None = None,
    evidence: str | Path | None = None,
    signers: str | Path | None = None,
    home: str | Path | None = None,
    listener: Listener = unheard,
    **options: Any,
) -> Result | Replication:
    """Judges a rewrite of a target, or repeats somebody's evidence.

    Args:
        target: as after ``whet verify``.
        candidate: a file that replaces the target's file.
        patch: a unified diff against the target's file, instead.
        evidence: a bundle, instead of target and rewrite.
        signers: a file of allowed signers; the bundle must be signed by one of them.
        home: the state directory; None is the default one.
        listener: hears what happens.
        **options: the fields of `whet.core.config.Options`.

    Returns:
        the document; its status is ``improved``, ``no_improvement``, ``rejected`` or ``baseline_invalid``. With
        ``evidence``, what agrees with it.

    Raises:
        UsageError: target, candidate, workload, evidence or an option cannot be used.
        Contradiction: the evidence contradicts itself.
        BaselineError: the baseline of the evidence cannot be used here.
    """
    start = time.perf_counter()
    settings = Options(**options)
    state = None if home is None else Path(home)
    if evidence is not None:
        from whet.evaluators.evidence.replication import replicate

        _expect_ours(settings, given=(target, candidate, patch))
        return replicate(Path(evidence), None if signers is None else Path(signers), settings, state, listener)
    if target is None:
        raise UsageError("give a TARGET, or --evidence FILE")
    if signers is not None:
        raise UsageError("--signers goes with --evidence FILE")
    settings = in_environment(target, settings)
    said: list[Event] = []
    task = named_task(target, settings, said.append)
    # Without a source of its own a task has what is compiled for it, which a patch is then of.
    proposed = _read(task, candidate, patch) if task.source else None
    store = Store(state)
    try:
        seed, run = drawn(settings), new_run()
        for event in (_named(run), *said):
            listener(event)
        task = prepared(task, settings, listener)
        proposed = proposed or _read(task, candidate, patch)
        if (verdict := decided_by_text(task, proposed, settings)) is not None:
            _begun(store, target, task, proposed, settings, seed, run, listener)
            return _ended(store, run, _recorded(store, run, task, proposed, verdict, settings, start))
        from whet.evaluators.ladder import open_ladder  # takes longer than all that comes before

        ladder = open_ladder(task, settings, seed, listener, store=store)
        return judged(store, target, proposed, ladder, settings, seed, start, listener, run=run)
    finally:
        store.close()


def drawn(settings: Options) -> int:
    """Returns the seed that the user gave, else a fresh one."""
    return settings.seed if settings.seed is not None else secrets.randbits(63)


def _expect_ours(settings: Options, given: tuple[object, ...]) -> None:
    if any(one is not None for one in given):
        raise UsageError("--evidence FILE brings its own target and rewrite; leave out TARGET, --candidate and --patch")
    for field in fields(Options):
        if field.name not in OURS and getattr(settings, field.name) != field.default:
            raise UsageError(f"--{field.name.replace('_', '-')} is that of the evidence; leave it out")


def _read(task: Task, candidate: str | Path | None, patch: str | Path | None) -> Candidate:
    if (candidate is None) == (patch is None):
        raise UsageError("give either --candidate FILE or --patch FILE")
    if candidate is not None:
        return Candidate(
            read_text(_file(candidate, "--candidate")), content_id(task.source), f"file:{Path(candidate).name}"
        )
    assert patch is not None
    text = read_text(_file(patch, "--patch"))
    source = apply_to(text, task.path.name, task.source)
    if isinstance(source, Malformed):
        raise UsageError(f"--patch {patch} does not fit {task.filename}: {source.complaint}")
    return Candidate(source, content_id(task.source), f"patch:{Path(patch).name}")


def _file(path: str | Path, option: str) -> Path:
    file = Path(path).expanduser()
    if not file.is_file():
        raise UsageError(f"{option} {path}: no such file")
    return file


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
            listener(_named(run))
        _begun(store, target, ladder.task, candidate, settings, seed, run, listener)
        with dropping_unusable(store, run):
            return _ended(store, run, _climbed(store, run, candidate, ladder, settings, start, listener, then))
    finally:
        ladder.close()


def _named(run: str) -> Event:
    return Event(Kind.STAGE, f"run {run}", {"named": run})


def _begun(
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
    listener(Event(Kind.STAGE, f"run {run}", {"told": True}))


def _ended(store: Store, run: str, result: Result) -> Result:
    store.finish(run, result.to_json())
    return result


def _recorded(
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
            listener(Event(Kind.STAGE, "validating the baseline"))
            ladder.validate()
    except BaselineError as error:
        spent = time.perf_counter() - start
        name = TaskName(task.name, task.language, task.target)
        return Result(run, name, Status.BASELINE_INVALID, None, None, (), Counts(), Cost(), spent, str(error))
    store.set_fact(run, "provenance", to_plain(ladder.provenance(store.put)))
    if not verdict.failed:
        listener(Event(Kind.STAGE, "judging the candidate"))
        verdict = climb(ladder, candidate, listener)
    result = _recorded(store, run, task, candidate, verdict, settings, start)
    then(run, verdict)
    return result


def climb(ladder: Verifier, candidate: Candidate, listener: Listener) -> Verdict:
    """Takes one candidate up the whole ladder."""
    for state, step in (("checking", None), ("measuring", ladder.measure), ("confirming", ladder.confirm)):
        listener(Event(Kind.CANDIDATE, state, {"candidate": candidate.id, "origin": candidate.origin, "state": state}))
        if step is None:
            verdict = ladder.check(candidate)
        elif state == "measuring":
            verdict = ladder.measure_alone(candidate, verdict)
        else:
            verdict = ladder.confirm(candidate, verdict)
        if verdict.failed or verdict.undecided:
            break
    rungs = list(verdict.rungs)
    if not (verdict.failed or verdict.undecided):
        rungs.insert(RUNGS.index("profile"), Rung("profile", RungStatus.SKIPPED, Reason.NOT_ASKED, "see whet optimize"))
    return Verdict(verdict.candidate, tuple(rungs), verdict.measurement)


def _result(run: str, task: Task, candidate: Candidate, verdict: Verdict, seconds: float) -> Result:
    failed = verdict.failed
    conditions = conditions_of(verdict.rungs)
    better = BETTER[verdict.measurement.speedup.metric] if verdict.measurement else ""
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
