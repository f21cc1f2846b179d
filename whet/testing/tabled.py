"""An evaluator that judges by a table instead of running anything."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from whet.core.candidate import Candidate
from whet.core.errors import BaselineError
from whet.core.measurement import Measurement, Outcome, Speedup, WorkloadRatio
from whet.core.profile import HotLine, Profile
from whet.core.task import Task
from whet.core.verdict import Reason, Rung, RungStatus, Verdict


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
    """

    ratio: float = 1.0
    reason: Reason | None = None
    rung: str = "differential"
    detail: str = ""
    confirmed: float | None = None
    hot: tuple[HotLine, ...] = ()
    seconds: float = 0.0


PLAIN = Row()


class TabledEvaluator:
    """Judges the candidates of a task by rows; see `whet.evaluators.protocol.Evaluator`.

    Args:
        task: the task.
        rows: by the candidate's whole text; another text is right and no faster.
        invalid: a reason for which the baseline cannot be used.
        journal: a file that gets a line for each evaluation: its kind and the candidate's id.
        delay: seconds that an evaluation takes.
    """

    def __init__(
        self,
        task: Task,
        rows: Mapping[str, Row],
        *,
        invalid: str | None = None,
        journal: Path | None = None,
        delay: float = 0.0,
    ) -> None:
        self.task = task
        self._rows = rows
        self._invalid = invalid
        self._journal = journal
        self._delay = delay
        self._lock = threading.Lock()

    def validate(self) -> None:
        """See `whet.evaluators.protocol.Evaluator.validate`."""
        if self._invalid is not None:
            raise BaselineError(f"{self.task.path} cannot be used: {self._invalid}", self._invalid)

    def provenance(self, keep: Callable[[str], str]) -> None:
        """See `whet.evaluators.protocol.Evaluator.provenance`: nothing was run."""

    def profile(self, candidate: Candidate) -> Profile:
        """See `whet.evaluators.protocol.Evaluator.profile`."""
        row = self._row("profile", candidate)
        return Profile(row.hot, "line timer", "" if row.hot else "the table names no hot lines")

    def check(self, candidate: Candidate) -> Verdict:
        """See `whet.evaluators.protocol.Evaluator.check`."""
        row = self._row("check", candidate)
        if row.reason is not None and row.rung != "confirm":
            return Verdict(candidate.id, (Rung(row.rung, RungStatus.FAILED, row.reason, row.detail),))
        return Verdict(candidate.id, (Rung("differential", RungStatus.PASSED, seconds=row.seconds),))

    def measure(self, candidate: Candidate, verdict: Verdict) -> Verdict:
        """See `whet.evaluators.protocol.Evaluator.measure`."""
        return _timed(verdict, "measure", self._row("measure", candidate).ratio)

    def confirm(self, candidate: Candidate, verdict: Verdict) -> Verdict:
        """See `whet.evaluators.protocol.Evaluator.confirm`."""
        row = self._row("confirm", candidate)
        if row.rung == "confirm" and row.reason is not None:
            fallen = Rung("confirm", RungStatus.FAILED, row.reason, row.detail)
            return Verdict(candidate.id, (*verdict.rungs, fallen), verdict.measurement)
        return _timed(verdict, "confirm", row.ratio if row.confirmed is None else row.confirmed)

    def close(self) -> None:
        """See `whet.evaluators.protocol.Evaluator.close`."""

    def _row(self, what: str, candidate: Candidate) -> Row:
        time.sleep(self._delay)
        if self._journal is not None:
            with self._lock, self._journal.open("a", encoding="utf-8") as journal:
                journal.write(f"{what} {candidate.id}\n")
        return self._rows.get(candidate.source, PLAIN)


def _timed(verdict: Verdict, rung: str, ratio: float) -> Verdict:
    low, high = ratio * 0.98, ratio * 1.02
    outcome = Outcome.FASTER if low > 1.0 else Outcome.SLOWER if high < 1.0 else Outcome.NOT_SHOWN
    speedup = Speedup(
        ratio=ratio,
        low=low,
        high=high,
        confidence=0.99,
        metric="time",
        processes=10,
        samples=40,
        aa_ratio=(0.99, 1.01),
        baseline="the original",
        workloads=(WorkloadRatio("1000", ratio, low, high),),
    )
    measurement = Measurement(outcome, speedup, 0.001 if outcome is Outcome.FASTER else 0.5)
    if outcome is Outcome.FASTER:
        found = Rung(rung, RungStatus.PASSED)
    else:
        reason = Reason.SLOWER if outcome is Outcome.SLOWER else Reason.NOT_FASTER
        found = Rung(rung, RungStatus.FAILED, reason, f"{ratio:.2f}x")
    return Verdict(verdict.candidate, (*verdict.rungs, found), measurement)
