"""Rows of ``whet bench run``: one answer to one problem, judged by the suite's own rule and by whet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from whet.core.result import Cost

SCHEMA = "whet.bench.row/1"


@dataclass(frozen=True, slots=True)
class Own:
    """What a suite's own rule says of one answer.

    Attributes:
        passed: whether it is right, as the suite has it.
        reason: why not, in words; empty for a right one.
        figures: plain data that the suite's score is computed from, such as seconds or counts of each case.
        unit: of those figures: ``s``, ``instructions``, ``MB*s``, or empty where there are none.
        counter: what told them: ``clock``, ``perf`` or ``cachegrind``; empty where there are none.
    """

    passed: bool
    reason: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)
    unit: str = ""
    counter: str = ""


@dataclass(frozen=True, slots=True)
class Machine:
    """Where a row was measured. Rows of unlike machines are not ranked together without a warning."""

    processor: str
    cores: int
    gpu: str
    sandbox: str
    system: str
    whet: str

    @property
    def kind(self) -> str:
        """What must be equal for two rows to share a ranking."""
        return f"{self.processor}, {self.cores} cores" + (f", {self.gpu}" if self.gpu else "")


@dataclass(frozen=True, slots=True)
class Row:
    """One answer to one problem.

    Attributes:
        suite: its name.
        data: digest of the problem's own data, so that rows of different revisions are told apart.
        problem: the suite's id of it.
        sample: which of the answers to it, from 0.
        model: that answered; ``unchanged``, ``known-best`` or ``answers:FILE`` for answers that no model gave.
        strategy: that the model worked under; empty without one.
        budget: caps in words; empty for none.
        language: of the answer.
        answer: its text; empty where there is none.
        own: what the suite's rule says; None where the problem is excluded or there is no answer.
        result: whet's verdict, the document ``whet.result/1``; None where whet was not asked.
        evidence: SHA-256 of the evidence bundle that lies beside the rows; empty for a row without evidence.
        excluded: why the problem does not count on this machine, such as a reference that fails; empty where it does.
        machine: where it was measured.
        cost: of the model.
        seconds: wall time of all that was done for the row.
        when: UTC, ISO 8601.
    """

    suite: str
    data: str
    problem: str
    sample: int
    model: str
    strategy: str
    budget: str
    language: str
    answer: str
    own: Own | None
    result: Mapping[str, Any] | None
    evidence: str
    excluded: str
    machine: Machine
    cost: Cost
    seconds: float
    when: str

    @property
    def key(self) -> tuple[str, str, str, str, str, str, int]:
        """What no two rows of a file share."""
        return self.suite, self.data, self.problem, self.model, self.strategy, self.budget, self.sample
