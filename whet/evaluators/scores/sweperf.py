"""SWE-Perf's score: the least gain in runtime that a rank test still vouches for.

Source: He et al., "SWE-Perf" (2025); SWE-Perf/SWE-Perf, evaluation/utils.py and evaluation/check_evaluation.py.
Durations are seconds of one test, repeated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile

from whet.evaluators.scores.common import mean

P_VALUE = 0.1
"""Significance level of the rank test: the suite's, so that scores compare with published ones. A larger one gives
larger gains."""
STEP = 0.001
"""Step of the gain, as a share of the runtime: the suite's too. A larger one rounds gains down more; a smaller one
takes more tests."""
_EXACT = 8
"""Up to so many values scipy takes the exact distribution where there are no ties, which must be asked row by row."""


def without_outliers(durations: Sequence[float]) -> list[float]:
    """Returns the durations from Q1 - IQR to Q3 + IQR (one IQR, not the usual one and a half), in their order."""
    import numpy as np

    low, high = np.percentile(durations, [25, 75])
    margin = high - low
    return [duration for duration in durations if low - margin <= duration <= high + margin]


def minimum_gain(
    base: Sequence[float], patched: Sequence[float], p_value: float = P_VALUE, step: float = STEP
) -> float:
    """Returns one test's gain, 0 to 1: the largest x with ``base * (1 - x)`` still significantly above ``patched``.

    By Mann-Whitney, one-sided, x rising by steps from 0 to 1 until it is no longer significant; 0 where it never is.
    Outliers of both sides are left out first. The name of the suite's function and one line in it suggest the other
    variant (the patched side made slower), which it computes and never uses.

    Args:
        base: seconds before the patch.
        patched: seconds with it.
        p_value: below which a difference is significant.
        step: of x.
    """
    import numpy as np
    from scipy.stats import mannwhitneyu

    before, after = np.array(without_outliers(base)), np.array(without_outliers(patched))
    # The sum, step by step, is the suite's: its last x is not always a whole multiple of the step.
    gains = np.concatenate([[0.0], np.cumsum(np.full(round(1.0 / step), step))])
    gains = gains[gains <= 1.0]
    shrunk = before * (1.0 - gains[:, None])
    if min(len(before), len(after)) > _EXACT:
        p_values = mannwhitneyu(shrunk, after[None, :], alternative="greater", axis=1).pvalue
    else:
        p_values = (mannwhitneyu(row, after, alternative="greater").pvalue for row in shrunk)
    significant = sum(1 for _ in takewhile(lambda p: p < p_value, p_values))
    return float(gains[significant - 1]) if significant else 0.0


def score(instances: Iterable[Sequence[float]]) -> float:
    """Returns the suite's Performance, 0 to 1: the mean over *all* instances of the mean gain of their tests.

    An instance whose patch does not apply or fails a test has no gains, and counts 0.
    """
    return mean(mean(gains) if gains else 0.0 for gains in instances)
