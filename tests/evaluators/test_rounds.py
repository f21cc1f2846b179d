"""Rounds of passes that repeat their inputs, of both sides and of the candidate alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.signature import Argument, Role, Signature
from whet.core.task import Kind, Task
from whet.evaluators.finding import Fault, found_by, sound
from whet.evaluators.inputs.source import Input
from whet.evaluators.meters.time import TIME
from whet.evaluators.processes import Pass
from whet.evaluators.timing.bench import Bench
from whet.evaluators.timing.decision import described
from whet.evaluators.timing.further import WINDOW_OF_HANDOVERS
from whet.evaluators.timing.rounds import APART, LONGEST_SECONDS, MOST_SECONDS, more_rounds, new_inputs, with_rounds
from whet.evaluators.timing.turns import Series, Turn, raw, series
from whet.evaluators.timing.workloads import LOOK_INPUTS, ROUND_BYTES, ROUND_INPUTS, TimedWorkload, repeated_count

HANDOVER = 0.0002


def work(rounds: int, counts: bool = True) -> TimedWorkload:
    return TimedWorkload("a", 8, lambda seed, count: [Input("", bytes(4000))] * count, counts, repeats=rounds)


def passes(gain: float, whole: float = 0.025) -> dict[str, Pass]:
    seconds = {"baseline": whole, "candidate": whole / gain, "again": whole}
    return {side: Pass(each + HANDOVER, each, each, ()) for side, each in seconds.items()}


@given(st.floats(1.0, 500.0), st.integers(1, 5000))
def test_rounds_make_the_faster_window_long_as_far_as_the_slower_one_may_grow(gain: float, rounds: int) -> None:
    found, same = more_rounds(passes(gain), work(rounds))
    assert found == same >= rounds
    longer = found / rounds
    assert longer * 0.025 <= LONGEST_SECONDS or found == rounds
    enough = longer * 0.025 / gain >= 0.99 * WINDOW_OF_HANDOVERS * HANDOVER
    assert enough or (found + 1) / rounds * 0.025 > 0.99 * LONGEST_SECONDS


@given(st.floats(APART + 0.01, 5000.0), st.integers(1, 5000))
def test_a_far_faster_candidate_has_rounds_of_its_own_number_and_the_baseline_no_more_than_it_needs(
    gain: float, rounds: int
) -> None:
    ours, theirs = more_rounds(passes(gain), work(rounds), apart=True)
    assert ours == rounds, "its pass of 25 ms is long beside 0.2 ms"
    seconds = theirs / rounds * 0.025 / gain
    assert seconds >= 0.99 * WINDOW_OF_HANDOVERS * HANDOVER
    assert seconds <= LONGEST_SECONDS


def test_what_disturbs_one_process_of_the_baseline_makes_no_pass_longer() -> None:
    disturbed = passes(4.0)
    disturbed["again"] = replace(disturbed["again"], outside=disturbed["again"].outside + 0.005)
    assert more_rounds(disturbed, work(10), apart=True) == more_rounds(passes(4.0), work(10), apart=True)


def test_sides_that_differ_little_have_the_same_rounds() -> None:
    assert (
        more_rounds(passes(1.4, 0.005), work(10), apart=True) == more_rounds(passes(1.4, 0.005), work(10)) == (28, 28)
    )


def test_a_slow_candidate_s_window_bounds_the_rounds_too() -> None:
    assert more_rounds(passes(0.01, 0.0025), work(10)) == (10, 10)
    assert more_rounds(passes(0.01, 0.0025), work(10), apart=True) == (10, 10)


def test_who_says_that_its_calls_take_nothing_has_a_pass_of_bounded_length() -> None:
    lying = passes(10.0)
    lying["candidate"] = replace(lying["candidate"], inside=0.0)
    _, theirs = more_rounds(lying, work(10), apart=True)
    assert theirs * 0.00025 == pytest.approx(MOST_SECONDS, rel=0.01)


def test_a_size_that_the_headline_does_not_rest_on_is_looked_at_for_a_moment_on_either_side() -> None:
    assert more_rounds(passes(100.0, 0.006), work(10, counts=False), apart=True) == (10, 1000)
    assert more_rounds(passes(1.0, 0.003), work(10, counts=False)) == (20, 20)
    assert more_rounds(passes(1.0, 0.003), work(10)) == (34, 34)


def test_a_size_that_the_headline_does_not_rest_on_has_fewer_distinct_inputs_and_as_long_a_pass() -> None:
    count, rounds = repeated_count(1e-6, 40, counts=False)
    assert (count, rounds) == (LOOK_INPUTS, 188), "6 ms of calls of 1 us"
    assert repeated_count(1e-6, 40) == (ROUND_INPUTS, 98)


def test_new_inputs_are_as_many_as_make_their_calls_long_and_as_may_lie_in_a_cache() -> None:
    quick = passes(500.0, 0.02)
    assert new_inputs(quick, (4, 4), 1, 40_000) == ROUND_BYTES // 40_000 - 1
    assert new_inputs(quick, (4, 4), 1, 40) == 99, "a hundred calls of 10 us last a millisecond"
    assert new_inputs(quick, (4, 4), 8, 40) == ROUND_INPUTS - 8
    assert new_inputs(passes(1.0), (4, 4), 1, 40) == 0
    assert new_inputs(quick, (4, 4), 1, 1 << 30) == 0


def test_new_inputs_are_as_many_as_the_clock_outside_can_tell_from_none_of_the_baseline_s_work() -> None:
    short = passes(1.2, 0.02)
    assert new_inputs(short, (20, 20), 2, 40) == 8 - 2, "eight of 0.5 ms are four times what a window may be longer"


NUMBERS = Argument("numbers", "int64", Role.IN, "n")
SIZE = Argument("n", "int64", Role.SIZE)


def native(*arguments: Argument) -> Task:
    signature = Signature("void f(const int64_t *numbers, int64_t n)", None, arguments)
    return Task(
        name="f",
        path=Path("f.c"),
        language="c",
        kind=Kind.FUNCTION,
        source="",
        symbol="f",
        root=Path(),
        signature=signature,
    )


@dataclass(frozen=True)
class OfKnownTurns(Bench):
    """A bench of a gain of 100x, on which so many seconds of the baseline are 20 rounds."""

    whole: float = 0.025

    def turn(self, seed: int) -> Turn:
        scale = {name: rounds / 20 for name, rounds in self.rounds.items()}
        taken = {work.name: passes(100.0 / scale.get(work.name, 1.0), self.whole) for work in self.workloads}
        return sound(FAULT if seed == 0 else Turn((), 0.0, taken, seed=seed, scale=scale))


FAULT = Fault("crash", "")


def known_bench() -> OfKnownTurns:
    works = (work(20), replace(work(0), name="b"))
    return OfKnownTurns(None, None, works, None, 30.0, (0,), TIME)


CHANGED = (replace(NUMBERS, role=Role.INOUT), SIZE)


def test_a_function_that_changes_its_inputs_has_the_same_rounds_on_both_sides() -> None:
    bench, had = with_rounds(known_bench(), native(*CHANGED), 1, None)
    assert had == (known_bench().turn(1),), "which is thrown away, so no other is measured for that"
    assert [work.repeats for work in bench.workloads] == [80, 0]
    assert bench.rounds == {}


@pytest.mark.parametrize("arguments", [CHANGED, (NUMBERS, SIZE)], ids=["same", "own"])
def test_a_native_function_keeps_the_rounds_that_a_turn_showed_when_it_is_gone_on_with(
    arguments: tuple[Argument, ...],
) -> None:
    bench, _ = with_rounds(known_bench(), native(*arguments), 1, None)
    begun = {"workloads": described(bench.workloads), "turns": raw([bench.turn(2)])}
    again, none = with_rounds(known_bench(), native(*arguments), 0, begun)
    assert none == (), "no turn is measured for it"
    assert described(again.workloads) == described(bench.workloads)
    assert again.rounds == bench.rounds


def test_a_far_faster_native_function_has_more_rounds_than_its_baseline_and_more_new_inputs() -> None:
    bench, _ = with_rounds(known_bench(), native(NUMBERS, SIZE), 1, None)
    assert [work.repeats for work in bench.workloads] == [20, 0]
    assert bench.rounds == {"a": 800}, "0.25 ms become 10"
    assert bench.renewing == {"a": ROUND_BYTES // 4000 - 8}


@pytest.mark.parametrize(("longer", "counts"), [(1.0, True), (0.8, True), (0.5, False)])
def test_rounds_that_were_enough_under_other_flags_are_kept_where_they_are_under_these(
    longer: float, counts: bool
) -> None:
    before, _ = with_rounds(known_bench(), native(NUMBERS, SIZE), 1, None)
    recorded = {"workloads": described(before.workloads), "turns": raw([before.turn(2)])}
    under_these = replace(known_bench(), whole=0.025 * longer)
    bench, had = with_rounds(under_these, native(NUMBERS, SIZE), 3, None, recorded)
    assert len(had) == 1 + counts, "the first turn counts where its passes were long enough"
    assert all(one == replace(under_these, rounds=before.rounds).turn(3) for one in had)
    assert bench.rounds["a"] == pytest.approx(800 if counts else 800 / longer, abs=1)
    assert bench.renewing == before.renewing


def test_a_fault_of_the_turn_that_shows_the_rounds_is_the_candidate_s() -> None:
    assert found_by(lambda: with_rounds(known_bench(), native(*CHANGED), 0, None)) is FAULT


def judged(scale: float, cold: float) -> Series:
    """Returns the series of a gain of 10x whose baseline's first round takes longer by ``cold``."""
    sides = {side: Pass(0.02 + cold + HANDOVER, 0.02 + cold, 0.02, (), cold=cold) for side in ("baseline", "again")}
    sides["candidate"] = Pass(2e-3 * scale + HANDOVER, 2e-3 * scale, 2e-3, (), cold=0.5)
    found = series([Turn(tuple(sides), 0.0, {"a": sides}, scale={"a": scale} if scale > 1 else {})] * 8, "a")
    assert isinstance(found, Series)
    return found


def test_a_cold_first_round_weighs_as_much_on_the_baseline_s_side_as_on_the_candidate_s() -> None:
    found = judged(10.0, 0.004)
    assert found.baseline[0] == found.again[0] == pytest.approx(0.0204), "a tenth, as of the candidate's ten rounds"
    assert found.candidate[0] == pytest.approx(2e-3), "what the candidate says of its own is not believed"
    assert judged(10.0, 0.0).baseline[0] == pytest.approx(0.02)
    assert judged(1.0, 0.004).baseline[0] == pytest.approx(0.024)
