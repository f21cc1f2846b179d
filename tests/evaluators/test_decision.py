"""The decision rule, on turns whose truth is known."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata, wilcoxon
from scripted_turns import RULE, decide, turns, works

from whet.core.measurement import Measurement, Outcome
from whet.core.verdict import Reason
from whet.evaluators.finding import Fault, found_by, sound
from whet.evaluators.meters.time import THROUGHPUT, TIME
from whet.evaluators.processes import Pass
from whet.evaluators.timing.decision import Rule, rejudge, sequential
from whet.evaluators.timing.statistics import (
    CONFIRM_STAGES,
    SEARCH_STAGES,
    STEADY,
    VERDICT_STAGES,
    interval,
    p_faster,
    p_slower,
)
from whet.evaluators.timing.turns import Turn, series
from whet.evaluators.timing.workloads import pass_count


def test_a_true_gain_is_found_and_its_figures_hold_together() -> None:
    found = decide({"a": 1.5, "b": 2.0})
    assert found.outcome is Outcome.FASTER
    speedup = found.speedup
    assert speedup.low <= speedup.ratio <= speedup.high
    assert speedup.ratio == pytest.approx(math.sqrt(3.0), rel=0.03)
    assert speedup.ratio == pytest.approx(math.sqrt(math.prod(w.ratio for w in speedup.workloads)))
    assert [w.name for w in speedup.workloads] == ["a", "b"]
    assert speedup.processes == 8
    assert speedup.aa_ratio[0] <= 1.0 <= speedup.aa_ratio[1]


@pytest.mark.parametrize("noise", [0.016, 0.05])
@pytest.mark.corpus(one_in=8)
def test_the_same_speed_is_not_shown(noise: float) -> None:
    wins = sum(decide({"a": 1.0}, noise, seed).faster for seed in range(40))
    assert wins <= 1  # asked: at most 1 %, of which the floor of 1.01x leaves less


def test_a_small_true_gain_is_found_most_of_the_time() -> None:
    found = sum(decide({"a": 1.05}, seed=seed).faster for seed in range(60))
    assert found >= 54


def test_slower_is_said() -> None:
    assert decide({"a": 0.8}).outcome is Outcome.SLOWER


def test_a_gain_below_what_was_asked_for_is_not_shown() -> None:
    rule = Rule(min_speedup=1.5, confidence=0.99, baseline="")
    found = sequential(turns(random.Random(1), {"a": 1.3}, 0.01), works("a"), CONFIRM_STAGES, rule)
    assert isinstance(found, Measurement)
    assert found.outcome is Outcome.NOT_SHOWN
    assert "below the 1.5x" in found.note


def test_one_slower_workload_denies_the_win() -> None:
    found = decide({"a": 3.0, "b": 0.8})
    assert found.outcome is Outcome.NOT_SHOWN
    assert "slower on b" in found.note


@pytest.mark.parametrize("aa", [1.15, 0.85])
def test_a_baseline_that_differs_from_itself_widens_the_interval_and_vetoes_nothing(aa: float) -> None:
    found, even = decide({"a": 27.0}, noise=0.005, aa=aa), decide({"a": 27.0}, noise=0.005)
    assert found.outcome is Outcome.FASTER
    assert found.widened == pytest.approx(max(aa, 1 / aa), rel=0.02)
    assert found.speedup.low == pytest.approx(even.speedup.low / found.widened, rel=0.01)
    assert found.speedup.high == pytest.approx(even.speedup.high * found.widened, rel=0.01)
    assert "by which the interval is wider" in found.note
    small = decide({"a": 1.1}, noise=0.005, aa=aa)
    assert small.outcome is Outcome.NOT_SHOWN
    assert "its interval reaches down" in small.note
    assert decide({"a": 0.113}, noise=0.005, aa=aa).outcome is Outcome.SLOWER


def test_a_gain_of_which_little_is_known_is_looked_at_once_more() -> None:
    assert decide({"a": 3.0}, noise=0.005).speedup.processes == 8
    found = decide({"a": 3.0}, noise=0.2)
    assert found.outcome is Outcome.FASTER
    assert found.speedup.processes == 20


def unsure(number: int) -> Turn:
    """Returns a turn of a hundredfold gain; handing over may take the baseline as long as the candidate's pass."""
    rng = random.Random(number)
    passes = {}
    for side, seconds in {"baseline": 0.02, "candidate": 0.0002, "again": 0.02}.items():
        value = seconds * math.exp(rng.gauss(0, 0.01))
        handover = 2e-5 if side == "candidate" else rng.choice([2e-5, 2e-4])
        passes[side] = Pass(value + handover, value, value, ())
    return Turn(tuple(passes), 0.0, {"a": passes})


def test_no_further_look_is_taken_at_what_turns_cannot_make_surer() -> None:
    found = sequential(unsure, works("a"), VERDICT_STAGES, RULE)
    assert found.outcome is Outcome.FASTER
    assert found.speedup.processes == 8
    assert found.speedup.high > 1.5 * found.speedup.low, "it stands in the interval all the same"


def test_a_record_of_further_looks_than_are_taken_now_is_judged_by_all_of_them() -> None:
    older = sequential(unsure, works("a"), VERDICT_STAGES, RULE, over=lambda look, stage: False)
    assert older.speedup.processes == 20
    assert rejudge(older.raw, VERDICT_STAGES, RULE) == older
    taken = older.raw["turns"]
    for odd in (taken[:19], [*taken, taken[0]]):
        with pytest.raises(ValueError, match="more turns than the looks take"):
            rejudge({**older.raw, "turns": odd}, VERDICT_STAGES, RULE)
    with pytest.raises(ValueError, match="turns are missing"):
        rejudge({**older.raw, "turns": taken[:7]}, VERDICT_STAGES, RULE)


def test_a_clear_loser_is_dropped_after_three_turns() -> None:
    assert decide({"a": 0.9}, stages=SEARCH_STAGES).speedup.processes == 3
    assert decide({"a": 1.5}, stages=SEARCH_STAGES).speedup.processes == 8
    found = [decide({"a": 1.05}, noise=0.05, seed=seed, stages=SEARCH_STAGES) for seed in range(20)]
    assert sum(one.speedup.processes == 3 for one in found) <= 1, "what may be a gain is not dropped"


def test_a_loser_on_an_even_machine_is_no_noise() -> None:
    dropped = [decide({"a": 0.7}, noise=0.004, seed=seed, stages=STEADY.search) for seed in range(20)]
    assert {found.speedup.processes for found in dropped} == {3}
    assert {found.outcome for found in dropped} == {Outcome.NOT_SHOWN}


def test_a_fault_ends_the_measurement() -> None:
    fault = Fault(Reason.WRONG_OUTPUT, "no")
    assert found_by(lambda: sequential(lambda number: sound(fault), works("a"), VERDICT_STAGES, RULE)) is fault


def passes(outside: float, inside: float, count: int = 10) -> list[Turn]:
    honest = Pass(0.022, 0.020, 0.02, ())
    sides = {"baseline": honest, "again": honest, "candidate": Pass(outside, inside, inside, ())}
    return [Turn(("baseline", "candidate", "again"), 0.0, {"a": sides}) for _ in range(count)]


def test_a_clock_that_lies_is_cheating() -> None:
    found = series(passes(outside=0.022, inside=0.002), "a")
    assert isinstance(found, Fault)
    assert found.reason is Reason.CHEATING


def test_a_clock_that_says_more_than_the_window_is_cheating() -> None:
    assert isinstance(series(passes(outside=0.010, inside=0.5), "a"), Fault)


def test_work_left_for_the_handing_over_counts() -> None:
    found = series(passes(outside=0.0130, inside=0.010), "a")
    assert not isinstance(found, Fault)
    # 13 ms of window less the baseline's 2 ms of handing over, not the 10 ms that it says.
    assert found.candidate[0] == pytest.approx(0.011)


def test_the_test_is_one_sided() -> None:
    gains = [0.1 + 0.01 * i for i in range(12)]
    assert p_faster(gains) < 0.001
    assert p_slower(gains) > 0.99
    assert p_faster([0.0] * 10) == 1.0
    assert p_faster([]) == 1.0


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=20, unique=True), st.integers(0, 2**20 - 1))
def test_p_of_distinct_logs_is_that_of_scipy(sizes: list[int], signs: int) -> None:
    logs = [size / 1e6 * (-1) ** (signs >> place & 1) for place, size in enumerate(sizes)]
    assert p_faster(logs) == pytest.approx(wilcoxon(logs, alternative="greater", method="exact").pvalue)


@given(st.lists(st.integers(-3, 3), max_size=8))
def test_p_of_logs_of_which_some_are_alike_is_the_share_of_signs_that_gain_as_much(logs: list[int]) -> None:
    left = [log for log in logs if log]
    ranks = rankdata([abs(log) for log in left])
    seen = sum(rank for rank, log in zip(ranks, left, strict=True) if log > 0)
    every = itertools.product((0, 1), repeat=len(left))
    ways = [sum(rank * sign for rank, sign in zip(ranks, signs, strict=True)) for signs in every]
    assert p_faster(logs) == pytest.approx(sum(way >= seen - 1e-9 for way in ways) / len(ways))


def test_intervals_cover_the_truth_about_as_often_as_asked() -> None:
    rng = random.Random(7)
    covered = 0
    for _ in range(150):
        _, low, high = interval([[math.log(1.2) + rng.gauss(0, 0.03) for _ in range(20)]], 0.9)
        covered += low <= 1.2 <= high
    assert 0.8 <= covered / 150 <= 1.0


@pytest.mark.parametrize(
    ("seconds", "size", "count"), [(1.0, 10, 1), (0.005, 10, 5), (1e-9, 10, 2000), (1e-3, 1 << 25, 2)]
)
def test_a_pass_is_long_enough_and_fits(seconds: float, size: int, count: int) -> None:
    assert pass_count(seconds, size) == count


def test_what_is_not_shown_says_what_could_have_been() -> None:
    coarse, fine = (decide({"a": 1.0}, noise=noise, seed=7) for noise in (0.03, 0.003))
    assert coarse.outcome is fine.outcome is Outcome.NOT_SHOWN
    assert coarse.resolution > fine.resolution > 1.0
    assert f"less than {coarse.resolution:.3f}x cannot be told from nothing" in coarse.note


@pytest.mark.parametrize(("ours", "theirs", "labels"), [(1.0, 1.9, ("parallelism",)), (1.9, 1.9, ()), (1.0, 1.0, ())])
def test_only_what_the_candidate_adds_in_processors_is_parallelism(ours: float, theirs: float, labels: Any) -> None:
    def turn(number: int) -> Turn:
        cpu = {"baseline": 0.02 * ours, "again": 0.02 * ours, "candidate": 0.01 * theirs}
        wall = {"baseline": 0.02, "again": 0.02, "candidate": 0.01}
        return Turn(tuple(wall), 0.0, {"a": {side: Pass(wall[side], wall[side], cpu[side], ()) for side in wall}})

    found = sequential(turn, works("a"), VERDICT_STAGES, RULE)
    assert isinstance(found, Measurement)
    assert found.labels == labels
    assert found.speedup.cpu_seconds == pytest.approx((0.02 * ours, 0.01 * theirs))


def test_throughput_is_time_in_calls_a_second() -> None:
    found = {}
    for meter in (TIME, THROUGHPUT):
        rule = Rule(1.01, 0.99, "the original", meter)
        one = sequential(turns(random.Random(1), {"a": 2.0, "b": 2.0}, 0.0), works("a", "b"), VERDICT_STAGES, rule)
        assert isinstance(one, Measurement)
        found[meter.name] = one
    time, throughput = found["time"].speedup, found["throughput"].speedup
    assert (throughput.ratio, throughput.low, throughput.high) == (time.ratio, time.low, time.high)
    assert time.rates is None
    assert throughput.rates == pytest.approx((2 / 0.04, 2 / 0.02)), "a call of each in 20 ms, then in 10"
