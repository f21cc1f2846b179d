"""EffiBench's overheads (NET, NMU, NTMU), lower is better, and EffiBench-X's clipped ratios, higher is better.

Sources: Huang et al., "EffiBench" (NeurIPS 2024); huangd1999/EffiBench, src/report_overhead.py;
EffiBench/EffiBench-X, evaluate_solution.py (`compute_model_metrics`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from whet.evaluators.scores.common import mean


def memory_integral(samples: Sequence[tuple[float, float]]) -> float:
    """Returns the memory used over time in MB*s: the trapezoid rule over (seconds, megabytes) in order of time.

    The published script leaves the first interval out where its clock starts at 0; with memory_profiler's times of day,
    which it reads, there is no difference.
    """
    return math.fsum((after - before) * (low + high) / 2.0 for (before, low), (after, high) in pairwise(samples))


def mean_of_ratios(values: Sequence[float], canonical: Sequence[float]) -> float:
    """Returns a normalised overhead as the paper defines it: the mean over tasks of value / canonical value.

    For seconds it is NET, for peak megabytes NMU, for MB*s NTMU. Only tasks that ran have a value, so that models are
    compared on different sets: show n. NaN of nothing.
    """
    return mean(value / reference for value, reference in zip(values, canonical, strict=True))


def ratio_of_sums(values: Sequence[float], canonical: Sequence[float]) -> float:
    """Returns the same as the published script computes it: sum of values / sum of canonical values.

    The longest tasks rule it. NaN of nothing.
    """
    if len(values) != len(canonical):
        raise ValueError("each value needs its canonical one")
    return math.fsum(values) / math.fsum(canonical) if values else math.nan


def clipped_ratio(canonical: float, value: float) -> float:
    """Returns EffiBench-X's score of one task, 0 to 1: ``clip(canonical / value, 0, 1)``; 0 for an infinite value."""
    return min(1.0, max(0.0, canonical / value))


def effibench_x(tasks: Iterable[tuple[float, float]]) -> float:
    """Returns EffiBench-X's score in percent: the mean over *all* tasks of one language, a wrong one 0.

    Being faster than the canonical solution is worth nothing more than reaching it. The canonical value is that of the
    fastest right canonical solution for runtimes, of the leanest for memory, the smaller of both for the integral. The
    overall score is the mean over languages.

    Args:
        tasks: for each (canonical, value): seconds, bytes or their integral; the value infinite for a wrong answer.
    """
    return 100.0 * mean(clipped_ratio(canonical, value) for canonical, value in tasks)
