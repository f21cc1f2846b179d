"""What came of one function: plain values, which may also come from a job that nobody vouches for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FunctionStatus(StrEnum):
    """What can be said of one function."""

    FASTER = "faster"
    NOT_SHOWN = "not shown"
    SLOWER = "slower"
    WRONG = "wrong"
    NOT_TRIED = "not tried"


@dataclass(frozen=True, slots=True)
class FunctionFinding:
    """What came of one function.

    Attributes:
        target: ``path::symbol``.
        command: ``optimize``: a rewrite against the head; ``verify``: the head against the base.
        answer: in one word.
        run: id of whet's run.
        ratio: baseline / candidate; None where nothing was timed.
        low: lower end of its interval.
        high: upper end.
        confidence: of the interval.
        processes: fresh processes a side.
        samples: timed calls a side.
        workloads: name, ratio and interval of each timed workload.
        tests: what became of the function's own tests.
        labels: what kind of win it is.
        patch: a unified diff against the head's file, of a rewrite that was shown to be faster.
        rungs: name, status and detail of each check.
        machine: where it was measured.
        cost_usd: of the models.
        cost_complete: false where a price was unknown.
        seconds: of the run.
        reproduce: the command that does it again.
        message: one line on why it ended so.
        conditions: what has to hold for the rewrite to behave as before: the sentence, a call on which it does not, and
            how it differs there.
    """

    target: str
    command: str
    answer: FunctionStatus
    run: str = ""
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    confidence: float | None = None
    processes: int = 0
    samples: int = 0
    workloads: tuple[tuple[str, float, float, float], ...] = ()
    tests: str = "none"
    labels: tuple[str, ...] = ()
    patch: str = ""
    rungs: tuple[tuple[str, str, str], ...] = ()
    machine: str = ""
    cost_usd: float = 0.0
    cost_complete: bool = True
    seconds: float = 0.0
    reproduce: str = ""
    message: str = ""
    conditions: tuple[tuple[str, str, str], ...] = ()

    @property
    def path(self) -> str:
        """The function's file."""
        return self.target.partition("::")[0]
