"""ENAMEL's eff@k: how near a program comes to an expert's, where execution was cut off at a limit.

Source: Qiu et al., "How efficient is LLM-generated code?" (ICLR 2025), section 2; q-rz/enamel,
enam/evaluate.py. Times are seconds: of a case the Hodges-Lehmann centre of its repeats
(`whet.evaluators.scores.common.hodges_lehmann`), the expert's re-timed on the same machine right before.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from whet.evaluators.scores.common import best_of_k, mean

HARDNESS = (3.0, 3.0, 4.0)
"""Weights of levels 1, 2 and 3; level 0 is for correctness only."""
ALPHA = 2.0
"""The limit of a run, as a multiple of the expert's slowest case."""


def time_limit(references: Sequence[Sequence[float]], alpha: float = ALPHA) -> float:
    """Returns T, the seconds after which a run is cut off: ``alpha`` times the expert's slowest weighted case.

    Args:
        references: the expert's seconds of each case, a list for each weighted level.
        alpha: more than 1.

    Raises:
        ValueError: alpha is not more than 1, or there is no case.
    """
    if alpha <= 1.0:
        raise ValueError("the limit must be above the expert's own time")
    return alpha * max(max(level) for level in references)


def efficiency(
    times: Sequence[Sequence[float]],
    references: Sequence[Sequence[float]],
    hardness: Sequence[float] = HARDNESS,
    alpha: float = ALPHA,
) -> float:
    """Returns e, one right sample's efficiency: 1 for an expert's, above 1 for a faster one.

    ``f_l = max(0, T - max_m t_lm) / (T - max_m t*_lm)`` and ``e = sum h_l f_l / sum h_l``. Beyond T a score is 0
    whatever the true time would be, so that a run cut off there (right-censored) loses nothing. It is not capped at 1.

    Args:
        times: seconds of each case, a list for each weighted level. The first level that was cut off (by the limit,
            memory or an overflow) is infinite, incomplete or missing, and ends the sample: it and those after it
            count 0. A sample that failed has no efficiency: its score is 0.
        references: the expert's, in the same form.
        hardness: weight of each level.
        alpha: as for `time_limit`.

    Raises:
        ValueError: the expert's levels are not as many as the weights.
    """
    limit = time_limit(references, alpha)
    gained = 0.0
    for index, (weight, reference) in enumerate(zip(hardness, references, strict=True)):
        level = times[index] if index < len(times) else ()
        slowest = max(level) if len(level) >= len(reference) else math.inf
        if slowest == math.inf:
            break
        gained += weight * max(0.0, limit - slowest) / (limit - max(reference))
    return gained / math.fsum(hardness)


def eff_at_k(problems: Iterable[Sequence[float]], k: int) -> float:
    """Returns eff@k: the mean over problems of the expected best efficiency of k samples.

    The Rao-Blackwellised estimator in its stable form, as in the published scorer:
    `whet.evaluators.scores.common.best_of_k`. Efficiencies of 0 and 1 make it pass@k. The published scorer leaves a k
    out that some problem has too few samples for; here that is an error.

    Args:
        problems: for each the efficiencies of its samples, 0 for failed ones.
        k: how many samples a user would draw.

    Raises:
        ValueError: a problem has fewer than k samples.
    """
    return mean(best_of_k(samples, k) for samples in problems)
