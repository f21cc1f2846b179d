"""What a turn is given can be drawn before it, while processes of the turn before start, and is the same."""

from __future__ import annotations

import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest

from whet.core.task import Kind
from whet.evaluators.inputs.source import Input
from whet.evaluators.meters.base import Setting
from whet.evaluators.processes import Pass
from whet.evaluators.timing.ahead import Ahead, Steps
from whet.evaluators.timing.bench import Bench
from whet.evaluators.timing.turns import SIDES
from whet.evaluators.timing.workloads import TimedWorkload

QUIET = Pass(0.021, 0.02, 0.02, (), ran=0.021, waited=0.0, pace=3e-4)
WORKLOADS = ("a", "b", "c")


class WorkFailedError(Exception):
    """What a step raises."""


@dataclass
class Work:
    """Takes steps, and waits before each beyond the first one until it may.

    Attributes:
        steps: how many it has.
        fails: which of them raises.
        taken: threads that took them.
        first: set once the first is taken.
        may: whether further ones may be taken.
    """

    steps: int = 3
    fails: int = 0
    taken: list[str] = field(default_factory=list)
    first: threading.Event = field(default_factory=threading.Event)
    may: threading.Event = field(default_factory=threading.Event)

    def work(self) -> Generator[None, None, str]:
        for number in range(1, self.steps + 1):
            if number > 1:
                assert self.may.wait(60.0)
            if number == self.fails:
                raise WorkFailedError(str(number))
            self.taken.append(threading.current_thread().name)
            self.first.set()
            yield
        return "done"


def test_steps_are_taken_beside_something_else_and_the_others_later() -> None:
    work = Work()
    steps = Steps(work.work())
    with steps.beside():
        assert work.first.wait(60.0)
        work.may.set()
    assert threading.current_thread().name not in work.taken
    beside = len(work.taken)
    assert steps.finished() == "done"
    assert len(work.taken) == work.steps
    assert work.taken[beside:] == [threading.current_thread().name] * (work.steps - beside)


def test_all_steps_can_be_taken_beside_it() -> None:
    work = Work()
    work.may.set()
    ended = threading.Event()

    def whole() -> Generator[None, None, str]:
        found = yield from work.work()
        ended.set()
        return found

    steps = Steps(whole())
    with steps.beside():
        assert ended.wait(60.0)
    with steps.beside():
        pass
    assert steps.finished() == "done"
    assert threading.current_thread().name not in work.taken


@pytest.mark.parametrize("fails", [1, 2])
def test_what_a_step_raises_is_raised_to_whom_it_is_for(fails: int) -> None:
    work = Work(fails=fails)
    work.may.set()
    steps = Steps(work.work())
    with steps.beside():
        pass
    with pytest.raises(WorkFailedError, match=str(fails)):
        steps.finished()


def test_what_was_done_for_one_serves_no_other() -> None:
    ahead: Ahead[str] = Ahead()
    others, ours = Work(), Work()
    for work in (others, ours):
        work.may.set()
    ahead.begin("one", others.work())
    with closing(ours.work()) as steps:
        assert ahead.taken("another", steps) == "done"
    assert (len(others.taken), len(ours.taken)) == (0, ours.steps)
    with ahead.beside():
        pass
    assert not others.taken, "it is given up"


@dataclass
class Starting:
    """A meter whose processes start, and have a window in which nothing is drawn.

    Attributes:
        drawn: the number of draws so far.
        expects: whether inputs of the next turn come while a process starts, which waits for the first.
        beside: set once another thread has drawn.
    """

    name: str = "time"
    controls: tuple[str, ...] = ()
    drawn: int = 0
    expects: bool = False
    beside: threading.Event = field(default_factory=threading.Event)

    def draw(self, seed: int, count: int) -> Sequence[Any]:
        self.drawn += 1
        if threading.current_thread() is not threading.main_thread():
            self.beside.set()
        return [SimpleNamespace(payload=b"%d %d" % (seed, number)) for number in range(count)]

    def start(self, *_: Any) -> Any:
        assert not self.expects or self.beside.wait(60.0)

    def take(self, artifact: Any, drawn: Mapping[str, Any], warm: Input, setting: Setting) -> Mapping[str, Pass]:
        before = threading.active_count()
        setting.start(artifact, setting.cores, setting.hash_seed, setting.layout)
        assert threading.active_count() == before, "nobody draws while a window is open"
        return {name: replace(QUIET, outcomes=(b"right",) * len(items)) for name, items in drawn.items()}


def bench_of(meter: Starting) -> Bench:
    task = SimpleNamespace(kind=Kind.FUNCTION, signature=None)
    artifact = SimpleNamespace(layouts=1, launched=False, builder=SimpleNamespace(task=task))
    works = [TimedWorkload(name, 2, meter.draw) for name in WORKLOADS]
    further = {"b": 3}
    return Bench(artifact, artifact, works, lambda *_: None, 1.0, (0,), meter, meter.start, further=further)


def test_a_turn_is_given_the_same_whenever_it_is_drawn() -> None:
    meter, alone = Starting(), Starting()
    bench = bench_of(meter)
    meter.expects = True
    turns = [bench.turn(1, 2), bench.turn(2)]
    assert [turn.inputs for turn in turns] == [bench_of(alone).turn(seed).inputs for seed in (1, 2)]
    assert [turn.order for turn in turns] == [bench_of(alone).turn(seed).order for seed in (1, 2)]
    draws = len(WORKLOADS) + 2  # one for a call before them, and the further ones
    assert meter.drawn == 2 * draws


def test_a_longer_pass_is_drawn_anew() -> None:
    meter, alone = Starting(), Starting()
    bench = bench_of(meter)
    bench.turn(1, 2)
    longer, expected = (replace(one, further={"b": 5}) for one in (bench, bench_of(alone)))
    assert longer.turn(2).scale == expected.turn(2).scale
    assert set(longer.turn(2).passes["a"]) == set(SIDES)
