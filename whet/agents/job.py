"""What a run is: all that it takes to start it again, from any folder and by its id alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from whet.agents.models.base import Model
from whet.agents.prices import Price
from whet.core.options import Budget, Options
from whet.core.plain import from_plain, to_plain
from whet.core.store import Store
from whet.core.task import Task


@dataclass(frozen=True, slots=True)
class RunRequest:
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
        prices: of its models when it was begun; a later price changes nothing of this run.
        seed: of the inputs; no prompt and no candidate ever holds it.
        apply: whether the improved source replaces the target.
        output: a file for the improved source.
        replays: id of the run that this one repeats.
        remeasure: whether a replay times the winner anew.
        author: whether its model is asked for a workload, since nobody gave one.
        interactive: whether a person takes part.
        takeover: drafts in the Coder's place once that stalls; empty where nobody does.
        known_best: hash of the stored text that the run ends at; empty where none is known.
        repository: that the target belongs to; empty where nothing of other runs is told, nor of this one to others.
        free: whether the Coder's answers cost nothing; runs of before this was recorded are taken for such.
        shared: whether its providers' limits hold over all such runs of the store; on PostgreSQL they always do.
    """

    task: str
    options: Options
    model: str
    judge_model: str
    strategy: str
    rounds: int
    candidates: int
    budget: Budget
    prices: Mapping[str, Price]
    seed: int
    apply: bool = False
    output: Path | None = None
    replays: str | None = None
    remeasure: bool = False
    author: bool = False
    interactive: bool = False
    takeover: str = ""
    known_best: str = ""
    repository: str = ""
    free: bool = True
    shared: bool = False


def store_task(store: Store, task: Task) -> str:
    """Stores a task and returns its hash."""
    return store.put(json.dumps(to_plain(task)))


def stored_task(store: Store, run: str, job: RunRequest) -> Task:
    """Returns the task of a run, with the workload that its model wrote where one was accepted."""
    return from_plain(Task, json.loads(store.get(store.fact(run, "task") or job.task)))


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
        project=options.project and Path(options.project).expanduser().absolute(),
    )
