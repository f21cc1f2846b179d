"""What the scores of all suites share: the expected best of k samples, means, intervals and spread.

A list here has one value a problem, or one a sample of one problem. Failures stay in it, with the value that the suite
gives them (0, or 1 for "no speedup"). Where nothing counts, a figure is NaN.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DRAWS = 2000
"""Resamples of a bootstrap interval."""
_CHUNK = 1 << 22
"""Values that one step of it holds at most, so that its memory is bounded."""


class Range(NamedTuple):
    """The ends of an interval or a range, both included."""

    low: float
    high: float


class Mean(StrEnum):
    """Which mean a score takes over problems."""

    ARITHMETIC = "arithmetic"
    GEOMETRIC = "geometric"
    HARMONIC = "harmonic"

    def of(self, values: Iterable[float]) -> float:
        """Returns this mean of values."""
        return _MEANS[self](values)


# the best of k samples


def best_of_k(values: Iterable[float], k: int) -> float:
    """Returns the expected maximum of k draws without replacement from the n scores of one problem's samples.

    With ascending scores s_1 <= ... <= s_n it is ``sum over r = k..n of C(r-1, k-1) / C(n, k) * s_r``: the mean of the
    maximum over all subsets of k, that is the estimator of lowest variance (Rao-Blackwell). The weights come from
    ``w_n = k / n`` and ``w_(r-1) = w_r * (1 - (k-1) / (r-1))``, where no binomial overflows (ENAMEL's paper). Scores of
    0 and 1 give pass@k.

    Args:
        values: a score for each sample, wrong ones included.
        k: how many samples a user would draw.

    Raises:
        ValueError: k is not from 1 to n, or a score is NaN.
    """
    ordered = sorted(values)
    n = len(ordered)
    _check_k(n, k)
    if any(map(math.isnan, ordered)):
        raise ValueError("a score is NaN")
    weight = k / n
    terms = [weight * ordered[-1]]
    for rank in range(n - 1, k - 1, -1):
        weight *= 1.0 - (k - 1) / rank
        terms.append(weight * ordered[rank - 1])
    return math.fsum(terms)


def pass_at_k(n: int, c: int, k: int) -> float:
    """Returns the chance that k of n samples, drawn without replacement, hold one of the c right ones.

    ``1 - C(n-c, k) / C(n, k)``, in whole numbers until the last division (the unbiased pass@k of the Codex paper). With
    "efficient" in place of "right" it is COFFE's efficient@k, with "as fast as the expert" GSO's Opt@k.

    Raises:
        ValueError: k is not from 1 to n, or c not from 0 to n.
    """
    _check_k(n, k)
    if not 0 <= c <= n:
        raise ValueError(f"{c} of {n} samples cannot be right")
    subsets = math.comb(n, k)
    return (subsets - math.comb(n - c, k)) / subsets


def _check_k(n: int, k: int) -> None:
    if not 1 <= k <= n:
        raise ValueError(f"the best of {k} needs at least as many samples, and there are {n}")


# means


def mean(values: Iterable[float]) -> float:
    """Returns the arithmetic mean; NaN of nothing."""
    listed = list(values)
    return math.fsum(listed) / len(listed) if listed else math.nan


def geometric_mean(values: Iterable[float]) -> float:
    """Returns the geometric mean of values >= 0; 0 where one is 0, NaN of nothing.

    Raises:
        ValueError: a value is negative.
    """
    listed = list(values)
    if 0.0 in listed:
        return 0.0
    return math.exp(mean(map(math.log, listed))) if listed else math.nan


def harmonic_mean(values: Iterable[float]) -> float:
    """Returns the harmonic mean ``n / sum(1 / x)`` of values >= 0; 0 where one is 0, NaN of nothing.

    Raises:
        ValueError: a value is negative.
    """
    listed = list(values)
    if any(value < 0.0 for value in listed):
        raise ValueError("a harmonic mean needs values of at least 0")
    if 0.0 in listed:
        return 0.0
    return len(listed) / math.fsum(1.0 / value for value in listed) if listed else math.nan


_MEANS = {Mean.ARITHMETIC: mean, Mean.GEOMETRIC: geometric_mean, Mean.HARMONIC: harmonic_mean}


def hodges_lehmann(values: Sequence[float]) -> float:
    """Returns the median of ``(a + b) / 2`` over all pairs of values, each with itself too: a robust centre.

    Raises:
        ValueError: there is no value.
    """
    if not values:
        raise ValueError("nothing has no centre")
    return statistics.median((a + b) / 2.0 for a, b in combinations_with_replacement(values, 2))


# how far a figure can be trusted


def leave_one_out(values: Sequence[float], kind: Mean = Mean.ARITHMETIC) -> Range | None:
    """Returns the least and the greatest mean that is left when any one problem is left out.

    None with fewer than two problems. A mean falls least by the loss of its least value and most by that of its
    greatest, so that these two are all that need be tried.
    """
    if len(values) < 2:
        return None
    ordered = sorted(values)
    return Range(kind.of(ordered[:-1]), kind.of(ordered[1:]))


def bootstrap(
    values: Sequence[float], kind: Mean = Mean.ARITHMETIC, confidence: float = 0.95, seed: int = 0
) -> Range | None:
    """Returns the percentile bootstrap interval of a mean over problems; None with fewer than two problems.

    It tells how the figure would move with other problems of the same kind, and nothing of the noise of one
    measurement. The same values in any order give the same interval.

    Args:
        values: one a problem.
        kind: which mean.
        confidence: that the interval covers the true mean.
        seed: of the draws.
    """
    import numpy as np

    if len(values) < 2:
        return None
    given = np.sort(np.asarray(values, dtype=float))
    rng = np.random.default_rng(seed)
    n, rows = len(given), max(1, _CHUNK // len(given))
    with np.errstate(divide="ignore"):
        inner = _forth(given, kind)
        means = np.concatenate(
            [
                _back(inner[rng.integers(0, n, size=(min(rows, DRAWS - done), n))].mean(axis=1), kind)
                for done in range(0, DRAWS, rows)
            ]
        )
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(means, [tail, 1.0 - tail])
    return Range(float(low), float(high))


def _forth(values: NDArray[np.float64], kind: Mean) -> NDArray[np.float64]:
    """Returns the values whose arithmetic mean is the asked mean, seen through `_back`."""
    import numpy as np

    return {Mean.ARITHMETIC: np.positive, Mean.GEOMETRIC: np.log, Mean.HARMONIC: np.reciprocal}[kind](values)


def _back(values: NDArray[np.float64], kind: Mean) -> NDArray[np.float64]:
    import numpy as np

    return {Mean.ARITHMETIC: np.positive, Mean.GEOMETRIC: np.exp, Mean.HARMONIC: np.reciprocal}[kind](values)


def proportion_interval(successes: int, n: int, confidence: float = 0.95) -> Range | None:
    """Returns the exact (Clopper-Pearson) interval of a share of problems; None without problems.

    Raises:
        ValueError: there are more successes than problems, or fewer than none.
    """
    from scipy.special import betaincinv

    if not 0 <= successes <= n:
        raise ValueError(f"{successes} of {n} is no share")
    if n == 0:
        return None
    tail = (1.0 - confidence) / 2.0
    low = betaincinv(successes, n - successes + 1, tail) if successes else 0.0
    high = betaincinv(successes + 1, n - successes, 1.0 - tail) if successes < n else 1.0
    return Range(float(low), float(high))


def spread(values: Iterable[float]) -> tuple[float, ...]:
    """Returns minimum, lower quartile, median, upper quartile and maximum; empty of nothing.

    Quartiles are interpolated between the values, of which the least and the greatest are the ends.
    """
    ordered = sorted(values)
    if not ordered:
        return ()
    quartiles = statistics.quantiles(ordered, n=4, method="inclusive") if len(ordered) > 1 else ordered * 3
    return (ordered[0], *quartiles, ordered[-1])
