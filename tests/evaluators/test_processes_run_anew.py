"""A process that the machine disturbed, and no other of its turn, is run anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest

from whet.core.task import Kind
from whet.core.verdict import Reason
from whet.evaluators.finding import BaselineLost, Fault, found_by
from whet.evaluators.inputs.source import Input
from whet.evaluators.meters.base import Setting
from whet.evaluators.processes import Pass
from whet.evaluators.timing.bench import MOST_ANEW, Bench
from whet.evaluators.timing.quiet import disturbed_alone, quiet
from whet.evaluators.timing.turns import SIDES, LeftOut, Turn, from_raw, raw
from whet.evaluators.timing.workloads import TimedWorkload

QUIET = Pass(0.021, 0.02, 0.02, (), ran=0.021, waited=0.0, pace=3e-4)
WAITED = replace(QUIET, outside=0.031, inside=0.03, waited=0.01)
SLOW = replace(QUIET, pace=4e-4)
STOLEN = replace(QUIET, stolen=0.01)
DISTURBED = pytest.mark.parametrize("disturbed", [WAITED, SLOW, STOLEN], ids=["waited", "slow", "stolen"])


def turn_of(**sides: Pass) -> Turn:
    return Turn(SIDES, 0.0, {"a": {side: sides.get(side, QUIET) for side in SIDES}}, cores=(0,))


@DISTURBED
@pytest.mark.parametrize("side", SIDES)
def test_the_one_that_was_disturbed_is_known_whose_ever_it_is(side: str, disturbed: Pass) -> None:
    assert disturbed_alone(turn_of(**{side: disturbed}), ["a"]) == side


def test_a_turn_that_was_left_alone_or_disturbed_in_more_than_one_process_has_none() -> None:
    assert disturbed_alone(turn_of(), ["a"]) is None
    assert disturbed_alone(turn_of(baseline=WAITED, candidate=WAITED), ["a"]) is None
    assert disturbed_alone(turn_of(baseline=WAITED, again=SLOW), ["a"]) is None
    assert disturbed_alone(turn_of(baseline=SLOW, candidate=replace(SLOW, pace=5e-4)), ["a"]) is None


def test_a_process_is_not_known_by_its_seconds() -> None:
    assert disturbed_alone(turn_of(candidate=replace(QUIET, outside=0.05, inside=0.049, ran=0.05)), ["a"]) is None


@dataclass
class Scripted:
    """A meter whose processes give what a script says: for each side, a pass a process, the last one again and again.

    Attributes:
        script: passes by side.
        name: of the metric.
        taken: the sides whose processes ran, in their order.
    """

    script: Mapping[str, list[Pass]]
    name: str = "time"
    controls: tuple[str, ...] = ()
    taken: list[str] = field(default_factory=list)

    def take(self, artifact: Any, drawn: Mapping[str, Any], warm: Input, setting: Setting) -> Mapping[str, Pass]:
        number = self.taken.count(setting.side)
        self.taken.append(setting.side)
        passes = self.script.get(setting.side, [QUIET])
        one = passes[min(number, len(passes) - 1)]
        return {name: replace(one, outcomes=one.outcomes or (b"right",) * len(items)) for name, items in drawn.items()}


def judged(item: Input, expected: bytes, actual: bytes) -> Fault | None:
    return None if actual == expected else Fault(Reason.WRONG_OUTPUT, "another outcome")


def bench_of(meter: Scripted, judge: Callable[..., Fault | None] = judged) -> Bench:
    task = SimpleNamespace(kind=Kind.FUNCTION, signature=None)
    artifact = SimpleNamespace(layouts=1, launched=False, builder=SimpleNamespace(task=task))
    work = TimedWorkload("a", 2, lambda seed, count: [SimpleNamespace(payload=b"%d" % n) for n in range(count)])
    return Bench(artifact, artifact, [work], judge, 1.0, (0,), meter)


@DISTURBED
@pytest.mark.parametrize("side", SIDES)
def test_it_alone_is_run_anew_on_the_same_inputs(side: str, disturbed: Pass) -> None:
    meter = Scripted({side: [disturbed, QUIET]})
    turn = bench_of(meter).turn(1)
    assert sorted(meter.taken[:3]) == sorted(SIDES)
    assert meter.taken[3:] == [side]
    assert turn.passes["a"][side].outside == QUIET.outside
    assert turn.inputs == bench_of(Scripted({})).turn(1).inputs
    (left_out,) = turn.left_out
    assert left_out.side == side
    assert quiet([turn], ["a"]) == [0]
    assert from_raw(raw([turn]))[0].left_out == turn.left_out


def test_so_often_and_no_more() -> None:
    meter = Scripted({"again": [WAITED]})
    turn = bench_of(meter).turn(1)
    assert meter.taken[3:] == ["again"] * MOST_ANEW
    share = WAITED.waited / WAITED.outside
    assert turn.left_out == (LeftOut("again", pytest.approx(share), 1.0),) * MOST_ANEW
    assert quiet([turn], ["a"]) == [], "it is dropped as a whole"


def test_none_is_run_anew_where_two_were_disturbed_or_no_time_is_measured() -> None:
    both = {"baseline": [WAITED, QUIET], "candidate": [WAITED, QUIET]}
    for meter in (Scripted(both), Scripted({"candidate": [WAITED, QUIET]}, name="memory")):
        assert bench_of(meter).turn(1).left_out == ()
        assert len(meter.taken) == len(SIDES)


@pytest.mark.parametrize(
    ("side", "number", "found"), [("candidate", 0, Fault), ("candidate", 1, Fault), ("baseline", 1, BaselineLost)]
)
def test_outcomes_of_those_left_out_are_compared_too(side: str, number: int, found: type[Fault]) -> None:
    wrong = (b"wrong", b"right")
    passes = [WAITED, QUIET]
    passes[number] = replace(passes[number], outcomes=wrong)
    meter = Scripted({side: passes})
    ended = found_by(lambda: bench_of(meter).turn(1))
    assert type(ended) is found
    assert len(meter.taken) == len(SIDES) + number
