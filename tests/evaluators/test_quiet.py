"""Turns that the machine disturbed: dropped, replaced, counted in CPU seconds, or nothing is said."""

from __future__ import annotations

import math
import os
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scripted_turns import RULE, VERDICT_STAGES, works

from whet.core.measurement import CPU, WALL, Measurement, Outcome
from whet.core.options import Options
from whet.core.plain import from_plain, to_plain
from whet.evaluators.finding import Fault
from whet.evaluators.ladder import Ladder, open_ladder
from whet.evaluators.meters.base import Setting
from whet.evaluators.meters.time import timed, watched, windows
from whet.evaluators.processes import Pass, TargetProcess
from whet.evaluators.targets import read_task
from whet.evaluators.timing.decision import rejudge, sequential
from whet.evaluators.timing.quiet import DISTURBED_SHARE, UNEVEN, disturbance, quiet, unevenness, unwaited
from whet.evaluators.timing.statistics import SEARCH_STAGES
from whet.evaluators.timing.turns import SIDES, Turn, from_raw, used

HANDOVER = 0.002


def made(
    waits: Callable[[int, str], float], gain: float = 2.0, idle: float = 0.0, cores: int = 1
) -> Callable[[int], Turn]:
    """Returns what makes turns of 20 ms in which a side also waits for a processor, for seconds by turn and side."""

    def turn(number: int) -> Turn:
        rng = random.Random(number)
        passes = {}
        for side in SIDES:
            computed = 0.02 / (gain if side == "candidate" else 1.0) * math.exp(rng.gauss(0, 0.005))
            waited, slept = waits(number, side), idle if side == "candidate" else 0.0
            inside = computed + waited + slept
            ran = computed + HANDOVER
            passes[side] = Pass(inside + HANDOVER, inside, computed, (), ran=ran, waited=waited, whole=True)
        return Turn(SIDES, 0.0, {"a": passes}, cores=tuple(range(cores)))

    return turn


def decided(turn: Callable[[int], Turn]) -> Measurement:
    found = sequential(turn, works("a"), VERDICT_STAGES, RULE)
    assert isinstance(found, Measurement)
    again = rejudge(found.raw, VERDICT_STAGES, RULE)
    assert again == found
    return found


def test_what_waits_is_seen_whose_ever_it_is_and_what_sleeps_is_not() -> None:
    for side in SIDES:
        turn = made(lambda number, each, side=side: 0.01 * (each == side))(1)
        assert disturbance(turn, ["a"]) > 0.3
    assert disturbance(made(lambda number, side: 0.0, idle=0.01)(1), ["a"]) == 0.0


def test_threads_that_take_turns_on_one_processor_disturb_nobody() -> None:
    turn = made(lambda number, side: 0.0)(1)
    sides = {side: replace(one, ran=one.outside, waited=one.outside) for side, one in turn.passes["a"].items()}
    assert disturbance(replace(turn, passes={"a": sides}), ["a"]) == 0.0


def test_the_thread_with_the_clock_is_no_other_work_on_the_one_processor_of_both() -> None:
    turn = made(lambda number, side: 0.0)(1)
    sides = {side: replace(one, waited=0.01, clock=one.outside - one.ran) for side, one in turn.passes["a"].items()}
    assert disturbance(replace(turn, passes={"a": sides}), ["a"]) == 0.0
    assert disturbance(replace(turn, passes={"a": sides}, cores=(0, 1)), ["a"]) > 0.3, "it has others there"


def test_what_a_hypervisor_took_counts_against_the_whole_turn() -> None:
    turn = made(lambda number, side: 0.0)(1)
    sides = {side: replace(one, stolen=0.01 * (side == "again")) for side, one in turn.passes["a"].items()}
    whole = sum(one.outside for one in sides.values())
    assert disturbance(replace(turn, passes={"a": sides}), ["a"]) == pytest.approx(0.01 / whole)


def paced(gain: float, slow: Callable[[int, str], float]) -> Callable[[int], Turn]:
    """Returns what makes turns in which the core is slower, for both a side and what is timed beside it."""
    even = made(lambda number, side: 0.0, gain)

    def turn(number: int) -> Turn:
        one = even(number)
        sides = {}
        for side, each in one.passes["a"].items():
            slower = slow(number, side)
            seconds = {name: getattr(each, name) * slower for name in ("outside", "inside", "cpu", "ran")}
            sides[side] = replace(each, **seconds, pace=3e-4 * slower)
        return replace(one, passes={"a": sides})

    return turn


def test_a_core_that_is_slower_in_a_part_of_a_turn_is_seen_whose_ever_it_is() -> None:
    for side in SIDES:
        turn = paced(2.0, lambda number, each, side=side: 1.5 if each == side else 1.0)(1)
        assert unevenness(turn, ["a"]) == pytest.approx(1.5)
        assert quiet([turn], ["a"]) == []
        assert unwaited([turn], ["a"]) == [0]
    slow_throughout = paced(2.0, lambda number, side: 1.5)(1)
    assert unevenness(slow_throughout, ["a"]) == pytest.approx(1.0)
    assert quiet([slow_throughout], ["a"]) == [0]
    assert unevenness(made(lambda number, side: 0.0)(1), ["a"]) == 1.0, "nothing is known"


def test_uneven_turns_are_replaced() -> None:
    found = decided(paced(2.0, lambda number, side: 1.4 if number % 3 == 1 and side == "baseline" else 1.0))
    assert found.speedup.processes == VERDICT_STAGES[0].turns
    assert found.speedup.ratio == pytest.approx(2.0, rel=0.01)
    assert [one["turn"] for one in found.raw["dropped"]] == [0, 3, 6, 9]
    assert all(one["uneven"] > UNEVEN for one in found.raw["dropped"])


def test_where_the_core_is_never_even_the_steadiest_turns_count_by_the_clock() -> None:
    found = decided(paced(3.0, lambda number, side: 1.3 + 0.4 * (number % 2) if side == "candidate" else 1.0))
    assert found.outcome is Outcome.FASTER
    assert found.speedup.clock == WALL
    assert [one["turn"] for one in found.raw["dropped"]] == list(range(0, 16, 2)), "those of 1.7 beside those of 1.3"


@pytest.mark.corpus(one_in=8)
def test_disturbed_turns_are_replaced_and_stay_in_the_evidence() -> None:
    found = decided(made(lambda number, side: 0.03 * (number % 3 == 1 and side == "baseline")))
    assert found.outcome is Outcome.FASTER
    assert found.speedup.clock == WALL
    assert found.speedup.ratio == pytest.approx(2.0, rel=0.01)
    assert [one["turn"] for one in found.raw["dropped"]] == [0, 3, 6, 9]
    assert all(one["share"] > DISTURBED_SHARE for one in found.raw["dropped"])
    assert len(used(found.raw)) == found.speedup.processes == VERDICT_STAGES[0].turns


def test_where_it_is_never_quiet_cpu_seconds_decide_and_that_is_said() -> None:
    found = decided(made(lambda number, side: 0.05 if side == "baseline" else 0.01))
    assert found.outcome is Outcome.FASTER
    assert found.speedup.clock == CPU
    assert found.speedup.low < 2.0 < found.speedup.high
    assert found.speedup.ratio == pytest.approx(2.0, rel=0.01), "not the 8x of the clock"
    assert "in CPU seconds: the machine was never quiet (8 of 8 turns were disturbed)" in found.note
    assert from_plain(Measurement, to_plain(found)).speedup.clock == CPU


@pytest.mark.parametrize(
    ("idle", "cores", "why"), [(0.02, 1, "the candidate neither ran nor waited"), (0.0, 2, "on one core")]
)
def test_cpu_seconds_stand_in_for_computing_on_one_core_alone(idle: float, cores: int, why: str) -> None:
    found = decided(made(lambda number, side: 0.05, gain=10.0, idle=idle, cores=cores))
    assert found.outcome is Outcome.NOT_SHOWN
    assert found.disturbed
    assert why in found.note


def test_cpu_seconds_do_not_stand_in_where_a_process_has_ended_with_its_account() -> None:
    """Its work is done by a child that ends, while it stands in line itself: it ran for nothing, by the kernel."""

    def turn(number: int) -> Turn:
        one = made(lambda n, side: 0.0, gain=1.0)(number)
        sides = dict(one.passes["a"])
        sides["candidate"] = replace(sides["candidate"], cpu=0.0, ran=1e-4, waited=0.0219, whole=False)
        return replace(one, passes={"a": sides})

    found = decided(turn)
    assert found.outcome is Outcome.NOT_SHOWN
    assert "started or ended while it was timed" in found.note


@pytest.mark.parametrize(("cores", "clock"), [(1, CPU), (2, WALL)])
def test_the_least_disturbed_turns_count_only_where_cpu_seconds_do_not_stand_in(cores: int, clock: str) -> None:
    # Short waits, some 8 % to 16 % of a window, in all turns.
    found = decided(made(lambda number, side: 0.002 + 2e-4 * number % 7e-4, cores=cores))
    assert found.outcome is Outcome.FASTER
    assert found.speedup.clock == clock
    assert len(used(found.raw)) == VERDICT_STAGES[0].turns
    assert len(found.raw["turns"]) == VERDICT_STAGES[0].turns * (1 if clock == CPU else 2)


@pytest.mark.parametrize(("quiet_ones", "clock", "count"), [(0, CPU, 8), (3, CPU, 8), (4, CPU, 9), (5, WALL, 14)])
def test_cpu_seconds_count_as_soon_as_most_turns_waited(quiet_ones: int, clock: str, count: int) -> None:
    # Of the first eight, the last so many are quiet, and of those after them every second one.
    waiting = lambda number: number <= 8 - quiet_ones if number <= 8 else number % 2 == 1  # noqa: E731
    found = decided(made(lambda number, side: 0.03 * (side == "baseline" and waiting(number))))
    assert found.speedup.clock == clock
    assert len(found.raw["turns"]) == count
    assert found.speedup.ratio == pytest.approx(2.0, rel=0.01)


def test_a_look_in_cpu_seconds_finds_the_same_when_it_is_taken_once_more() -> None:
    turn = made(lambda number, side: 0.03, gain=1.02)
    first = sequential(turn, works("a"), SEARCH_STAGES, RULE, looks=2)
    assert first.speedup.clock == CPU
    begun = from_raw(first.raw["turns"])
    assert sequential(turn, works("a"), SEARCH_STAGES, RULE, begun, looks=2) == first
    assert sequential(turn, works("a"), SEARCH_STAGES, RULE, begun) == sequential(turn, works("a"), SEARCH_STAGES, RULE)


def test_who_moves_work_into_sleep_or_waiting_gains_nothing() -> None:
    # It computes as long as the baseline and waits for itself as well, in every turn.
    found = decided(made(lambda number, side: 0.02 * (side == "candidate"), gain=1.0))
    assert found.outcome is not Outcome.FASTER
    assert not sequential(made(lambda n, s: 0.0, gain=1.0, idle=0.02), works("a"), VERDICT_STAGES, RULE).faster


@contextmanager
def opened(tmp_path: Path, target: str) -> Iterator[Ladder]:
    tmp_path.joinpath("slow.py").write_text("def f(n):\n    return sum(range(n))\n")
    tmp_path.joinpath("program.py").write_text("print(sum(range(int(input()))))\n")
    made_of = "(size,)" if "::" in target else "str(size)"
    tmp_path.joinpath("workload.py").write_text(f"sizes = [100000]\ndef make_input(size, rng):\n    return {made_of}\n")
    settings = Options()
    with closing(open_ladder(read_task(f"{tmp_path}/{target}", settings), settings, 1)) as ladder:
        yield ladder


def one_pass(tmp_path: Path, target: str) -> Pass:
    with opened(tmp_path, target) as ladder:
        process = ladder.builder.build(ladder.task.source).start((0,), 0, 0)
        with closing(process):
            (item,) = ladder.source.draw(100000, [1])
            one = watched((0,))(process, [item.payload] * 2, 30.0, 0, None)
    assert isinstance(one, Pass)
    return one


needs_bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
TARGETS = pytest.mark.parametrize("target", ["slow.py::f", "program.py"])


@needs_bubblewrap
@TARGETS
def test_the_kernel_tells_what_a_process_ran_and_waited(tmp_path: Path, target: str) -> None:
    one = one_pass(tmp_path, target)
    assert one.ran is not None
    assert one.waited is not None
    assert one.ran > 0 <= one.waited
    assert one.clock > 0
    assert one.stolen >= 0.0
    assert one.pace is not None
    assert one.pace > 0
    assert one.windows == (1 if "::" in target else 2)


@pytest.mark.timed
@needs_bubblewrap
@TARGETS
def test_nothing_but_a_program_itself_is_started_or_ends(tmp_path: Path, target: str) -> None:
    # Processes that others start meanwhile count as well: their numbers come from the same row.
    assert one_pass(tmp_path, target).whole


@needs_bubblewrap
@pytest.mark.parametrize(("cores", "beside"), [((0,), True), ((0, 1), False)])
def test_the_thread_with_the_clock_stands_on_the_one_processor_while_windows_are_open(
    tmp_path: Path, cores: tuple[int, ...], beside: bool
) -> None:
    usual = os.sched_getaffinity(0)
    if not usual.issuperset(cores):
        pytest.skip("this process may not use the processors")
    seen: list[set[int]] = []

    def window(process: TargetProcess, *given: Any) -> Pass | Fault:
        seen.append(os.sched_getaffinity(0))
        return timed(process, *given)

    with opened(tmp_path, "slow.py::f") as ladder:
        artifact, items = ladder.builder.build(ladder.task.source), ladder.source.draw(100000, [1, 2])
        found = windows(artifact, {"a": items, "b": items}, items[0], Setting("baseline", 30.0, cores, 0, 0), window)
    assert not isinstance(found, Fault)
    assert seen == [{0} if beside else usual] * 2
    assert os.sched_getaffinity(0) == usual
