"""From the end of a loop to the document that a run ends in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whet.agents.evaluations import Evaluations
from whet.agents.history import History, Round
from whet.core.condition import conditions_of, under
from whet.core.errors import UsageError
from whet.core.front import front
from whet.core.plain import from_plain
from whet.core.result import Cost, Counts, Result, Status, TaskName, Winner
from whet.core.store import RunRecord, Store
from whet.core.task import Task
from whet.core.verdict import Reason, Rung, RungStatus, Verdict
from whet.prompts import one_line, times

if TYPE_CHECKING:
    from whet.agents.loop import LoopState


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run took."""

    cost: Cost
    seconds: float


def concluded(
    run: str,
    state: LoopState,
    evaluations: Evaluations,
    history: History,
    spent: Spent,
    metrics: Sequence[str] = ("time",),
) -> Result:
    """Returns the result of a loop that ended."""
    winner = state["winner"]
    rounds = [history.round(number) for number in range(1, state["round"] + 1)]
    batches = [id for turn in rounds for id in turn.batch]
    # A run that went on after an end holds verdicts of that end too; those are not of this one.
    found = [evaluations.final(id) if id in state["confirming"] else evaluations.verdict(id) for id in batches]
    verdicts = [verdict for verdict in found if verdict is not None]
    why = [state["message"]]
    if not winner:
        why += _nearest(verdicts, [complaint for turn in rounds for complaint in turn.complaints])
    verdict = _of_winner(winner, evaluations) if winner else None
    measurement = verdict.measurement if verdict else None
    conditions = conditions_of(verdict.rungs) if verdict else ()
    if verdict is not None and verdict.confirmed:
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
        rungs=_with_profile(verdict, evaluations) if verdict else (),
        candidates=_counts(rounds, verdicts),
        cost=spent.cost,
        seconds=spent.seconds,
        message=" ".join("; ".join(why).split()) + under(conditions),
        front=front(
            evaluations.baseline.id,
            [(one, evaluations.candidate(one.candidate).origin) for one in verdicts],
            metrics,
        ),
        conditions=conditions,
    )


def _of_winner(winner: str, evaluations: Evaluations) -> Verdict | None:
    """Returns the verdict of a winner; of a translation the one before anything would be timed."""
    return evaluations.verdict(winner) if evaluations.task.untimed else evaluations.confirm(winner)


def unusable(run: str, task: Task, line: str, spent: Spent) -> Result:
    """Returns the result of a run whose baseline cannot be used."""
    return _bare(run, task, Status.BASELINE_INVALID, line, spent)


def out_of_time(run: str, task: Task, line: str, spent: Spent) -> Result:
    """Returns the result of a run whose time was up before its first round."""
    return _bare(run, task, Status.BUDGET_EXHAUSTED, line, spent)


def _bare(run: str, task: Task, status: Status, line: str, spent: Spent) -> Result:
    return Result(
        run=run,
        task=_name(task),
        status=status,
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


def _with_profile(verdict: Verdict, evaluations: Evaluations) -> tuple[Rung, ...]:
    """Returns a winner's rungs with that of the profile, which the loop made before anything was confirmed.

    The loop profiles what it builds upon, so a winner of the last round has none of its own.
    """
    if verdict.rung("confirm") is None:
        return verdict.rungs
    profile = evaluations.profiled(verdict.candidate)
    if profile is None:
        parent = evaluations.candidate(verdict.candidate).parent or evaluations.baseline.id
        told = "what it was made from was" if evaluations.profiled(parent) else "nothing was built upon it"
        rung = Rung("profile", RungStatus.SKIPPED, Reason.NOT_ASKED, f"not profiled itself; {told}")
    elif profile.lines:
        hottest = profile.lines[0]
        where = f"line {hottest.line} takes {hottest.share:.0%} ({profile.source})"
        rung = Rung("profile", RungStatus.PASSED, detail=where)
    else:
        rung = Rung("profile", RungStatus.INCONCLUSIVE, detail=profile.note)
    at = [rung.name for rung in verdict.rungs].index("confirm")
    return (*verdict.rungs[:at], rung, *verdict.rungs[at:])


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
