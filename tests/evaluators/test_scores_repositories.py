"""Scores of the repository suites: SWE-fficiency, GSO and SWE-Perf."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.evaluators.scores import gso, swefficiency, sweperf
from whet.evaluators.scores.common import Mean, harmonic_mean, leave_one_out

positive = st.floats(1e-3, 1e3)
ratios = st.lists(positive, min_size=1, max_size=12)


# SWE-fficiency


def test_the_score_by_hand():
    assert swefficiency.score([2, 0.5, 0.1]) == pytest.approx(0.24)
    assert swefficiency.speedup_ratio(10.0, 2.5, 8.0) == 0.5
    assert swefficiency.speedup_ratio(10.0, None, 8.0) == 1 / 8, "a failure is no change"


def test_one_task_can_rule_the_score():
    tasks = [1.0] * 98 + [0.5, 1e-4]
    assert swefficiency.score(tasks) < 0.01
    assert swefficiency.without_worst(tasks, 1) == pytest.approx(0.99)
    assert swefficiency.share_of_worst(tasks, 1) > 0.99
    assert leave_one_out(tasks, Mean.HARMONIC).high == swefficiency.without_worst(tasks, 1)


@given(ratios, st.integers(0, 12))
def test_what_is_left_without_the_worst_follows_from_their_share(tasks, k):
    k = min(k, len(tasks) - 1)
    left = swefficiency.without_worst(tasks, k)
    assert swefficiency.score(tasks) <= left * (1 + 1e-9)
    share = swefficiency.share_of_worst(tasks, k)
    assert 0 <= share < 1
    assert (len(tasks) - k) / left == pytest.approx(len(tasks) / swefficiency.score(tasks) * (1 - share), rel=1e-6)


# GSO


def test_the_rule_by_hand():
    base, patch, commit = [2, 4], [1, 1], [0.9, 1]
    assert gso.opt_base(base, patch)
    assert harmonic_mean([0.9, 1]) == pytest.approx(0.947, abs=5e-4)
    assert not gso.opt_commit(base, patch, commit)
    assert gso.opt_commit(base, patch, commit, reached=0.94)
    assert harmonic_mean([1.8, 1 / 1.3]) == pytest.approx(1.078, abs=5e-4)
    assert gso.opt_commit([4, 4], [1, 1.3], [1.8, 1.0])


@pytest.mark.parametrize(
    ("ratio", "accepted"), [(1.2, True), (1.16, True), (1.15, True), (math.nextafter(1.15, 0), False), (1.1, False)]
)
def test_the_speedup_is_rounded_as_numpy_rounds(ratio, accepted):
    import numpy as np

    assert gso.opt_base([ratio], [1.0]) is accepted
    assert (round(np.float64(ratio), 1) >= gso.MIN_SPEEDUP) == accepted


def test_the_mean_time_must_fall_too():
    assert not gso.opt_base([1.0, 100.0], [0.1, 120.0])
    assert gso.opt_base([1.0, 120.0], [0.1, 100.0])


def test_lists_that_do_not_fit_are_refused():
    for base, patch in (([], []), ([1.0], [1.0, 2.0])):
        with pytest.raises(ValueError, match=r"."):
            gso.opt_base(base, patch)


@given(st.lists(st.tuples(positive, positive, positive), min_size=1, max_size=6), st.floats(0.1, 1))
def test_a_faster_patch_never_loses(tests, factor):
    base, patch, commit = zip(*tests, strict=True)
    faster = [time * factor for time in patch]
    assert gso.opt_base(base, faster) >= gso.opt_base(base, patch)
    assert gso.opt_commit(base, faster, commit) >= gso.opt_commit(base, patch, commit)
    assert gso.opt_base(base, patch) >= gso.opt_commit(base, patch, commit)
    assert gso.opt_commit(base, patch, commit, reached=0) == gso.opt_base(base, patch)


def test_opt_at_k_by_hand():
    assert gso.opt_at_k([(10, 3)], 1) == pytest.approx(30)
    assert gso.opt_at_k([(10, 3)], 3) == pytest.approx(70.83, abs=5e-3)
    assert gso.opt_at_k([(1, 1)] * 45 + [(1, 0)] * 57, 1) == pytest.approx(44.12, abs=5e-3)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=20))
def test_opt_at_k_grows_to_the_share_ever_reached(reached):
    shares = [gso.opt_at_k([(5, c) for c in reached], k) for k in range(1, 6)]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(100 * sum(c > 0 for c in reached) / len(reached))


# SWE-Perf


def durations(rng: random.Random, centre: float, noise: float, n: int) -> list[float]:
    return [centre + rng.uniform(-noise, noise) for _ in range(n)]


def test_a_plain_gain_is_found_but_for_its_noise():
    base = [1.96, 1.97, 1.98, 1.99, 2.00, 2.01, 2.02, 2.03, 2.04, 2.00]
    patched = [time - 0.5 for time in base]
    assert sweperf.minimum_gain(base, patched) == pytest.approx(0.242, abs=0.003)


@pytest.mark.parametrize("n", [6, 10, 20])
def test_no_gain_is_found_in_the_same_times_and_in_noise(n):
    rng = random.Random(7)
    base = durations(rng, 2.0, 0.04, n)
    assert sweperf.minimum_gain(base, base) == 0.0
    assert sweperf.minimum_gain([2.0] * n, [2.0] * n) == 0.0
    assert sweperf.minimum_gain(base, [time * 1.1 for time in base]) == 0.0


def test_a_small_gain_drowns():
    rng = random.Random(3)
    assert sweperf.minimum_gain(durations(rng, 2.0, 0.26, 20), durations(rng, 1.94, 0.26, 20)) == 0.0


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from([5, 8, 9, 20]), st.floats(0.05, 0.9), st.sampled_from([2, 3, 12]))
@pytest.mark.corpus(one_in=8)
def test_the_gain_is_what_trying_step_by_step_finds(seed, n, gain, digits):
    from scipy.stats import mannwhitneyu

    rng = random.Random(seed)
    base = [round(time, digits) for time in durations(rng, 2.0, 0.2, n)]
    patched = [round(time, digits) for time in durations(rng, 2.0 * (1 - gain), 0.2, n)]
    kept = sweperf.without_outliers(base), sweperf.without_outliers(patched)
    x = sweperf.minimum_gain(base, patched, step=0.02)

    def significant(x: float) -> bool:
        shrunk = [time * (1 - x) for time in kept[0]]
        return bool(mannwhitneyu(shrunk, kept[1], alternative="greater").pvalue < sweperf.P_VALUE)

    steps, tried = 0.0, 0.0
    while steps <= 1 and significant(steps):
        tried, steps = steps, steps + 0.02
    assert x == tried


def test_outliers_lie_beyond_one_interquartile_range():
    assert sweperf.without_outliers([1.0, 2.0, 3.0, 4.0, 5.0]) == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert sweperf.without_outliers([10.0, 1.0, 2.0, 3.0, 4.0, 5.0]) == [1.0, 2.0, 3.0, 4.0, 5.0]


@settings(deadline=None)
@given(st.lists(positive, min_size=1, max_size=6))
def test_the_middle_is_never_an_outlier(values):
    ordered = sorted(values)
    kept = sweperf.without_outliers(values)
    assert ordered[len(ordered) // 2] in kept
    assert [value for value in values if value in kept] == kept


def test_the_score_keeps_failures_in_the_denominator():
    assert sweperf.score([[0.2, 0.4], [], [0.0]]) == pytest.approx(0.1)
