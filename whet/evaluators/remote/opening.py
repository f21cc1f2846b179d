"""What a worker needs to open the very ladder that its driver means, and the content keys of what it finds there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from whet.core.options import Options
from whet.core.plain import from_plain, to_plain
from whet.core.store import Store
from whet.core.task import Task
from whet.evaluators.evidence.provenance import tools

OF_THE_DRIVER = ("workload", "tests", "record", "project", "root", "to", "workers", "cluster", "seed")
"""Options that stand in the task, or that no verdict follows from."""
DEFAULTS: dict[str, Any] = {one.name: one.default for one in fields(Options) if one.name in OF_THE_DRIVER}


@dataclass(frozen=True, slots=True)
class Opening:
    """What opens a ladder.

    Attributes:
        task: hash of the stored task.
        options: those that verdicts follow from, as plain JSON data.
        seed: of all inputs.
        explain: whether the smallest input that shows a fault is looked for.
    """

    task: str
    options: Mapping[str, Any]
    seed: int
    explain: bool

    @classmethod
    def of(cls, store: Store, task: Task, options: Options, seed: int, explain: bool) -> Opening:
        """Returns what opens the ladder of a task, whose text is stored."""
        return cls(stored(store, task), to_plain(replace(options, **DEFAULTS)), seed, explain)


def stored(store: Store, task: Task) -> str:
    """Stores a task and returns its hash."""
    return store.put(json.dumps(to_plain(task)))


def task_of(store: Store, name: str) -> Task:
    """Returns the task whose text has this hash."""
    return from_plain(Task, json.loads(store.get(name)))


def key_of(opening: Opening, step: str, follows: Mapping[str, Any]) -> str:
    """Returns the content key of a step's result.

    Args:
        opening: opens the ladder that takes the step.
        step: its name.
        follows: what the result follows from beside the opening: plain JSON data.
    """
    here = {name: tools()[name] for name in ("whet", "harness")}
    told = {**here, **to_plain(opening), "step": step, "follows": follows}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
