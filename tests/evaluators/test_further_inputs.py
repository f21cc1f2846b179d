"""Passes of a candidate that have more inputs than the baseline's."""

from __future__ import annotations

import random
import shutil
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.options import Options
from whet.evaluators.artifacts import Artifact
from whet.evaluators.finding import Fault, found_by
from whet.evaluators.inputs.source import Input
from whet.evaluators.ladder import open_ladder
from whet.evaluators.meters.time import TIME
from whet.evaluators.processes import Pass
from whet.evaluators.targets import read_task
from whet.evaluators.timing.bench import Bench
from whet.evaluators.timing.further import (
    MOST_PASSES,
    MOST_SECONDS,
    WINDOW_OF_HANDOVERS,
    further_inputs,
    mix,
)
from whet.evaluators.timing.turns import Series, Turn, series
from whet.evaluators.timing.workloads import TimedWorkload

HANDOVER = 0.0002


def passes(gain: float, whole: float = 0.025) -> dict[str, Pass]:
    seconds = {"baseline": whole, "candidate": whole / gain, "again": whole}
    return {side: Pass(each + HANDOVER, each, each, ()) for side, each in seconds.items()}


@given(st.integers(1, 50), st.integers(0, 200), st.integers(0, 1000))
def test_checked_inputs_lie_at_random_among_the_others(checked: int, further: int, seed: int) -> None:
    ours, others = ([Input(f"{name} {i}", b"") for i in range(n)] for name, n in (("a", checked), ("b", further)))
    mixed = mix(ours, others, random.Random(seed))
    assert [mixed.items[place] for place in mixed.checked] == ours
    assert [item for place, item in enumerate(mixed.items) if place not in mixed.checked] == others
    whole = Pass(1.0, 1.0, 1.0, tuple(item.name.encode() for item in mixed.items))
    assert mixed.checked_of(whole).outcomes == tuple(item.name.encode() for item in ours)
    forged = replace(whole, outcomes=(*whole.outcomes, b"one more"))
    assert mixed.checked_of(forged) is forged


def test_what_is_long_enough_gets_no_further_inputs() -> None:
    assert further_inputs(passes(1.1), 10, 100, 10) == 0
    assert further_inputs(passes(2.0), 10, 100, 10) == 0


def test_a_short_window_grows_to_many_times_what_handing_over_costs() -> None:
    further = further_inputs(passes(10.0), 10, 100, 10)
    assert (10 + further) / 10 * 0.0025 >= WINDOW_OF_HANDOVERS * HANDOVER
    assert further < 40
    assert further_inputs(passes(10.0), 10, 1 << 20, 10) == 2, "large inputs take long to draw"


def test_handing_further_inputs_over_takes_no_longer_than_it_is_of_use() -> None:
    quick = {side: replace(one, outside=one.inside + HANDOVER / 20) for side, one in passes(1e5).items()}
    assert further_inputs(quick, 10, 100, 10) == (MOST_PASSES - 1) * 10
    slow = {side: replace(one, outside=one.outside + 9 * HANDOVER) for side, one in passes(1e5).items()}
    assert further_inputs(slow, 10, 100, 10) == pytest.approx(MOST_SECONDS / HANDOVER, abs=1)
    still = {side: replace(one, outside=one.inside) for side, one in passes(1e5).items()}
    assert further_inputs(still, 10, 100, 10) == 0, "nothing is unsure of what costs nothing"


def test_what_a_window_costs_by_itself_is_no_cost_of_an_input() -> None:
    window, each = 1e-4, 1e-5

    def taking(count: int) -> dict[str, Pass]:
        over = window + count * each
        calls = {"baseline": 0.03, "again": 0.03, "candidate": 8e-6 * count}
        return {side: Pass(seconds + over, seconds, seconds, ()) for side, seconds in calls.items()}

    first = further_inputs(taking(4), 4, 100, 4)
    second = further_inputs(taking(4 + first), 4, 100, 4 + first)
    assert first == pytest.approx(MOST_SECONDS / (each + window / 4), abs=1)
    assert second == (MOST_PASSES - 1) * 4 < MOST_SECONDS / each


def short(handovers: list[float], scale: float, count: int = 8) -> Series:
    """Returns the series of a candidate of 20 us a baseline's pass of 20 ms, whose windows hold ``scale`` of those."""
    turns = []
    for number in range(count):
        handover = handovers[number % len(handovers)]
        sides = {side: Pass(0.02 + handover, 0.02, 0.02, ()) for side in ("baseline", "again")}
        sides["candidate"] = Pass(2e-5 * scale + handover, 2e-5 * scale, 2e-5 * scale, ())
        turns.append(Turn(tuple(sides), 0.0, {"a": sides}, scale={"a": scale}))
    found = series(turns, "a")
    assert isinstance(found, Series)
    return found


def test_figures_are_those_of_as_many_inputs_as_the_baselines() -> None:
    assert short([HANDOVER], 6.0).candidate[0] == pytest.approx(2e-5)


def test_what_is_unsure_of_handing_over_goes_into_the_interval_of_a_short_pass() -> None:
    wide, narrow, even = short([1e-4, 2e-4, 4e-4], 1.0), short([1e-4, 2e-4, 4e-4], 6.0), short([2e-4], 1.0)
    assert even.slack_log == 0.0
    assert wide.slack_log > narrow.slack_log > 0.1
    assert wide.slack_log > 2.0, "20 us cannot be told from 0 where handing over varies by 200 us"
    alike = Series((0.02,), (0.02,), (0.02,), (2e-4, 2e-4))
    assert alike.slack_log == 0.0, "what is unsure befalls both sides alike"


@pytest.mark.reads_clock("the inputs and outcomes of a real turn are looked at, not its seconds")
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
@pytest.mark.parametrize("wrong", [False, True])
def test_both_sides_take_all_inputs_in_and_the_checked_ones_are_compared(tmp_path: Path, wrong: bool) -> None:
    text = "def f(items):\n    items.append(1)\n    return sum(items)\n"
    tmp_path.joinpath("slow.py").write_text(text)
    workload = "sizes = [5]\ndef make_input(size, rng):\n    return ([rng.random() for _ in range(size)],)\n"
    tmp_path.joinpath("workload.py").write_text(workload)
    settings = Options()
    with closing(open_ladder(read_task(f"{tmp_path}/slow.py::f", settings), settings, 1)) as ladder:
        judge = lambda item, ours, theirs: None if ours == theirs else Fault("wrong_output", "")  # noqa: E731
        draw = lambda seed, count: ladder.source.draw(5, [seed + number for number in range(count)])  # noqa: E731
        sides = [ladder.builder.build(one) for one in (text, text.replace("sum", "max" if wrong else "sum") + "\n")]
        assert all(isinstance(one, Artifact) for one in sides)
        works = (TimedWorkload("size 5", 3, draw),)
        bench = Bench(*sides, works, judge, 30.0, (0,), TIME, further={"size 5": 4})
        found = found_by(lambda: bench.turn(1))
        plain = found_by(lambda: replace(bench, further={}).turn(1))
    assert isinstance(found, Fault) is wrong
    if not wrong:
        assert found.scale == {"size 5": 7 / 3}
        assert found.inputs == plain.inputs, "the seed of a turn gives the checked inputs, with others or without"
        for mine, other in zip(found.passes["size 5"].values(), plain.passes["size 5"].values(), strict=True):
            assert len(mine.outcomes) == 3 == len(other.outcomes)
