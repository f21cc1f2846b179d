"""GSO's scores: whether a patch reaches the expert's commit on a task's performance tests.

Source: Shetty et al., "GSO" (2025); gso-bench/gso, src/gso/harness/grading/metrics.py and constants.py,
src/gso/analysis/quantitative/plot_opt_k.py. Times are seconds, one a test: the mean over its repeats.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from whet.evaluators.scores.common import geometric_mean, harmonic_mean, mean, pass_at_k

MIN_SPEEDUP = 1.2
"""The least geometric mean speedup over the base, compared after rounding to one decimal."""
REACHED = 0.95
"""The share of the expert's performance above which it counts as reached."""


def opt_base(base: Sequence[float], patch: Sequence[float]) -> bool:
    """Whether a patch is faster than the base: ``mean(b) > mean(p)`` and ``round(geomean(b_i / p_i), 1) >= 1.2``.

    The suite rounds as numpy does, by ten times the value and the nearest even whole number: 1.15 itself becomes 1.2
    and is accepted, where Python's own ``round(1.15, 1)`` is 1.1.

    Args:
        base: seconds of each test before the patch.
        patch: with it.

    Raises:
        ValueError: there is no test, or the two lists differ in length.
    """
    if not base:
        raise ValueError("there is no test")
    speedup = geometric_mean(_ratios(base, patch))
    return mean(base) > mean(patch) and round(speedup * 10.0) / 10.0 >= MIN_SPEEDUP


def opt_commit(
    base: Sequence[float], patch: Sequence[float], commit: Sequence[float], reached: float = REACHED
) -> bool:
    """Whether a patch reaches the expert's commit: `opt_base`, and the harmonic mean of c_i / p_i is above 0.95.

    The harmonic mean keeps one much faster test from hiding the others. With another ``reached`` it is the suite's
    Opt_p; 0 leaves `opt_base` alone.

    Args:
        base: seconds of each test before the patch.
        patch: with it.
        commit: with the expert's.
        reached: the share that must be exceeded.

    Raises:
        ValueError: there is no test, or the lists differ in length.
    """
    return opt_base(base, patch) and harmonic_mean(_ratios(commit, patch)) > reached


def _ratios(slower: Sequence[float], faster: Sequence[float]) -> list[float]:
    return [one / other if other > 0.0 else math.inf for one, other in zip(slower, faster, strict=True)]


def opt_at_k(problems: Iterable[tuple[int, int]], k: int) -> float:
    """Returns Opt@k in percent: the mean over *all* tasks of the chance that one of k runs reaches the expert.

    Exact, ``1 - C(n-c, k) / C(n, k)``; the suite estimates it from 500 shuffles of its runs, over the tasks that appear
    in some report.

    Args:
        problems: for each (n, c): runs, and those of them with `opt_commit`.
        k: how many runs count.

    Raises:
        ValueError: a task has fewer than k runs.
    """
    return 100.0 * mean(pass_at_k(n, c, k) for n, c in problems)
