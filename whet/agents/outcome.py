"""From the end of a loop to the document that a run ends in."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from whet.agents.evaluations import Evaluations
from whet.agents.history import History
from whet.agents.loop import State
from whet.core.errors import UsageError
from whet.core.plain import from_plain
from whet.core.result import Cost, Counts, Result, Status, TaskName, Winner
from whet.core.store import RunRecord, Store
from whet.core.task import Task


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run took."""

    cost: Cost
    seconds: float


def concluded(run: str, state: State, evaluations: Evaluations, history: History, spent: Spent) -> Result:
    """Returns the result of a loop that ended."""
    counts, last = _count(state["round"], evaluations, history)
    message = state["message"]
    winner = state["winner"]
    if not winner and not counts.distinct and last:
        message = f"{message}; no answer could be used: {last}"
    verdict = evaluations.confirm(winner) if winner else None
    if verdict is not None:
        status = Status.IMPROVED
    elif state["ended"] == "budget":
        status = Status.BUDGET_EXHAUSTED
    else:
        status = Status.NO_IMPROVEMENT
    return Result(
        run=run,
        task=_name(evaluations.task),
        status=status,
        speedup=verdict.measurement.speedup if verdict and verdict.measurement else None,
        candidate=Winner.of(evaluations.candidate(winner), evaluations.task) if winner else None,
        rungs=verdict.rungs if verdict else (),
        candidates=counts,
        cost=spent.cost,
        seconds=spent.seconds,
        message=message,
    )


def unusable(run: str, task: Task, line: str, spent: Spent) -> Result:
    """Returns the result of a run whose baseline cannot be used."""
    return Result(
        run=run,
        task=_name(task),
        status=Status.BASELINE_INVALID,
        speedup=None,
        candidate=None,
        rungs=(),
        candidates=Counts(),
        cost=spent.cost,
        seconds=spent.seconds,
        message=line,
    )


def recorded(store: Store, record: RunRecord) -> Result:
    """Returns the result of a finished run.

    Raises:
        UsageError: the run is not finished.
    """
    if record.result is None:
        raise UsageError(f"run {record.id} is not finished; go on with it: whet runs resume {record.id}")
    document = dict(record.result)
    if winner := document["candidate"]:
        document["candidate"] = {**winner, "source": store.get(winner["id"])}
    return from_plain(Result, document)


def _name(task: Task) -> TaskName:
    return TaskName(task.name, task.language, task.target)


def _count(rounds: int, evaluations: Evaluations, history: History) -> tuple[Counts, str]:
    """Returns the counts, and the last complaint about an answer, if any."""
    seen = history.seen(rounds)
    verdicts = [verdict for id in seen if (verdict := evaluations.final(id)) is not None]
    reasons = Counter(v.failed.reason.value for v in verdicts if v.failed is not None and v.failed.reason)
    turns = [history.round(number) for number in range(1, rounds + 1)]
    complaints = [complaint for turn in turns for complaint in turn.complaints]
    counts = Counts(
        proposed=sum(turn.proposed for turn in turns),
        distinct=len(seen),
        correct=sum(verdict.correct for verdict in verdicts),
        rejected=dict(reasons),
    )
    return counts, complaints[-1] if complaints else ""
