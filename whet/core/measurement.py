"""Interleaved samples of a metric, and the ratio that they show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

BETTER = {
    "time": "faster",
    "memory": "less memory",
    "instructions": "fewer instructions",
    "energy": "less energy",
}
"""A gain in each metric, in the words of reports."""


class Outcome(StrEnum):
    """The three answers of a measurement (law 3)."""

    FASTER = "faster"
    NOT_SHOWN = "not_shown"
    SLOWER = "slower"


@dataclass(frozen=True, slots=True)
class WorkloadRatio:
    """Speedup on one workload: baseline / candidate, with its interval."""

    name: str
    ratio: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Speedup:
    """The headline figure of a result.

    Attributes:
        ratio: baseline / candidate; the geometric mean over the timed workloads.
        low: lower end of the interval.
        high: upper end of the interval.
        confidence: of the interval, 0 to 1.
        metric: what was measured: time, memory, ...
        processes: fresh processes a side.
        samples: timed calls (or program runs) a side.
        aa_ratio: interval of the baseline against itself, measured in the same turns.
        baseline: which baseline it is against.
        workloads: the ratio on each timed workload.
        cpu_seconds: of the baseline and of the candidate in one pass over each timed workload, the medians' sum.
    """

    ratio: float
    low: float
    high: float
    confidence: float
    metric: str
    processes: int
    samples: int
    aa_ratio: tuple[float, float]
    baseline: str
    workloads: tuple[WorkloadRatio, ...]
    cpu_seconds: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Measurement:
    """One measurement and what was decided from it.

    Attributes:
        outcome: faster, not shown or slower.
        speedup: the figures.
        p_value: of the paired test that decided, one-sided for "faster".
        disturbed: whether the baseline differed from itself, so that nothing is believed.
        note: why, in one line.
        resolution: the smallest ratio that these turns could tell from 1 on this machine.
        labels: what kind of win it was found to be (law 8): by the figures themselves, and once confirmed by the
            change too.
        untimed: ratios at sizes that do not count for the headline.
        raw: every sample, the order, core and load: plain JSON data.
    """

    outcome: Outcome
    speedup: Speedup
    p_value: float
    disturbed: bool = False
    note: str = ""
    resolution: float = 1.0
    labels: tuple[str, ...] = ()
    untimed: tuple[WorkloadRatio, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict)

    @property
    def faster(self) -> bool:
        """Whether the answer is "faster"."""
        return self.outcome is Outcome.FASTER
