"""The decision rule: paired, on the logarithms of ratios of fresh processes.

The unit is one turn: baseline and candidate (and the baseline once more) in fresh processes in random order.
Statistic: the median over turns of log(baseline / candidate), averaged over workloads; interval: percentile
bootstrap over turns; test: Wilcoxon's signed ranks, one-sided, exact. Looking at several stages
spends the error of the asked confidence in shares (alpha spending, after Lan and DeMets 1983, with fixed shares).
How far the baseline differs from itself in the same turns moves both ends of the interval apart.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

BOOTSTRAP = 4000
"""Times that turns are drawn anew for an interval: 20 of them lie beyond either end at 99 %, so that another seed moves
it little. More take longer at each look, some 0.1 s for 40,000."""
FEW = 10
"""Turns below which the bootstrap is too narrow: it holds the median of eight turns 98 % of the time at 99 %, where all
that lies between the least and the greatest holds it 99.2 % of the time."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A look at the data.

    Attributes:
        turns: turns measured by then.
        share: of the allowed error that this look may spend; 0 looks only to drop losers, and more than 1 claims
            nothing, see `whet.evaluators.timing.plan.pilot`.
    """

    turns: int
    share: float


VERDICT_STAGES = (Stage(8, 0.4), Stage(11, 0.2), Stage(20, 0.4))
"""Eight turns that all agree have p = 1/256, below 0.4 of 1 %: the fewest that can show anything at 99 %, and enough
for what differs by more than the machine's noise. The interval of eleven holds the median 98.8 % of the time without
the least and the greatest of them, so that one which was disturbed has no part in it. Twenty serve small gains."""
SEARCH_STAGES = (Stage(3, 0.0), Stage(8, 0.4), Stage(20, 0.6))
"""A search goes on with fewer candidates after each look, and asks of their gains no narrow interval."""
CONFIRM_STAGES = VERDICT_STAGES


@dataclass(frozen=True, slots=True)
class StoppingPlan:
    """When to look at a metric.

    Attributes:
        search: at the candidates of a search; losers go early.
        verdict: at a rewrite that somebody asked about: it is not cut short.
        confirm: at a winner.
    """

    search: tuple[Stage, ...]
    verdict: tuple[Stage, ...]
    confirm: tuple[Stage, ...]

    @property
    def beside(self) -> tuple[Stage, ...]:
        """When to look at a metric beside the one that decides: once, as early as one look can show a gain."""
        return (replace(self.verdict[0], share=1.0),)


NOISY = StoppingPlan(SEARCH_STAGES, VERDICT_STAGES, CONFIRM_STAGES)
"""For what differs by per cents from process to process."""
_EIGHT = (Stage(8, 0.5), Stage(16, 0.5))
STEADY = StoppingPlan((Stage(3, 0.0), *_EIGHT), _EIGHT, _EIGHT)
"""For what hardly differs."""
_ONCE = (Stage(8, 1.0),)
QUICK = StoppingPlan((Stage(3, 0.0), *_ONCE), _ONCE, _ONCE)
"""For a first answer: as few turns as can show a gain, looked at once."""


def interval(columns: Sequence[Sequence[float]], confidence: float, seed: int = 0) -> tuple[float, float, float]:
    """Returns (ratio, low, high): the geometric mean over workloads of median ratios, with its interval.

    Whole turns are resampled, so what disturbed all workloads of a turn stays together.

    Args:
        columns: for each workload, log(baseline / candidate) of each turn.
        confidence: 0 to 1.
        seed: of the resampling, so that a record can be repeated.
    """
    values: NDArray[np.float64] = np.asarray(columns, dtype=np.float64)
    turns = values.shape[1]
    picks = np.random.default_rng(seed).integers(0, turns, size=(BOOTSTRAP, turns))
    means = np.median(values[:, picks], axis=2).mean(axis=0)
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(means, [tail, 1.0 - tail])
    if turns < FEW:
        rows = values.mean(axis=0)
        low, high = min(low, rows.min()), max(high, rows.max())
    return float(np.exp(np.median(values, axis=1).mean())), float(np.exp(low)), float(np.exp(high))


def apart(aa_median: float, aa_low: float, aa_high: float) -> float:
    """Returns by how much the baseline differs from itself beyond chance, as a logarithm.

    Args:
        aa_median: the ratio of the baseline to itself.
        aa_low: lower end of its interval.
        aa_high: upper end of its interval.

    Returns:
        0 where the interval holds 1; else the distance of the ratio from 1: as much may have befallen the candidate's
        figures, in either direction.
    """
    return 0.0 if aa_low <= 1.0 <= aa_high else abs(float(np.log(aa_median)))


def widened(ratio: tuple[float, float, float], log: float) -> tuple[float, float, float]:
    """Returns (ratio, low, high) with both ends of the interval further from the ratio by a logarithm."""
    middle, low, high = ratio
    return middle, low * float(np.exp(-log)), high * float(np.exp(log))


def p_faster(logs: Sequence[float]) -> float:
    """Returns the one-sided p-value of Wilcoxon's signed-rank test for "the median is above 0".

    It is the share of all ways to give the logs signs in which the ranks of what is above 0 have a sum as great
    (Wilcoxon 1945). Equal ones share the mean of their ranks, and zeros are left out. To import the same test from
    scipy takes longer than many a candidate is compared for.
    """
    sizes = sorted(abs(log) for log in logs if log)
    ranks = {size: bisect_left(sizes, size) + bisect_right(sizes, size) + 1 for size in sizes}  # doubled: whole numbers
    chances = np.ones(1)  # of each sum, of no ranks as yet
    for size in sizes:
        without, with_it = np.pad(chances, (0, ranks[size])), np.pad(chances, (ranks[size], 0))
        chances = (without + with_it) / 2
    return float(chances[sum(ranks[log] for log in logs if log > 0) :].sum())


def p_slower(logs: Sequence[float]) -> float:
    """Returns the one-sided p-value for "the median is below 0"."""
    return p_faster([-value for value in logs])
