"""From the end of a loop to the document that a run ends in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from whet.agents.evaluations import Evaluations
from whet.agents.history import History, Round
from whet.agents.loop import State
from whet.core.errors import UsageError
from whet.core.plain import from_plain
from whet.core.result import Cost, Counts, Result, Status, TaskName, Winner
from whet.core.store import RunRecord, Store
from whet.core.task import Task
from whet.core.verdict import Verdict
from whet.prompts import one_line, times


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run took."""

    cost: Cost
    seconds: float


def concluded(run: str, state: State, evaluations: Evaluations, history: History, spent: Spent) -> Result:
    """Returns the result of a loop that ended."""
    winner = state["winner"]
    rounds = [history.round(number) for number in range(1, state["round"] + 1)]
    verdicts = [verdict for turn in rounds for id in turn.batch if (verdict := evaluations.final(id)) is not None]
    why = [state["message"]]
    if not winner:
        why += _nearest(verdicts, [complaint for turn in rounds for complaint in turn.complaints])
    verdict = evaluations.confirm(winner) if winner else None
    measurement = verdict.measurement if verdict else None
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
        speedup=measurement.speedup if measurement else None,
        candidate=Winner.of(evaluations.candidate(winner), evaluations.task, measurement) if winner else None,
        rungs=verdict.rungs if verdict else (),
        candidates=_counts(rounds, verdicts),
        cost=spent.cost,
        seconds=spent.seconds,
        message=" ".join("; ".join(why).split()),
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


def _counts(rounds: Sequence[Round], verdicts: Sequence[Verdict]) -> Counts:
    reasons = Counter(v.failed.reason.value for v in verdicts if v.failed is not None and v.failed.reason)
    return Counts(
        proposed=sum(turn.proposed for turn in rounds),
        distinct=sum(len(turn.batch) for turn in rounds),
        correct=sum(verdict.correct for verdict in verdicts),
        rejected=dict(reasons),
    )


def _nearest(verdicts: Sequence[Verdict], complaints: Sequence[str]) -> list[str]:
    """Returns what a run without a winner came nearest to."""
    if not verdicts and complaints:
        return [f"no answer could be used: {complaints[-1]}"]
    timed = [(v.measurement.speedup.ratio, v) for v in verdicts if v.correct and v.measurement is not None]
    if not timed:
        return []
    ratio, verdict = max(timed, key=lambda pair: pair[0])
    why = f": {one_line(verdict.failed.detail)}" if verdict.failed is not None else ""
    return [f"the best right candidate came to {times(ratio)}{why}"]
