"""SWE-fficiency's scores: a patch's speedup beside that of the expert's.

Source: Ma et al., "SWE-fficiency" (2025); swefficiency/swefficiency, scripts/eval/get_report.py. A harmonic mean over
ratios that span five orders of magnitude is ruled by a handful of tasks, so a table shows the geometric mean, the
leave-one-out range (`common.leave_one_out`) and the share of the worst tasks beside it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from whet.evaluators.scores.common import harmonic_mean


def speedup_ratio(before: float, after: float | None, gold_speedup: float) -> float:
    """Returns SR of one task: the patch's speedup / the expert's speedup.

    A patch that is missing, does not apply or fails a test counts as no change: SR is 1 / expert's speedup, and not 0.

    Args:
        before: seconds of the workload before the patch.
        after: seconds with it; None for a failure.
        gold_speedup: seconds before / seconds after the expert's patch.
    """
    return (1.0 if after is None else before / after) / gold_speedup


def score(ratios: Sequence[float]) -> float:
    """Returns the suite's score: the harmonic mean of SR over all tasks. 1 is the expert; NaN of nothing.

    The published script writes the same after a geometric mean that it never defines (a NameError).
    """
    return harmonic_mean(ratios)


def without_worst(ratios: Sequence[float], k: int) -> float:
    """Returns the harmonic mean without the k smallest ratios: how much of a score hangs on them."""
    return harmonic_mean(sorted(ratios)[k:])


def share_of_worst(ratios: Sequence[float], k: int) -> float:
    """Returns the share of the k smallest ratios in ``sum(1 / SR)``, 0 to 1. All ratios are above 0."""
    shares = [1.0 / ratio for ratio in sorted(ratios)]
    return math.fsum(shares[:k]) / math.fsum(shares)
