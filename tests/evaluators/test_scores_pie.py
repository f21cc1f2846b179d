"""PIE's scores and SBLLM's."""

from __future__ import annotations

import math
from itertools import permutations
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.evaluators.scores.pie import (
    OPTIMISED,
    THRESHOLDS,
    best_over_submissions,
    expected_speedup,
    percent_correct,
    percent_optimised,
    sbllm_percent_optimised,
    sbllm_percent_speedup,
    speedup,
)

WRONG = math.inf
SOURCES = [10.0, 8.0, 6.0, 4.0]
ROWS = [[5.0, WRONG], [7.5, 4.0], [WRONG, WRONG], [4.2, 3.8]]

seconds = st.floats(1e-3, 1e3)
samples = st.lists(seconds | st.just(WRONG), min_size=1, max_size=6)
rows = st.lists(st.tuples(seconds, samples), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("k", "speedups", "optimised", "average"),
    [(1, [2, 8 / 7.5, 1, 1], 25, 1.26667), (2, [2, 2, 1, 4 / 3.8], 50, 1.51316)],
)
def test_best_at_k_by_hand(k, speedups, optimised, average):
    found = [speedup(source, row, k) for source, row in zip(SOURCES, ROWS, strict=True)]
    assert found == pytest.approx(speedups)
    assert fmean(found) == pytest.approx(average, abs=1e-5)
    assert percent_optimised(found) == optimised
    assert percent_correct(ROWS, k) == 75


def test_the_threshold_is_inclusive_and_the_first_of_ten():
    assert THRESHOLDS[0] == OPTIMISED
    assert percent_optimised([1.0, OPTIMISED, 1.2, 3.0]) == 75
    assert percent_optimised([1.0, OPTIMISED, 1.2, 3.0], 3.0) == 25


def test_best_at_k_takes_the_first_samples_whatever_follows():
    assert speedup(10, [WRONG, 1.0], 1) == 1.0
    assert speedup(10, [WRONG, 1.0], 2) == 10.0
    assert speedup(10, [2.0], 8) == 5.0
    with pytest.raises(ValueError, match="nothing"):
        speedup(10, [1.0], 0)


@given(seconds, samples, st.data())
def test_the_expected_speedup_is_best_at_k_over_all_orders(source, row, data):
    row = row[:5]
    k = data.draw(st.integers(1, len(row)))
    every = [speedup(source, order, k) for order in permutations(row)]
    assert expected_speedup(source, row, k) == pytest.approx(fmean(every))


@given(rows, st.integers(1, 6))
def test_a_row_is_never_below_one_and_more_samples_never_harm(given_rows, k):
    for source, row in given_rows:
        assert 1.0 <= speedup(source, row, k) <= speedup(source, row, k + 1)


@given(rows, st.integers(1, 6))
def test_only_right_rows_can_be_optimised(given_rows, k):
    speedups = [speedup(source, row, k) for source, row in given_rows]
    shares = [percent_optimised(speedups, threshold) for threshold in THRESHOLDS]
    assert 100 >= percent_correct([row for _, row in given_rows], k) >= shares[0] - 1e-9
    assert shares == sorted(shares, reverse=True)


def test_the_fastest_over_all_submissions_is_shared_by_a_problem():
    found = best_over_submissions(["p", "p", "q"], [10.0, 3.0, 8.0], [[5.0, WRONG], [2.0], [WRONG]])
    assert found == [5.0, 1.5, 1.0]


@given(rows)
def test_sharing_never_lowers_a_row(given_rows):
    sources = [source for source, _ in given_rows]
    lists = [row for _, row in given_rows]
    shared = best_over_submissions(["one problem"] * len(sources), sources, lists)
    assert all(all_best >= speedup(s, row, len(row)) for all_best, s, row in zip(shared, sources, lists, strict=True))


def test_the_two_suites_differ_between_a_tenth_less_time_and_a_tenth_more_speed():
    assert percent_optimised([speedup(10, [9.05], 1)]) == 100
    assert sbllm_percent_optimised([10], [9.05]) == 0
    assert sbllm_percent_optimised([10, 10, 10], [9.0, 8.99, WRONG]) == pytest.approx(100 / 3)
    assert sbllm_percent_speedup([10, 10, 10, 10], [5.0, 12.0, WRONG, 8.0]) == pytest.approx(100 * (1 + 0.25) / 4)


@given(rows)
def test_the_gain_of_sbllm_is_that_of_pie_in_percent(given_rows):
    best = [(source, min(row)) for source, row in given_rows]
    ours = fmean(speedup(source, [time], 1) - 1 for source, time in best)
    assert sbllm_percent_speedup(*zip(*best, strict=True)) == pytest.approx(100 * ours, abs=1e-6)
