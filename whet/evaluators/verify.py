"""The ladder alone, on anybody's rewrite: no model needed."""

from __future__ import annotations

import secrets
import time
from pathlib import Path
from typing import Any

from whet.core.candidate import Candidate, content_id
from whet.core.config import Options
from whet.core.errors import BaselineError, UsageError
from whet.core.events import Event, Kind, Listener, unheard
from whet.core.measurement import BETTER
from whet.core.patch import Malformed, apply_patch, files_changed
from whet.core.plain import to_plain
from whet.core.result import Cost, Counts, Result, Status, TaskName, Winner
from whet.core.store import Store
from whet.core.task import Task
from whet.core.verdict import RUNGS, Reason, Rung, RungStatus, Verdict
from whet.evaluators.ladder import Ladder, open_ladder
from whet.evaluators.targets import read_task, read_text


def verify(
    target: str,
    *,
    candidate: str | Path | None = None,
    patch: str | Path | None = None,
    home: Path | None = None,
    listener: Listener = unheard,
    **options: Any,
) -> Result:
    """Judges a rewrite of a target.

    Args:
        target: as after ``whet verify``.
        candidate: a file that replaces the target's file.
        patch: a unified diff against the target's file, instead.
        home: the state directory; None is the default one.
        listener: hears what happens.
        **options: the fields of `whet.core.config.Options`.

    Returns:
        the document; its status is ``improved``, ``no_improvement``, ``rejected`` or ``baseline_invalid``.

    Raises:
        UsageError: target, candidate, workload or an option cannot be used.
    """
    start = time.perf_counter()
    settings = Options(**options)
    task = read_task(target, settings)
    proposed = _read(task, candidate, patch)
    store = Store(home)
    try:
        seed = settings.seed if settings.seed is not None else secrets.randbits(63)
        request = {"target": target, "options": to_plain(settings), "seed": seed}
        run = store.begin("verify", task.target, request)
        store.set_fact(run, "task", to_plain(task))
        store.set_fact(run, f"candidate:{proposed.id}", {"text": store.put(proposed.source), "origin": proposed.origin})
        result = _judged(run, task, proposed, settings, seed, start, listener, store)
        store.finish(run, result.to_json())
        return result
    finally:
        store.close()


def _read(task: Task, candidate: str | Path | None, patch: str | Path | None) -> Candidate:
    if (candidate is None) == (patch is None):
        raise UsageError("give either --candidate FILE or --patch FILE")
    if candidate is not None:
        return Candidate(
            read_text(_file(candidate, "--candidate")), content_id(task.source), f"file:{Path(candidate).name}"
        )
    assert patch is not None
    text = read_text(_file(patch, "--patch"))
    if others := sorted(name for name in files_changed(text) if Path(name).name != task.path.name):
        raise UsageError(f"--patch {patch} changes {others[0]}; only the target, {task.filename}, may change")
    source = apply_patch(text, task.source)
    if isinstance(source, Malformed):
        raise UsageError(f"--patch {patch} does not fit {task.filename}: {source.complaint}")
    return Candidate(source, content_id(task.source), f"patch:{Path(patch).name}")


def _file(path: str | Path, option: str) -> Path:
    file = Path(path).expanduser()
    if not file.is_file():
        raise UsageError(f"{option} {path}: no such file")
    return file


def _judged(
    run: str,
    task: Task,
    candidate: Candidate,
    settings: Options,
    seed: int,
    start: float,
    listener: Listener,
    store: Store,
) -> Result:
    ladder = open_ladder(task, settings, seed)
    try:
        listener(Event(Kind.STAGE, "validating the baseline"))
        try:
            ladder.validate()
        except BaselineError as error:
            spent = time.perf_counter() - start
            name = TaskName(task.name, task.language, task.target)
            return Result(run, name, Status.BASELINE_INVALID, None, None, (), Counts(), Cost(), spent, str(error))
        verdict = climb(ladder, candidate, listener)
    finally:
        ladder.close()
    store.set_fact(run, f"verdict:{candidate.id}", to_plain(verdict))
    return _result(run, task, candidate, verdict, time.perf_counter() - start)


def climb(ladder: Ladder, candidate: Candidate, listener: Listener) -> Verdict:
    """Takes one candidate up the whole ladder."""
    for state, step in (("checking", None), ("measuring", ladder.measure), ("confirming", ladder.confirm)):
        listener(Event(Kind.CANDIDATE, state, {"candidate": candidate.id, "origin": candidate.origin, "state": state}))
        if step is None:
            verdict = ladder.check(candidate)
        elif state == "measuring":
            verdict = ladder.measure(candidate, verdict, ladder.looks.verdict)
        else:
            verdict = ladder.confirm(candidate, verdict)
        if verdict.failed:
            break
    rungs = list(verdict.rungs)
    if not verdict.failed:
        rungs.insert(RUNGS.index("profile"), Rung("profile", RungStatus.SKIPPED, Reason.NOT_ASKED, "see whet optimize"))
    return Verdict(verdict.candidate, tuple(rungs), verdict.measurement)


def _result(run: str, task: Task, candidate: Candidate, verdict: Verdict, seconds: float) -> Result:
    failed = verdict.failed
    better = BETTER[verdict.measurement.speedup.metric] if verdict.measurement else ""
    if failed is not None and not verdict.correct:
        status, message = Status.REJECTED, f"{failed.name}: {failed.reason}"
    elif verdict.confirmed:
        status, message = Status.IMPROVED, f"{better}, and confirmed"
    elif verdict.improved:
        status, message = Status.NO_IMPROVEMENT, f"measured {better}, but not confirmed: it was not asked for"
    elif failed is not None:
        status, message = Status.NO_IMPROVEMENT, f"right, but {failed.reason}: {failed.detail}"
    else:
        status, message = Status.NO_IMPROVEMENT, "right as far as it was checked; not timed"
    speedup = verdict.measurement.speedup if verdict.measurement and verdict.correct else None
    rejected = {} if failed is None or failed.reason is None else {failed.reason.value: 1}
    return Result(
        run=run,
        task=TaskName(task.name, task.language, task.target),
        status=status,
        speedup=speedup,
        candidate=Winner.of(candidate, task, verdict.measurement),
        rungs=verdict.rungs,
        candidates=Counts(1, 1, int(verdict.correct), rejected),
        cost=Cost(),
        seconds=seconds,
        message=message,
    )
