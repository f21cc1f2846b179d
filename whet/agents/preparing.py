"""What comes before the loop of a run, within its time: calls are recorded, inputs are found, the ladder is opened."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from whet.agents.desk import Desk
from whet.agents.evaluations import StoredEvaluations
from whet.agents.history import TIME_IS_UP, Stopwatch
from whet.agents.job import RunRequest
from whet.agents.judges import Judges
from whet.agents.lanes import side_by_side
from whet.agents.models.base import Model, ModelError
from whet.agents.outcome import Spent, out_of_time
from whet.agents.time_cap import CUT, GRACE_SECONDS
from whet.agents.workload_author import Author, author_of, lacks_workload
from whet.core.errors import NoInputsError
from whet.core.events import Listener
from whet.core.options import Options
from whet.core.result import Result
from whet.core.store import Store
from whet.core.task import Task
from whet.evaluators.inputs.proposed import judge_workload
from whet.evaluators.inputs.source import derive
from whet.evaluators.protocol import Evaluator
from whet.evaluators.targets import prepared

T = TypeVar("T")

LATE_SECONDS = 5.0
"""What the command of ``--record`` may take beyond the run's time, so that it is that which ends the run."""


@dataclass(frozen=True, slots=True)
class Ready:
    """What a loop begins with.

    Attributes:
        task: with its recorded calls, and what was built for it.
        evaluator: judges its candidates; None where it has no inputs, but an author who may bring some.
        author: whether the model is asked for a workload, since nobody gave one.
        lacking: what to say where it has no inputs in the end.
    """

    task: Task
    evaluator: Evaluator | None
    author: bool = False
    lacking: str = ""

    def close(self) -> None:
        """Ends what judges the candidates."""
        if self.evaluator is not None:
            self.evaluator.close()


def in_time(work: Callable[[], T], seconds: float, drop: Callable[[T], None]) -> T | None:
    """Returns what some work comes to; None where the time is up before, and nobody waits for it any more.

    Args:
        work: to be done.
        seconds: that are left; may be infinite.
        drop: ends what the work comes to too late.

    Raises:
        BaseException: what the work raised in time.
    """
    if math.isinf(seconds):
        return work()
    came: list[T] = []
    deciding, late = threading.Lock(), threading.Event()

    def turn() -> None:
        found = work()
        with deciding:
            if not late.is_set():
                came.append(found)
                return
        drop(found)

    try:
        side_by_side([turn], 1, seconds + GRACE_SECONDS)
    finally:
        with deciding:
            late.set()
    return came[0] if came else None


def ready(
    judges: Judges, task: Task, options: Options, seed: int, model: Model, listener: Listener, seconds: float
) -> Ready | None:
    """Returns what the loop of a run begins with; None where the time is up before.

    Args:
        judges: open the ladder.
        task: as it was read.
        options: as the user gave them.
        seed: of all inputs.
        model: the Coder's, which may be asked for a workload.
        listener: hears what is done.
        seconds: that are left.
    """

    def work() -> Ready:
        found = prepared(task, options, listener, seconds + LATE_SECONDS)
        author = lacks_workload(found) and author_of(model) is not None
        evaluator = ladder(judges, found, options, seed, author, listener)
        return Ready(evaluator.task if evaluator else found, evaluator, author)

    return in_time(work, seconds, Ready.close)


def ladder(
    judges: Judges, task: Task, options: Options, seed: int, author: bool, listener: Listener, run: str = ""
) -> Evaluator | None:
    """Returns the ladder of a task; None where it has no inputs, but an author who may bring some."""
    try:
        return judges.opened(task, options, seed, listener, run=run)
    except NoInputsError:
        if author:
            return None
        raise


def reopened(
    judges: Judges, store: Store, run: str, job: RunRequest, task: Task, listener: Listener, began: float
) -> Evaluator | None:
    """Returns the ladder of a run that goes on, as `ladder` does; what it has recorded where the time is up before.

    Args:
        judges: open the ladder.
        store: holds the run.
        run: its id.
        job: what it is.
        task: its own.
        listener: hears what is done.
        began: when the run was gone on with, by ``time.monotonic``.
    """
    seconds = job.budget.seconds
    left = math.inf if seconds is None else seconds - Stopwatch(store, run, began).seconds

    def work() -> Ready:
        return Ready(task, ladder(judges, task, job.options, job.seed, job.author, listener, run))

    came = in_time(work, left, Ready.close)
    return StoredEvaluations(store, run, task) if came is None else came.evaluator


def with_workload(
    store: Store, run: str, job: RunRequest, judges: Judges, before: Ready, model: Model, desk: Desk, listener: Listener
) -> Ready | None:
    """Returns what the loop begins with once the author of a workload was asked for one; None where the time is up.

    Args:
        store: holds the run.
        run: its id.
        job: what it is.
        judges: open the ladder anew, where there is another workload.
        before: what it would begin with otherwise; its ladder is closed where it does not.
        model: the Coder's.
        desk: what its calls go through.
        listener: hears what comes of it.
    """

    def work() -> Ready:
        found, lacking = _authored(store, run, job, before.task, model, desk, listener)
        if found == before.task:
            return Ready(found, before.evaluator, lacking=lacking)
        before.close()
        return Ready(found, judges.opened(found, job.options, job.seed, listener), lacking=lacking)

    came = in_time(work, desk.caps.seconds_left, Ready.close)
    if came is None:
        desk.ledger.abandon()
        before.close()
    return came


def _authored(
    store: Store, run: str, job: RunRequest, task: Task, model: Model, desk: Desk, listener: Listener
) -> tuple[Task, str]:
    """Returns the task with the workload that its author wrote, or as it was; and what to say if that has no inputs."""
    asked = author_of(model)
    assert asked is not None, "the run would have no author"
    author = Author(store, run, asked, desk.asking, desk.ledger.ask, listener)
    try:
        found, line = author.decide(
            task, lambda text, origin: judge_workload(task, text, origin, job.options, derive(job.seed, "workload"))
        )
    except ModelError as error:
        # The loop asks the same model, and ends as the failure has it.
        found, line = task, str(error)
    desk.watch.save()
    return found, f"no inputs for {task.name}: give --workload FILE; {line}"


def cut_short(store: Store, run: str, task: Task, spent: Spent) -> Result:
    """Records that the time of a run was up before its first round, and returns the result."""
    result = out_of_time(run, task, f"{TIME_IS_UP} before the first round began", spent)
    store.set_fact(run, CUT, "")
    store.finish(run, result.to_json())
    return result
