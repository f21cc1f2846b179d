"""Interleaved samples of a metric, and the ratio that they show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

BETTER = {
    "time": "faster",
    "cpu": "less CPU time",
    "throughput": "more throughput",
    "memory": "less memory",
    "instructions": "fewer instructions",
    "energy": "less energy",
}
"""A gain in each of whet's own metrics, in the words of reports."""
OF_TIME = ("time", "throughput")
"""Metrics that are one measurement: the second tells the first in calls a second, and a gain in one is that in both."""

WALL, CPU = "wall", "cpu"
"""Clocks of a metric of time."""


def gain_in(metric: str) -> str:
    """Returns what a gain in a metric is called."""
    return BETTER.get(metric, f"less {metric}")


def told_as(metric: str) -> str:
    """Returns the name under which a model is asked for less of something; of throughput it is asked for less time."""
    return OF_TIME[0] if metric in OF_TIME else metric


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
class BaselineRatio:
    """Speedup over one of several baselines, with its interval."""

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
        baselines: where there are several, what each of them shows; the headline is against the fastest.
        rates: of the baseline and of the candidate, where the metric is throughput: calls, or runs of a program, a
            second in a pass over the timed workloads.
        clock: of a metric of time: ``wall``; ``cpu`` where the machine was never quiet, and CPU seconds stand in.
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
    baselines: tuple[BaselineRatio, ...] = ()
    rates: tuple[float, float] | None = None
    clock: str = WALL


@dataclass(frozen=True, slots=True)
class Measurement:
    """One measurement and what was decided from it.

    Attributes:
        outcome: faster, not shown or slower.
        speedup: the figures.
        p_value: of the paired test that decided, one-sided for "faster".
        disturbed: whether the machine was never quiet, and CPU seconds could not stand in, so that nothing is believed.
        note: why, in one line.
        resolution: the smallest ratio that these turns could tell from 1 on this machine.
        widened: the factor by which both ends of the interval were moved apart since the baseline differs from itself.
        labels: what kind of win it was found to be (law 8): by the figures themselves, and once confirmed by the
            change too.
        untimed: ratios at sizes that do not count for the headline.
        undecided: looks that were taken, where none has decided and a further one may; 0 where it is over.
        beside: the same candidate in the other metrics that were asked for or limited, without their samples.
        unkept: which limit on a metric was not shown to be kept, and by what figure; empty where all were.
        over_limit: whether it was shown to be broken.
        raw: every sample, the order, core and load: plain JSON data.
    """

    outcome: Outcome
    speedup: Speedup
    p_value: float
    disturbed: bool = False
    note: str = ""
    resolution: float = 1.0
    widened: float = 1.0
    labels: tuple[str, ...] = ()
    untimed: tuple[WorkloadRatio, ...] = ()
    undecided: int = 0
    beside: tuple[Measurement, ...] = ()
    unkept: str = ""
    over_limit: bool = False
    raw: Mapping[str, Any] = field(default_factory=dict)

    @property
    def faster(self) -> bool:
        """Whether the answer is "faster"."""
        return self.outcome is Outcome.FASTER
