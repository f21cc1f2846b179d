"""The ladder alone, on anybody's rewrite: no model needed."""

from __future__ import annotations

import time
from dataclasses import fields
from pathlib import Path
from typing import Any, overload

from whet.core.candidate import Candidate, content_id
from whet.core.errors import UsageError
from whet.core.events import Event, Listener, null_listener
from whet.core.evidence import Replication
from whet.core.options import Options
from whet.core.patch import Malformed
from whet.core.patch_target import apply_to
from whet.core.result import Result
from whet.core.store import Store, new_run
from whet.core.task import Task
from whet.evaluators.at_once import decided_by_text
from whet.evaluators.environment import in_environment
from whet.evaluators.given_files import read_text
from whet.evaluators.judged import begun, drawn, ended, judged, named, recorded
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
    listener: Listener = null_listener,
    **options: Any,
) -> Result: ...


@overload
def verify(
    target: None = None,
    *,
    evidence: str | Path,
    signers: str | Path | None = None,
    home: str | Path | None = None,
    listener: Listener = null_listener,
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
    listener: Listener = null_listener,
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
        **options: the fields of `whet.core.options.Options`.

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
        from whet.evaluators.evidence.replication import replicate  # takes longer than a verdict by the text

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
        for event in (named(run), *said):
            listener(event)
        task = prepared(task, settings, listener)
        proposed = proposed or _read(task, candidate, patch)
        if (verdict := decided_by_text(task, proposed, settings)) is not None:
            begun(store, target, task, proposed, settings, seed, run, listener)
            return ended(store, run, recorded(store, run, task, proposed, verdict, settings, start))
        from whet.evaluators.ladder import open_ladder  # takes longer than all that comes before

        ladder = open_ladder(task, settings, seed, listener, store=store)
        return judged(store, target, proposed, ladder, settings, seed, start, listener, run=run)
    finally:
        store.close()


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
