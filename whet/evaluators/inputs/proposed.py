"""Whether a workload file that a model proposed may stand for a task. It is hostile, and verdicts rest on inputs."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace

from whet.core.candidate import Candidate, content_id
from whet.core.errors import BaselineError, UsageError
from whet.core.events import Listener, null_listener
from whet.core.options import Options
from whet.core.task import HINTS, Task

MUTANTS = 12
"""Deliberate faults that both workloads are tried on."""
SMALL = 64
"""The largest size of the inputs from hints, where another generator's sizes rule."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of a proposed workload.

    Attributes:
        task: with the workload that stands from now on.
        accepted: whether that is the proposed one.
        why: for people.
    """

    task: Task
    accepted: bool
    why: str


def judge_workload(
    task: Task, text: str, origin: str, options: Options, seed: int, listener: Listener = null_listener
) -> Judged:
    """Tries a proposed workload file on the baseline, and on mutants of it.

    Args:
        task: with the inputs from its hints, where it has some.
        text: the proposed file.
        origin: who proposed it.
        options: of the run.
        seed: of inputs and mutants.
        listener: hears what happens.
    """
    from_hints = _usable(task, options, seed)
    joined = f"{text.rstrip()}\n{_apart(task)}" if from_hints and task.workload.origin == HINTS else text
    workload = replace(task.workload, generator=joined, sizes=(), origin=origin)
    try:
        proposed = _validated(replace(task, workload=workload), options, seed)
        killed, of = _killed(proposed, options, seed)
        if from_hints:
            before, of_before = _killed(task, options, seed)
            if killed * of_before < before * of:
                why = f"{killed} of {of} faults show on its inputs, {before} of {of_before} on those from type hints"
                return Judged(task, False, why)
    except (BaselineError, UsageError) as error:
        return Judged(task, False, str(error))
    return Judged(proposed, True, f"{killed} of {of} faults show on its inputs")


def _usable(task: Task, options: Options, seed: int) -> bool:
    """Whether the baseline runs on the inputs that a task has from its hints, if it has any."""
    try:
        _validated(task, options, seed)
    except (BaselineError, UsageError):
        return False
    return True


def _apart(task: Task) -> str:
    """Returns the generator from hints as a further one, for correctness: its small inputs reach the edges."""
    assert task.workload.generator is not None
    largest = min(SMALL, task.workload.sizes[-1])
    text = task.workload.generator.replace("PIECES", "HINT_PIECES")
    text = text.replace(
        "def make_input(size, rng):", f"def make_input_hints(size, rng):\n    size = min(size, {largest})"
    )
    return f"\n\n{text}"


def _validated(task: Task, options: Options, seed: int) -> Task:
    """Returns a task with sizes, on whose inputs the baseline runs, alike each time, and agrees with itself.

    Raises:
        UsageError: the generator fails.
        BaselineError: the baseline does.
    """
    from whet.evaluators.ladder import open_ladder  # most runs need no such thing, and it takes a second

    with closing(open_ladder(task, options, seed)) as ladder:
        ladder.validate()
        again = Candidate(f"{ladder.task.source}\n", content_id(ladder.task.source), "the original")
        if (failed := ladder.check(again).failed) is not None:
            raise BaselineError(
                f"the original differs from itself: {' '.join(failed.detail.split())[:300]}", "unstable"
            )
        return ladder.task


def _killed(task: Task, options: Options, seed: int) -> tuple[int, int]:
    """Returns how many mutants fall to the inputs alone, and how many there were."""
    from whet.evaluators.audit import audit_task

    settings = replace(options, seed=seed, metric="time", max_memory=None, max_time=None)
    found = audit_task(replace(task, tests=None), settings, MUTANTS)
    return found.killed.hits, found.killed.trials
