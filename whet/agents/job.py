"""What a run is: all that it takes to start it again, from any folder and by its id alone."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

from whet.agents.models.base import Model
from whet.core.config import Budget, Options
from whet.core.plain import from_plain, to_plain
from whet.core.store import Store
from whet.core.task import Task


@dataclass(frozen=True, slots=True)
class Job:
    """All that it takes to start a run again.

    Attributes:
        task: hash of the stored task; a later edit of its files does not change the run.
        options: shared with `verify`; their paths are absolute.
        model: the Coder's, as after ``--model``.
        judge_model: the Judge's.
        strategy: as after ``--strategy``.
        rounds: at most.
        candidates: asked for a round.
        budget: caps, the default ones included.
        seed: of the inputs; no prompt and no candidate ever holds it.
        apply: whether the improved source replaces the target.
        output: a file for the improved source.
        replays: id of the run that this one repeats.
        remeasure: whether a replay times the winner anew.
    """

    task: str
    options: Options
    model: str
    judge_model: str
    strategy: str
    rounds: int
    candidates: int
    budget: Budget
    seed: int
    apply: bool = False
    output: Path | None = None
    replays: str | None = None
    remeasure: bool = False


def store_task(store: Store, task: Task) -> str:
    """Stores a task and returns its hash."""
    return store.put(json.dumps(to_plain(task)))


def stored_task(store: Store, job: Job) -> Task:
    """Returns the task of a job."""
    return from_plain(Task, json.loads(store.get(job.task)))


def absolute_spec(model: str | Model) -> str | Model:
    """Returns a model's spec with absolute paths."""
    if not isinstance(model, str):
        return model
    parts = []
    for part in model.split(","):
        word, colon, folder = part.strip().partition(":")
        if word == "manual" and folder:
            folder = str(Path(folder).expanduser().absolute())
        parts.append(word + colon + folder)
    return ",".join(parts)


def absolute_paths(options: Options) -> Options:
    """Returns the options with absolute paths; a bare name of an interpreter stays one."""
    python = options.python and Path(options.python).expanduser()
    return replace(
        options,
        workload=options.workload and Path(options.workload).expanduser().absolute(),
        python=python.absolute() if python and python.exists() else python,
    )
