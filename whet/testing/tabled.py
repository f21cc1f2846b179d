"""An evaluator that judges by a table instead of running anything."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from whet.core.candidate import Candidate
from whet.core.circumstances import Circumstances, TimedInput
from whet.core.constraint import Constraint
from whet.core.errors import BaselineError
from whet.core.helpers import Helpers
from whet.core.measurement import Measurement, Outcome, Speedup, WorkloadRatio
from whet.core.profile import HotLine, Profile
from whet.core.task import Task
from whet.core.verdict import Reason, Rung, RungStatus, Verdict
from whet.evaluators.rungs import reason_of
from whet.evaluators.timing.constraints import constrained

NO_HELPERS = Helpers()


@dataclass(frozen=True, slots=True)
class Row:
    """What is found of one text.

    Attributes:
        ratio: its measured speedup; above 1 it is shown faster, below 1 slower, at 1 neither.
        reason: why it falls from ``rung``; None where it is right.
        rung: the rung that it falls from.
        detail: that rung's detail.
        confirmed: the speedup at the confirm rung; None repeats ``ratio``.
        hot: hot lines, hottest first.
        seconds: wall time that its check is said to have taken.
        right: inputs on which it was right before it fell.
        looks: at the metric that it takes until they decide.
        helpers: what is found of its functions.
        beside: its ratio in further metrics, by the metric's name.
    """

    ratio: float = 1.0
    reason: Reason | None = None
    rung: str = "differential"
    detail: str = ""
    confirmed: float | None = None
    hot: tuple[HotLine, ...] = ()
    seconds: float = 0.0
    right: int = 0
    looks: int = 1
    helpers: Helpers = NO_HELPERS
    beside: Mapping[str, float] = field(default_factory=dict)


PLAIN = Row()


class TabledEvaluator:
    """Judges the candidates of a task by rows; see `whet.evaluators.protocol.Evaluator`.

    Args:
        task: the task.
        rows: by the candidate's whole text; another text is right and no faster.
        invalid: a reason for which the baseline cannot be used.
        journal: a file that gets a line for each evaluation when it begins: its kind and the candidate's id.
        delay: seconds that an evaluation takes.
        beside: metrics that are measured beside time, as after ``--metric`` and in ``constraints``.
        constraints: on any of them.
    """

    def __init__(
        self,
        task: Task,
        rows: Mapping[str, Row],
        *,
        invalid: str | None = None,
        journal: Path | None = None,
        delay: float = 0.0,
        beside: Sequence[str] = (),
        constraints: Sequence[Constraint] = (),
    ) -> None:
        self.task = task
        self._rows = rows
        self._invalid = invalid
        self._journal = journal
        self._delay = delay
        self._beside = beside
        self._constraints = constraints
        self._lock = threading.Lock()

    def validate(self) -> None:
        """See `whet.evaluators.protocol.Evaluator.validate`."""
        if self._invalid is not None:
            raise BaselineError(f"{self.task.path} cannot be used: {self._invalid}", self._invalid)

    def provenance(self, keep: Callable[[str], str]) -> None:
        """See `whet.evaluators.protocol.Evaluator.provenance`: nothing was run."""

    def circumstances(self) -> Circumstances:
        """See `whet.evaluators.protocol.Evaluator.circumstances`."""
        return Circumstances("a table", {"L2": 1 << 20}, "CPython 3.12.0", {}, None, (TimedInput("1000", 4096, 0.01),))

    def profile(self, candidate: Candidate) -> Profile:
        """See `whet.evaluators.protocol.Evaluator.profile`."""
        row = self._row("profile", candidate)
        return Profile(row.hot, "line timer", "" if row.hot else "the table names no hot lines")

    def announce(self, candidates: Sequence[Candidate]) -> None:
        """See `whet.evaluators.protocol.Evaluator.announce`: rows hang on nobody else."""

    def check(self, candidate: Candidate) -> Verdict:
        """See `whet.evaluators.protocol.Evaluator.check`."""
        row = self._row("check", candidate)
        if row.reason is not None and row.rung != "confirm":
            evidence = {"inputs": row.right + 1}
            return Verdict(
                candidate.id, (Rung(row.rung, RungStatus.FAILED, row.reason, row.detail, evidence=evidence),)
            )
        return Verdict(candidate.id, (Rung("differential", RungStatus.PASSED, seconds=row.seconds),))

    def helpers(self, candidate: Candidate, verdict: Verdict) -> Helpers:
        """See `whet.evaluators.protocol.Evaluator.helpers`."""
        return self._row("helpers", candidate).helpers

    def measure(self, candidate: Candidate, verdict: Verdict, *, looks: int | None = None) -> Verdict:
        """See `whet.evaluators.protocol.Evaluator.measure`."""
        row = self._row("measure", candidate)
        timed = self._timed(verdict.until("measure"), "measure", row, row.ratio)
        if looks is None or looks >= row.looks:
            return timed
        assert timed.measurement is not None
        return Verdict(
            candidate.id,
            (*timed.rungs[:-1], Rung("measure", RungStatus.INCONCLUSIVE, detail=f"{row.ratio:.2f}x")),
            replace(timed.measurement, outcome=Outcome.NOT_SHOWN, undecided=looks),
        )

    def confirm(self, candidate: Candidate, verdict: Verdict) -> Verdict:
        """See `whet.evaluators.protocol.Evaluator.confirm`."""
        row = self._row("confirm", candidate)
        if row.rung == "confirm" and row.reason is not None:
            fallen = Rung("confirm", RungStatus.FAILED, row.reason, row.detail)
            return Verdict(candidate.id, (*verdict.rungs, fallen), verdict.measurement)
        return self._timed(verdict, "confirm", row, row.ratio if row.confirmed is None else row.confirmed)

    def close(self) -> None:
        """See `whet.evaluators.protocol.Evaluator.close`."""

    def _timed(self, verdict: Verdict, rung: str, row: Row, ratio: float) -> Verdict:
        beside = [_measured(metric, row.beside.get(metric, 1.0)) for metric in self._beside]
        found = constrained(_measured("time", ratio), beside, self._constraints)
        if found.faster:
            timed = Rung(rung, RungStatus.PASSED)
        else:
            timed = Rung(rung, RungStatus.FAILED, reason_of(found), found.note)
        return Verdict(verdict.candidate, (*verdict.rungs, timed), found)

    def _row(self, what: str, candidate: Candidate) -> Row:
        if self._journal is not None:
            with self._lock, self._journal.open("a", encoding="utf-8") as journal:
                journal.write(f"{what} {candidate.id}\n")
        if self._delay:
            time.sleep(self._delay)
        return self._rows.get(candidate.source, PLAIN)


def _measured(metric: str, ratio: float) -> Measurement:
    low, high = ratio * 0.98, ratio * 1.02
    outcome = Outcome.FASTER if low > 1.0 else Outcome.SLOWER if high < 1.0 else Outcome.NOT_SHOWN
    speedup = Speedup(
        ratio=ratio,
        low=low,
        high=high,
        confidence=0.99,
        metric=metric,
        processes=10,
        samples=40,
        aa_ratio=(0.99, 1.01),
        baseline="the original",
        workloads=(WorkloadRatio("1000", ratio, low, high),),
    )
    return Measurement(outcome, speedup, 0.001 if outcome is Outcome.FASTER else 0.5, note=f"{ratio:.2f}x")
