"""Scores of the suites of functions: ENAMEL, EvalPerf, COFFE, Mercury, EffiBench."""

from __future__ import annotations

import math
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.evaluators.scores import coffe, effibench, enamel, evalperf, mercury

CUT_OFF = math.inf
FAILED = math.inf
seconds = st.floats(1e-4, 10)
counts = st.integers(1, 10**9)


# ENAMEL

REFERENCES = [[0.1], [0.2], [0.4]]
levels = st.lists(st.lists(seconds, min_size=4, max_size=4), min_size=3, max_size=3)


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([[0.15], [0.5], [CUT_OFF]], (3 * 0.65 / 0.7 + 3 * 0.5) / 10),
        ([[0.15], [0.5]], 0.428571),
        (REFERENCES, 1.0),
        ([[0.05], [0.1], [0.2]], 1.27143),
        ([[0.15], [CUT_OFF], [0.1]], 3 * 0.65 / 0.7 / 10),
        ([], 0.0),
    ],
)
def test_efficiency_by_hand(times, expected):
    assert enamel.time_limit(REFERENCES) == pytest.approx(0.8)
    assert enamel.efficiency(times, REFERENCES) == pytest.approx(expected, abs=5e-6)


def test_a_level_without_all_its_cases_was_cut_off():
    references = [[0.1, 0.1], [0.2, 0.2], [0.4, 0.4]]
    whole = enamel.efficiency(references, references)
    cut = enamel.efficiency([[0.1, 0.1], [0.2], [0.4, 0.4]], references)
    assert (whole, cut) == (1.0, pytest.approx(0.3))


@pytest.mark.parametrize(
    ("references", "alpha"), [(REFERENCES, 1.0), (REFERENCES[:2], 2.0), ([], 2.0), ([[], [], []], 2.0)]
)
def test_references_that_do_not_fit_are_refused(references, alpha):
    with pytest.raises(ValueError, match=r"."):
        enamel.efficiency(REFERENCES, references, alpha=alpha)


@given(levels, levels)
def test_an_expert_has_one_and_nobody_more_than_two(times, references):
    assert enamel.efficiency(references, references) == pytest.approx(1.0)
    assert 0.0 <= enamel.efficiency(times, references) <= 2.0 + 1e-9


@given(levels, levels, st.integers(0, 2), st.integers(0, 3), st.floats(0, 1))
def test_a_faster_case_never_lowers_efficiency(times, references, level, case, factor):
    faster = [[*one] for one in times]
    faster[level][case] *= factor
    assert enamel.efficiency(faster, references) >= enamel.efficiency(times, references)


@given(levels, levels, st.floats(1.001, 100))
def test_beyond_the_limit_the_true_time_does_not_matter(times, references, factor):
    late = enamel.time_limit(references) * factor
    later = [*times[:2], [*times[2][:3], late]]
    censored = [*times[:2], [*times[2][:3], CUT_OFF]]
    assert enamel.efficiency(later, references) == enamel.efficiency(censored, references)


def test_the_score_is_the_mean_over_problems():
    problems = [[0, 0.3, 0.6, 0.9], [1, 1, 1, 1], [0, 0, 0, 0]]
    assert enamel.eff_at_k(problems, 2) == pytest.approx((0.70 + 1 + 0) / 3)
    with pytest.raises(ValueError, match="at least as many"):
        enamel.eff_at_k([*problems, [1.0]], 2)


# EvalPerf

COUNTS = [1000, 600, 300, 100]
SCORES = [25.0, 50.0, 80.0, 100.0]


@pytest.mark.parametrize(
    ("count", "dps", "dps_norm"),
    [(90, 100, 100), (250, 80, 75), (300, 80, 75), (650, 25, 25), (2000, 0, 0), (FAILED, 0, 0)],
)
def test_dps_by_hand(count, dps, dps_norm):
    assert evalperf.dps(count, COUNTS, SCORES) == dps
    assert evalperf.dps_norm(count, COUNTS) == dps_norm


def test_a_task_is_the_mean_of_its_samples_where_enough_are_right():
    samples = (90, 250, 300, 650, 2000)
    assert evalperf.task_score([evalperf.dps(x, COUNTS, SCORES) for x in samples], 10) == pytest.approx(57.0)
    assert evalperf.task_score([evalperf.dps_norm(x, COUNTS) for x in samples], 10) == pytest.approx(55.0)
    assert evalperf.task_score([100.0] * 9, 9) is None
    assert evalperf.model_score({"a": 57.0, "b": None, "c": 43.0}) == 50.0
    assert math.isnan(evalperf.model_score({"a": None}))


def test_where_the_order_of_references_is_inverted_the_last_match_counts():
    assert evalperf.matching_cluster(350, [1000, 300, 400, 100]) == 2


@given(st.lists(counts, min_size=1, max_size=8), counts, counts)
def test_fewer_instructions_never_lower_dps(references, one, other):
    references.sort(reverse=True)
    scores = [100.0 * (i + 1) / len(references) for i in range(len(references))]
    few, many = sorted((one, other))
    assert 100 >= evalperf.dps(few, references, scores) >= evalperf.dps(many, references, scores) >= 0
    assert evalperf.dps(few, references, scores) == evalperf.dps_norm(few, references)


task_scores = st.dictionaries(st.sampled_from("abcdef"), st.none() | st.integers(0, 4).map(float), max_size=6)


@given(st.lists(task_scores, min_size=2, max_size=4))
def test_win_rates_are_those_of_counting_by_hand(scores):
    models = {f"m{i}": tasks for i, tasks in enumerate(scores)}
    by_task, by_model = evalperf.task_win_rates(models), evalperf.model_win_rates(models)
    for name, ours in models.items():
        every, means = [], []
        for other, theirs in models.items():
            shared = [t for t in ours if ours[t] is not None and theirs.get(t) is not None]
            if other == name or not shared:
                continue
            every += [(ours[t] > theirs[t]) + (ours[t] == theirs[t]) / 2 for t in shared]
            a, b = fmean(ours[t] for t in shared), fmean(theirs[t] for t in shared)
            means.append((a > b) + (a == b) / 2)
        assert by_task[name] == pytest.approx(fmean(every) if every else math.nan, nan_ok=True)
        assert by_model[name] == pytest.approx(fmean(means) if means else math.nan, nan_ok=True)


def test_a_model_is_compared_on_common_tasks_only():
    models = {"careful": {"hard": 90.0, "easy": 50.0}, "lucky": {"hard": None, "easy": 60.0}, "alone": {"other": 1.0}}
    assert evalperf.model_win_rates(models) == pytest.approx({"careful": 0, "lucky": 1, "alone": math.nan}, nan_ok=True)


# COFFE


def test_efficient_at_k_by_hand():
    reference, sample = [100, 200, 300, 400], [90, FAILED, 300, 350]
    efficient = [coffe.is_efficient([r], [s]) for r, s in zip(reference, sample, strict=True)]
    assert efficient == [True, False, False, True], "a tie is not efficient"
    assert coffe.efficient_at_k([(1, int(one)) for one in efficient], 1) == 0.5
    assert coffe.pooled_speedup(zip(reference, sample, strict=True)) == pytest.approx(800 / 740)
    assert coffe.efficient_at_k([(10, 3), (10, 0)], 3) == pytest.approx((1 - 35 / 120) / 2)


def test_a_trimmed_mean_by_hand():
    runs = [100, 101, 99, 100, 102, 98, 150, 60, 100, 100, 101, 99]
    assert coffe.trimmed_mean(runs) == 100.0
    assert fmean(runs) == pytest.approx(100.83, abs=0.01)
    assert coffe.trimmed_mean([1, 2, FAILED, 3]) == math.inf
    with pytest.raises(ValueError, match="nothing is left"):
        coffe.trimmed_mean([1, 2])


@given(st.lists(counts, min_size=3, max_size=12))
def test_a_trimmed_mean_drops_one_of_each_end(runs):
    ordered = sorted(runs)
    assert ordered[1] <= coffe.trimmed_mean(runs) <= ordered[-2]


@given(st.lists(st.tuples(counts, counts | st.just(FAILED)), max_size=8))
def test_a_pooled_speedup_lies_between_the_ratios(problems):
    ratios = [reference / sample for reference, sample in problems if sample != FAILED]
    found = coffe.pooled_speedup(problems)
    if not ratios:
        assert math.isnan(found)
    else:
        assert min(ratios) * (1 - 1e-9) <= found <= max(ratios) * (1 + 1e-9)


# Mercury


@pytest.mark.parametrize(
    ("runtime", "paper", "code"), [(0.1, 1, 1.125), (0.2, 1, 1), (0.4, 0.75, 0.75), (1.5, 0, 0), (FAILED, 0, 0)]
)
def test_beyond_by_hand(runtime, paper, code):
    references = [0.2, 0.3, 0.5, 1]
    assert mercury.beyond(runtime, references) == pytest.approx(paper)
    assert mercury.beyond_as_coded(runtime, references) == pytest.approx(code)


def test_the_published_evaluator_clamps_seconds():
    assert mercury.beyond(1, [1, 2, 5]) == 1.0
    assert mercury.beyond_as_coded(1, [1, 2, 5]) == 0.25


def test_where_all_solutions_tie_a_right_one_has_all():
    assert mercury.beyond(7.0, [2.0, 2.0]) == 1.0
    assert mercury.beyond(FAILED, [2.0, 2.0]) == 0.0
    with pytest.raises(ValueError, match="no solution"):
        mercury.beyond(1.0, [])


@given(seconds, seconds, st.lists(seconds, min_size=1, max_size=8))
def test_beyond_is_a_share_that_speed_never_lowers(one, other, references):
    fast, slow = sorted((one, other))
    assert 1 >= mercury.beyond(fast, references) >= mercury.beyond(slow, references) >= 0


@given(st.lists(st.floats(1, 2), min_size=2, max_size=8, unique=True), st.floats(0, 20))
def test_the_two_forms_agree_within_a_range_of_a_second(references, later):
    runtime = min(references) + later
    assert mercury.beyond(runtime, references) == pytest.approx(mercury.beyond_as_coded(runtime, references))


def test_the_score_is_the_mean_over_tasks_of_the_mean_over_samples():
    assert mercury.score([[1.0, 0.0], [1.0]]) == 0.75


# EffiBench and EffiBench-X


def test_overheads_by_hand():
    seconds_taken, canonical = [1, 2, 30], [1, 1, 10]
    assert effibench.mean_of_ratios(seconds_taken, canonical) == pytest.approx(2.0)
    assert effibench.ratio_of_sums(seconds_taken, canonical) == pytest.approx(2.75)
    assert effibench.memory_integral([(0, 10), (1, 20), (3, 20)]) == 55
    assert effibench.memory_integral([(5, 10)]) == 0


def test_overheads_of_nothing_and_of_lists_that_do_not_fit():
    assert math.isnan(effibench.mean_of_ratios([], []))
    assert math.isnan(effibench.ratio_of_sums([], []))
    for net in (effibench.mean_of_ratios, effibench.ratio_of_sums):
        with pytest.raises(ValueError, match=r"."):
            net([1.0], [])


@given(st.lists(st.tuples(seconds, seconds), min_size=1, max_size=10))
def test_both_overheads_lie_between_the_ratios(pairs):
    values, canonical = zip(*pairs, strict=True)
    ratios = [value / reference for value, reference in pairs]
    for found in (effibench.mean_of_ratios(values, canonical), effibench.ratio_of_sums(values, canonical)):
        assert min(ratios) * (1 - 1e-9) <= found <= max(ratios) * (1 + 1e-9)


@given(seconds, st.floats(0, 100), st.integers(1, 30))
def test_the_integral_of_a_constant_is_its_area(step, megabytes, steps):
    samples = [(i * step, megabytes) for i in range(steps + 1)]
    assert effibench.memory_integral(samples) == pytest.approx(steps * step * megabytes, abs=1e-9)


def test_clipped_ratios_by_hand():
    assert effibench.effibench_x([(10, 20), (20, 10)]) == pytest.approx(75)
    assert effibench.effibench_x([(10, 20), (20, 10), (5, FAILED)]) == pytest.approx(50)


@given(seconds, seconds | st.just(FAILED))
def test_a_clipped_ratio_is_a_share(canonical, value):
    assert 0 <= effibench.clipped_ratio(canonical, value) <= 1
    assert (effibench.clipped_ratio(canonical, value) == 1) == (value <= canonical)
