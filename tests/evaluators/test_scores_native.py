"""Scores of the suites of kernels and parallel programs: ParEval and KernelBench."""

from __future__ import annotations

import math
from itertools import combinations
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.evaluators.scores import kernelbench, pareval

WRONG = math.inf
seconds = st.floats(1e-3, 1e3)
problems = st.lists(
    st.tuples(seconds, st.lists(seconds | st.just(WRONG), min_size=3, max_size=6)), min_size=1, max_size=5
)


# ParEval

EXAMPLE = (8.0, [1.0, 2.0, 4.0, 8.0])


@pytest.mark.parametrize(("k", "expected"), [(1, 3.75), (2, 5.66667), (3, 7.0), (4, 8.0)])
def test_speedup_at_k_by_hand(k, expected):
    assert pareval.speedup_at_k([EXAMPLE], k) == pytest.approx(expected, abs=1e-5)


def test_efficiency_and_wrong_samples_by_hand():
    assert pareval.efficiency_at_k([EXAMPLE], 4, 2) == pytest.approx(1.41667, abs=1e-5)
    assert pareval.speedup_at_k([(8.0, [*EXAMPLE[1], WRONG])], 1) == pytest.approx(3.0)
    with pytest.raises(ValueError, match="at least as many"):
        pareval.speedup_at_k([EXAMPLE], 5)


@pytest.mark.parametrize(("k", "printed"), [(1, 3.75), (2, 3.16667), (3, 4.25), (4, 15.0)])
def test_what_the_published_script_prints(k, printed):
    assert pareval.speedup_as_coded(*EXAMPLE, k) == pytest.approx(printed, abs=1e-5)


def test_the_published_script_does_not_mind_too_few_samples():
    assert pareval.speedup_as_coded(8.0, [4.0], 20) == pytest.approx(2.0)
    assert pareval.efficiency_as_coded(8.0, [4.0, 2.0], [1, 32], 1) == pytest.approx((8 / 2 + 8 / (4 * 32)) / 2)


@given(problems, st.integers(1, 3))
def test_speedup_at_k_is_the_mean_of_maxima_over_all_subsets(given_problems, k):
    every = [fmean(max(t / x for x in some) for some in combinations(times, k)) for t, times in given_problems]
    assert pareval.speedup_at_k(given_problems, k) == pytest.approx(fmean(every))


@given(problems, st.integers(1, 3), st.integers(1, 512))
def test_efficiency_is_speedup_by_resource_and_grows_with_k(given_problems, k, n):
    assert pareval.efficiency_at_k(given_problems, n, k) == pytest.approx(pareval.speedup_at_k(given_problems, k) / n)
    best = fmean(max(t / x for x in times) for t, times in given_problems)
    ours = pareval.speedup_at_k(given_problems, k)
    assert pareval.speedup_at_k(given_problems, 1) * (1 - 1e-9) <= ours <= best * (1 + 1e-9)


@given(seconds, st.lists(seconds, min_size=1, max_size=8))
def test_at_one_sample_of_right_ones_both_agree(sequential, times):
    assert pareval.speedup_as_coded(sequential, times, 1) == pytest.approx(
        pareval.speedup_at_k([(sequential, times)], 1)
    )


# KernelBench

SPEEDUPS = [0.0, 0.0, 0.4, 0.5, 1.0, 1.2, 2.0, 2.5]


def test_fast_p_is_strict_and_counts_failures():
    assert [kernelbench.fast_p(SPEEDUPS, p) for p in kernelbench.POINTS] == [6 / 8, 4 / 8, 4 / 8, 3 / 8, 2 / 8, 1 / 8]
    assert kernelbench.correct_rate(SPEEDUPS) == 6 / 8
    assert math.isnan(kernelbench.fast_p([], 1.0))
    with pytest.raises(ValueError, match="wrong answers"):
        kernelbench.fast_p(SPEEDUPS, -0.1)


def test_the_geometric_mean_is_over_correct_ones():
    assert kernelbench.geometric_mean_of_correct(SPEEDUPS) == pytest.approx((0.4 * 0.5 * 1.2 * 2 * 2.5) ** (1 / 6))
    assert math.isnan(kernelbench.geometric_mean_of_correct([0.0]))
    assert kernelbench.geometric_mean_of_correct([1e-3] * 500) == pytest.approx(1e-3), "no product underflows"


def test_the_curve_by_hand():
    assert kernelbench.curve([0.0, 0.5, 0.5, 2.0]) == [(0.0, 0.75), (0.5, 0.25), (2.0, 0.0)]
    assert kernelbench.curve([3.0]) == [(0.0, 1.0), (3.0, 0.0)]
    assert kernelbench.curve([]) == []


@given(st.lists(st.just(0.0) | seconds, min_size=1, max_size=20), st.floats(0, 1e3))
def test_the_curve_tells_fast_p_everywhere(speedups, p):
    curve = kernelbench.curve(speedups)
    assert [point for point, _ in curve] == sorted({0.0, *speedups})
    assert [share for _, share in curve] == sorted((share for _, share in curve), reverse=True)
    assert next(share for point, share in reversed(curve) if point <= p) == kernelbench.fast_p(speedups, p)
