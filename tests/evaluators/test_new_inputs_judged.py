"""What a candidate saves because a pass repeats its inputs: scripted turns, no clock."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import pytest
from scripted_turns import RULE, turns, works

from whet.core.measurement import Measurement, Outcome
from whet.core.verdict import Reason
from whet.evaluators.finding import Fault, found_by
from whet.evaluators.processes import NewRound, Pass
from whet.evaluators.timing.decision import rejudge, sequential
from whet.evaluators.timing.quiet import in_cpu_seconds
from whet.evaluators.timing.statistics import VERDICT_STAGES
from whet.evaluators.timing.turns import Series, Turn, as_if_new, contradicted_on_new_inputs, from_raw, raw


def renewed(turn: Turn, **times: float) -> Turn:
    """Returns a turn in whose sides calls on new inputs take so many times as long as on those that come again."""
    passes = {
        name: {side: replace(one, renewed=one.inside * times.get(side, 1.0)) for side, one in sides.items()}
        for name, sides in turn.passes.items()
    }
    return replace(turn, passes=passes)


def judged(speedup: float, noise: float = 0.016, chance: float = 1.0, **times: float) -> Measurement:
    """Returns what turns show in whose processes, by some chance each, the candidate answers again."""
    rng = random.Random(3)
    one, other = (turns(random.Random(2), {"a": ratio}, noise) for ratio in (speedup, 1.0))

    def turn(number: int) -> Turn:
        return renewed(one(number), **times) if rng.random() < chance else renewed(other(number))

    return sequential(turn, works("a"), VERDICT_STAGES, RULE)


def test_a_gain_that_new_inputs_do_not_show_is_none() -> None:
    assert judged(10.0).outcome is Outcome.FASTER
    found = judged(10.0, candidate=10.0)
    assert found.outcome is Outcome.NOT_SHOWN
    assert found.speedup.low < 1.0 < found.speedup.high
    assert "its calls on new inputs, 10 times as long as on those that come again, count" in found.note


def test_a_gain_beside_it_is_told_as_new_inputs_have_it() -> None:
    found = judged(20.0, candidate=10.0)
    assert found.outcome is Outcome.FASTER
    assert found.speedup.ratio == pytest.approx(2.0, rel=0.05)


def test_what_the_baseline_saves_too_is_no_saving_of_the_candidate() -> None:
    found = judged(2.0, baseline=3.0, candidate=3.2, again=3.1)
    assert found.speedup.ratio == pytest.approx(2.0, rel=0.05)
    assert "on new inputs" not in found.note


@pytest.mark.parametrize("chance", [0.3, 0.6, 0.8])
def test_whoever_answers_again_in_some_processes_only_gains_nothing(chance: float) -> None:
    found = judged(12.0, chance=chance, candidate=12.0)
    assert found.outcome is Outcome.NOT_SHOWN
    assert found.speedup.ratio < 1.1


def test_one_call_that_was_disturbed_changes_nothing() -> None:
    taken = turns(random.Random(2), {"a": 2.0}, 0.016)
    found = [renewed(taken(number), candidate=60.0 if number == 3 else 1.0) for number in range(8)]
    assert as_if_new(found, "a") == [1.0] * 8


def test_nothing_is_said_where_no_new_inputs_were_met() -> None:
    taken = turns(random.Random(2), {"a": 2.0}, 0.016)
    assert as_if_new([taken(number) for number in range(8)], "a") == [1.0] * 8
    assert as_if_new([], "a") == []


def test_evidence_is_judged_in_the_same_way() -> None:
    found = judged(20.0, candidate=10.0)
    assert rejudge(found.raw, VERDICT_STAGES, RULE) == found


def test_outcomes_on_new_inputs_stay_out_of_evidence() -> None:
    def sides(**more: Any) -> dict[str, Pass]:
        return {side: Pass(0.02, 0.02, 0.02, (b"one",), **more) for side in ("baseline", "candidate", "again")}

    turn = Turn((), 0.0, {"a": sides(renewed=0.03, renewed_outcomes=(b"other",))})
    assert from_raw(raw([turn]))[0].passes["a"]["candidate"] == Pass(0.02, 0.02, 0.02, (), renewed=0.03)
    assert "outcomes" not in str(raw([turn]))


@pytest.mark.parametrize(
    ("told", "took", "cheats"), [(0.02, 0.0202, False), (0.002, 0.02, True), (0.002, 0.003, False)]
)
def test_a_clock_that_is_touched_while_new_inputs_are_met_is_contradicted_from_outside(
    told: float, took: float, cheats: bool
) -> None:
    taken = turns(random.Random(2), {"a": 2.0}, 0.016)

    def turn(number: int) -> Turn:
        one = renewed(taken(number))
        new = NewRound(0.0404, 0.04, 0.04, None, 1.0)
        passes = {side: replace(each, new=new) for side, each in one.passes["a"].items()}
        passes["candidate"] = replace(passes["candidate"], new=replace(new, outside=took + 0.0004, inside=told))
        return replace(one, passes={"a": passes})

    found = found_by(lambda: sequential(turn, works("a"), VERDICT_STAGES, RULE))
    assert isinstance(found, Fault) is cheats
    if isinstance(found, Fault):
        assert found.reason is Reason.CHEATING
        assert found.detail == "a, on new inputs: its process says 2 ms in the calls, the clock outside 20 ms"


@pytest.mark.parametrize(("waited", "cheats"), [(None, True), (0.0, True), (0.015, True), (0.018, False)])
def test_what_waited_for_a_processor_on_new_inputs_touched_no_clock(waited: float | None, cheats: bool) -> None:
    new = NewRound(0.0084, 0.008, 0.008, None, 1.0, 0.0)
    honest = Pass(0.0204, 0.02, 0.02, (), waited=0.0, new=new)
    theirs = replace(honest, new=replace(new, outside=0.0284, waited=waited))
    assert contradicted_on_new_inputs("a", [honest] * 2, [honest]) is None
    found = contradicted_on_new_inputs("a", [honest] * 2, [theirs])
    assert (found is not None) is cheats


def on_a_busy_machine(cpu: float, ran: float) -> list[Turn]:
    """Returns turns of a gain of 2x in which another process has the processor while the candidate meets new inputs."""
    found = []
    for number in range(8):
        passes = {}
        for side, seconds in ("baseline", 0.02), ("candidate", 0.01), ("again", 0.02):
            one = Pass(2 * seconds + 0.0004, 2 * seconds, seconds, (), ran=seconds + 0.0003, waited=seconds, whole=True)
            passes[side] = replace(
                one, renewed=2 * seconds, new=NewRound(0.0044, 0.004, 0.004, 0.0043, seconds / 0.004)
            )
        new = NewRound(0.0104, 0.01, cpu, ran, 2.5)
        passes["candidate"] = replace(passes["candidate"], renewed=0.025, new=new)
        found.append(Turn((), 2.0, {"a": passes}, cores=(0,), seed=number))
    return found


def test_where_cpu_seconds_count_those_of_new_inputs_do_too() -> None:
    taken = on_a_busy_machine(0.004, 0.0043)
    assert as_if_new(taken, "a") == pytest.approx([1.25] * 8)
    assert as_if_new(taken, "a", by_cpu=True) == [1.0] * 8
    found = in_cpu_seconds(taken, "a")
    assert isinstance(found, Series)
    assert found.logs == pytest.approx([math.log(2.0)] * 8, rel=0.01)
    kept = in_cpu_seconds(on_a_busy_machine(0.008, 0.0083), "a")
    assert isinstance(kept, Series)
    assert kept.logs == pytest.approx([0.0] * 8, abs=0.01), "half of the gain was answers that it had"


def test_in_cpu_seconds_what_a_first_round_took_longer_weighs_as_much_on_both_sides() -> None:
    taken = on_a_busy_machine(0.004, 0.0043)
    colder = []
    for number, turn in enumerate(taken):
        by_clock = 0.003 * (-1) ** number  # other work disturbs it by far more
        passes = {side: replace(one, cold=by_clock, cold_cpu=0.002) for side, one in turn.passes["a"].items()}
        colder.append(replace(turn, passes={"a": passes}, scale={"a": 2.0}))
    found = in_cpu_seconds(colder, "a")
    assert isinstance(found, Series)
    assert found.baseline == found.again == pytest.approx([0.019] * 8)
    assert found.candidate == pytest.approx([0.005] * 8), "what the candidate says of its own is not believed"


def test_cpu_seconds_on_new_inputs_that_the_kernel_contradicts_do_not_count() -> None:
    assert in_cpu_seconds(on_a_busy_machine(0.004, 0.0083), "a") == (
        "a, on new inputs: its process says 4 ms in the calls, the kernel 8 ms"
    )
