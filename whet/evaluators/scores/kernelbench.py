"""KernelBench's scores: fast_p, the correctness rate and the geometric mean over correct kernels.

Source: Ouyang et al., "KernelBench" (ICML 2025); ScalingIntelligence/KernelBench, src/kernelbench/score.py and
scripts/benchmark_eval_analysis.py. A problem has one speedup, baseline mean time / kernel mean time, of its first
sample; 0 for one that is wrong, does not compile or is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from whet.evaluators.scores.common import geometric_mean, mean

POINTS = (0.0, 0.5, 0.8, 1.0, 1.5, 2.0)
"""The thresholds that the suite reports."""


def fast_p(speedups: Iterable[float], p: float) -> float:
    """Returns fast_p, 0 to 1: the share of problems that are correct with a speedup *above* p.

    All problems with a baseline are in the denominator, failures among them; NaN where there is none.

    Raises:
        ValueError: p is negative, so that wrong answers would count.
    """
    if p < 0.0:
        raise ValueError("a threshold below 0 would count wrong answers")
    return mean(speedup > p for speedup in speedups)


def correct_rate(speedups: Iterable[float]) -> float:
    """Returns the share of problems that are correct, 0 to 1: fast_0."""
    return fast_p(speedups, 0.0)


def geometric_mean_of_correct(speedups: Iterable[float]) -> float:
    """Returns the geometric mean speedup over correct problems only: show the correctness rate beside it.

    NaN where none is correct; the published script says 0 there, and overflows or underflows on long lists, for it
    multiplies before it takes the root.
    """
    return geometric_mean(speedup for speedup in speedups if speedup > 0.0)


def curve(speedups: Sequence[float]) -> list[tuple[float, float]]:
    """Returns fast_p as the steps of a curve: (p, fast_p) at 0 and at each distinct speedup, p ascending.

    From one p until the next the share stays; at the greatest speedup it is 0. Empty without problems.
    """
    ordered = sorted(speedups)
    n = len(ordered)
    last = {speedup: place for place, speedup in enumerate(ordered, 1)}
    steps = {0.0: 0} | last if n else {}
    return [(p, (n - at_most) / n) for p, at_most in steps.items()]
