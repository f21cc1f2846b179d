"""What the scores of all suites share, against brute force and the worked examples of the papers."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, pairwise
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.evaluators.scores.common import (
    Mean,
    best_of_k,
    bootstrap,
    geometric_mean,
    harmonic_mean,
    hodges_lehmann,
    leave_one_out,
    mean,
    pass_at_k,
    proportion_interval,
    spread,
)

positive = st.floats(1e-3, 1e3)
nonnegative = st.just(0.0) | positive


@st.composite
def scores_and_k(draw, values=nonnegative):
    scores = draw(st.lists(values, min_size=1, max_size=8))
    return scores, draw(st.integers(1, len(scores)))


# the best of k samples


@pytest.mark.parametrize(("k", "expected"), [(1, 0.45), (2, 0.70), (3, 0.825), (4, 0.90)])
def test_the_best_of_k_by_hand(k, expected):
    assert best_of_k([0.9, 0, 0.6, 0.3], k) == pytest.approx(expected)


@given(scores_and_k())
def test_the_best_of_k_is_the_mean_over_all_subsets(case):
    scores, k = case
    assert best_of_k(scores, k) == pytest.approx(fmean(map(max, combinations(scores, k))))


@given(scores_and_k())
def test_the_best_of_k_has_the_binomial_weights_of_its_definition(case):
    scores, k = case
    n = len(scores)
    weights = [Fraction(math.comb(rank - 1, k - 1), math.comb(n, k)) for rank in range(1, n + 1)]
    assert sum(weights) == 1
    assert best_of_k(scores, k) == pytest.approx(
        sum(w * Fraction(s) for w, s in zip(weights, sorted(scores), strict=True))
    )


@given(st.lists(nonnegative, min_size=1, max_size=30))
def test_more_draws_never_lower_the_best(scores):
    best = [best_of_k(scores, k) for k in range(1, len(scores) + 1)]
    assert all(more >= fewer - 1e-9 * max(scores) for fewer, more in pairwise(best))
    assert best[0] == pytest.approx(fmean(scores))
    assert best[-1] == max(scores)


@given(scores_and_k(), st.data())
def test_a_better_sample_never_lowers_the_best(case, data):
    scores, k = case
    place = data.draw(st.integers(0, len(scores) - 1))
    better = [*scores]
    better[place] += data.draw(positive)
    assert best_of_k(better, k) >= best_of_k(scores, k) - 1e-9


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.data())
def test_scores_of_0_and_1_give_pass_at_k(right, data):
    k = data.draw(st.integers(1, len(right)))
    assert best_of_k(right, k) == pytest.approx(pass_at_k(len(right), sum(right), k))


def test_many_samples_neither_overflow_nor_lose_the_weights():
    n = 20_000
    assert best_of_k([1.0] * n, n // 2) == pytest.approx(1.0)
    assert best_of_k([0.0] * (n - 1) + [1.0], n // 2) == pytest.approx(0.5)


@pytest.mark.parametrize("k", [0, -1, 4])
def test_a_k_without_enough_samples_is_refused(k):
    with pytest.raises(ValueError, match="at least as many samples"):
        best_of_k([1.0, 2.0, 3.0], k)
    with pytest.raises(ValueError, match="at least as many samples"):
        pass_at_k(3, 1, k)


def test_a_score_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="NaN"):
        best_of_k([0.5, math.nan], 1)


@pytest.mark.parametrize(
    ("n", "c", "k", "expected"), [(10, 3, 1, 0.30), (10, 3, 3, 0.7083), (4, 2, 1, 0.5), (5, 0, 5, 0)]
)
def test_pass_at_k_by_hand(n, c, k, expected):
    assert pass_at_k(n, c, k) == pytest.approx(expected, abs=5e-5)


@given(st.integers(1, 8), st.data())
def test_pass_at_k_is_the_share_of_subsets_with_a_right_one(n, data):
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    subsets = list(combinations([True] * c + [False] * (n - c), k))
    assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, subsets)) / len(subsets))


@pytest.mark.parametrize("c", [-1, 4])
def test_more_right_samples_than_samples_are_refused(c):
    with pytest.raises(ValueError, match="cannot be right"):
        pass_at_k(3, c, 1)


# means


@given(st.lists(positive, min_size=1, max_size=20))
def test_the_three_means_keep_their_order_and_bounds(values):
    three = [harmonic_mean(values), geometric_mean(values), mean(values)]
    assert min(values) <= three[0] * (1 + 1e-9)
    assert three[0] <= three[1] * (1 + 1e-9) <= three[2] * (1 + 2e-9)
    assert three[2] <= max(values) * (1 + 1e-9)


def test_means_by_hand():
    assert mean([1, 2, 6]) == 3
    assert geometric_mean([2, 4, 8]) == pytest.approx(4)
    assert harmonic_mean([2, 0.5, 0.1]) == pytest.approx(0.24)


@pytest.mark.parametrize("kind", Mean)
def test_nothing_has_no_mean_and_zero_rules_two_of_them(kind):
    assert math.isnan(kind.of([]))
    assert kind.of([0.0, 3.0]) == (1.5 if kind is Mean.ARITHMETIC else 0.0)


@pytest.mark.parametrize("kind", [Mean.GEOMETRIC, Mean.HARMONIC])
def test_means_of_ratios_refuse_what_is_negative(kind):
    with pytest.raises(ValueError, match=r"."):
        kind.of([1.0, -1.0])


def test_the_hodges_lehmann_centre_shrugs_at_an_outlier():
    assert hodges_lehmann([1, 1.1, 1.2, 5]) == pytest.approx(1.175)
    assert hodges_lehmann([3.0]) == 3.0
    with pytest.raises(ValueError, match="nothing"):
        hodges_lehmann([])


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=7), st.floats(-10, 10))
def test_the_hodges_lehmann_centre_moves_with_the_values(values, shift):
    assert min(values) <= hodges_lehmann(values) <= max(values)
    assert hodges_lehmann([v + shift for v in values]) == pytest.approx(hodges_lehmann(values) + shift)


# how far a figure can be trusted


@given(st.lists(nonnegative, min_size=2, max_size=12), st.sampled_from(Mean))
def test_leaving_one_out_is_told_by_the_two_ends(values, kind):
    every = [kind.of(values[:i] + values[i + 1 :]) for i in range(len(values))]
    assert leave_one_out(values, kind) == pytest.approx((min(every), max(every)))


def test_one_problem_tells_nothing_of_others():
    assert leave_one_out([1.0]) is None
    assert bootstrap([1.0]) is None
    assert proportion_interval(0, 0) is None


@settings(deadline=None)
@given(st.lists(nonnegative, min_size=2, max_size=30), st.sampled_from(Mean), st.randoms())
def test_the_interval_lies_within_the_values_and_knows_no_order(values, kind, random):
    found = bootstrap(values, kind)
    assert min(values) * (1 - 1e-9) <= found.low <= found.high <= max(values) * (1 + 1e-9)
    random.shuffle(values)
    assert bootstrap(values, kind) == found


@pytest.mark.parametrize("kind", Mean)
def test_the_interval_holds_the_mean_and_narrows_with_problems(kind):
    few = [0.5 + 0.01 * i for i in range(20)]
    wide, narrow = bootstrap(few, kind), bootstrap(few * 16, kind)
    assert wide.low < kind.of(few) < wide.high
    assert (wide.high - wide.low) / (narrow.high - narrow.low) == pytest.approx(4, rel=0.15)


def test_the_interval_is_that_of_the_normal_law_where_that_holds():
    found = bootstrap([0.0, 1.0] * 200)
    assert found == pytest.approx((0.5 - 1.96 * 0.025, 0.5 + 1.96 * 0.025), abs=0.004)


def test_the_exact_interval_of_a_share():
    assert proportion_interval(0, 10) == pytest.approx((0.0, 1 - 0.025**0.1))
    assert proportion_interval(10, 10) == pytest.approx((0.025**0.1, 1.0))
    assert proportion_interval(5, 10) == pytest.approx((0.18709, 0.81291), abs=1e-5)
    with pytest.raises(ValueError, match="no share"):
        proportion_interval(3, 2)


@settings(deadline=None)
@given(st.integers(1, 400), st.data())
def test_the_exact_interval_leaves_its_tails_and_no_more(n, data):
    successes = data.draw(st.integers(0, n))
    low, high = proportion_interval(successes, n)
    assert 0 <= low <= successes / n <= high <= 1

    def chance(p: float, counts: range) -> float:
        return math.fsum(math.comb(n, c) * p**c * (1 - p) ** (n - c) for c in counts)

    if n <= 60:
        assert successes == 0 or chance(low, range(successes, n + 1)) == pytest.approx(0.025)
        assert successes == n or chance(high, range(successes + 1)) == pytest.approx(0.025)


def test_spread_by_hand():
    assert spread([4, 1, 2, 3, 5]) == (1, 2, 3, 4, 5)
    assert spread([1.0, 2.0]) == (1, 1.25, 1.5, 1.75, 2)
    assert spread([7.0]) == (7, 7, 7, 7, 7)
    assert spread([]) == ()
