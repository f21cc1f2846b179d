"""COFFE's scores: how many samples are right and take fewer instructions than the best known solution.

Source: Peng et al., "COFFE: A Code Efficiency Benchmark for Code Generation" (FSE 2025); JohnnyPeng18/Coffe,
coffe/code_execution.py and coffe/evaluator.py (`Metrics`). Costs are counts of instructions on the stress cases.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from whet.evaluators.scores.common import mean, pass_at_k


def trimmed_mean(counts: Sequence[float]) -> float:
    """Returns the mean without one greatest and one least value (the suite takes 12 runs); infinite where a run failed.

    Raises:
        ValueError: there are fewer than three runs.
    """
    if len(counts) < 3:
        raise ValueError("nothing is left of fewer than three runs")
    if math.inf in counts:
        return math.inf
    return mean(sorted(counts)[1:-1])


def is_efficient(reference: Sequence[float], sample: Sequence[float]) -> bool:
    """Whether a right sample takes strictly fewer instructions over all stress cases than the reference.

    Args:
        reference: mean counts of the best known solution, one a case.
        sample: of the sample; infinite where a case failed.
    """
    return math.fsum(sample) < math.fsum(reference)


def efficient_at_k(problems: Iterable[tuple[int, int]], k: int) -> float:
    """Returns efficient@k: the mean over problems of ``1 - C(n-e, k) / C(n, k)``, that is pass@k of efficient samples.

    The published scorer knows k = 1 with one sample only, and leaves problems out whose counts are incomplete; here
    they stay in, with no efficient sample.

    Args:
        problems: for each (n, e): samples, and those of them that are right and efficient.
        k: how many samples a user would draw.

    Raises:
        ValueError: a problem has fewer than k samples.
    """
    return mean(pass_at_k(n, e, k) for n, e in problems)


def pooled_speedup(problems: Iterable[tuple[float, float]]) -> float:
    """Returns the suite's speedup: ``sum of reference counts / sum of sample counts`` over right, finished samples.

    The sums are pooled, so that the biggest problems rule it; wrong and unfinished samples vanish from it. Show
    efficient@1 and n beside it. NaN where no sample is right.

    Args:
        problems: for each right sample (reference, sample): counts summed over its stress cases, infinite where one
            failed.
    """
    finished = [pair for pair in problems if math.isfinite(pair[0]) and math.isfinite(pair[1])]
    if not finished:
        return math.nan
    return math.fsum(reference for reference, _ in finished) / math.fsum(sample for _, sample in finished)
