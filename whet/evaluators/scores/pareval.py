"""ParEval's scores: the expected best speedup, and speedup by resource, of k samples.

Source: Nichols et al., "Can Large Language Models Write Parallel Code?" (HPDC 2024); parallelcodefoundry/ParEval,
analysis/metrics.py. Times are seconds: T* of the sequential program, T_n of a sample on n threads, ranks or both.
build@k and pass@k are the usual ones: `whet.evaluators.scores.common.pass_at_k`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from whet.evaluators.scores.common import best_of_k, mean

Problem = tuple[float, Sequence[float]]
"""T*, and the time of each sample; infinite for one that is wrong or did not build."""


def speedup_at_k(problems: Iterable[Problem], k: int) -> float:
    """Returns speedup_n@k: the mean over problems of the expected maximum of T* / T_n over k samples.

    Wrong samples stay in with a speedup of 0.

    Raises:
        ValueError: a problem has fewer than k samples.
    """
    return mean(best_of_k((sequential / time for time in times), k) for sequential, times in problems)


def efficiency_at_k(problems: Iterable[Problem], n: int, k: int) -> float:
    """Returns efficiency_n@k: the same with T* / (n T_n), that is speedup by resource.

    Args:
        problems: as for `speedup_at_k`.
        n: threads, ranks or their product, on which the samples really ran.
        k: how many samples a user would draw.

    Raises:
        ValueError: a problem has fewer than k samples.
    """
    return mean(best_of_k((sequential / (n * time) for time in times), k) for sequential, times in problems)


def speedup_as_coded(sequential: float, times: Sequence[float], k: int) -> float:
    """Returns one problem's speedup@k as the published script computes it: only to explain its figures.

    Three faults: wrong samples are left out; *times* are sorted upwards, so that the weights grow towards the slowest
    sample; and ``C(n, r)`` is 1 where n < r, so that the weights do not add up to 1. At k = 1 all is well but for the
    wrong samples; at other k it can exceed the best sample's speedup.

    Args:
        sequential: T*.
        times: of the right samples.
        k: as asked for; the script does not mind that it exceeds the number of samples.
    """
    return _as_coded(sequential, sorted(times), [1.0] * len(times), k)


def efficiency_as_coded(sequential: float, times: Sequence[float], resources: Sequence[float], k: int) -> float:
    """Returns one problem's efficiency@k as the published script computes it: only to explain its figures.

    Beside the faults of `speedup_as_coded` it pairs the sorted times with the resources in their first order, and
    divides by 8 for OpenMP where the rows are those of 32 threads.
    """
    return _as_coded(sequential, sorted(times), resources, k)


def _as_coded(sequential: float, times: Sequence[float], resources: Sequence[float], k: int) -> float:
    subsets = _binomial(len(times), k)
    return math.fsum(
        _binomial(before, k - 1) * sequential / (subsets * max(time, 1e-8) * resource)
        for before, (time, resource) in enumerate(zip(times, resources, strict=True))
    )


def _binomial(n: int, r: int) -> int:
    return math.comb(n, r) if n >= r else 1
