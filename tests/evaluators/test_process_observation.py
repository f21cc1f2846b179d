"""In which order processes are looked at outside their timed calls: one after the other, each begun beside the last."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pytest

from whet.core.verdict import Reason
from whet.evaluators.finding import BaselineLost, Fault, found_by
from whet.evaluators.processes import FunctionProcess
from whet.evaluators.timing.process_observation import Calls, Observation, observe

CALLS = Calls([b"%d" % number for number in range(2 + 2 * 3)], 3, 1.0)
PROCESSES = 4


class Log:
    """What happened to the processes of both sides, which are numbered as they start."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.rows: list[tuple[str, int]] = []
        self.started = 0

    def add(self, what: str, number: int) -> None:
        with self.lock:
            self.rows.append((what, number))

    def first(self, what: str, number: int) -> int:
        return self.rows.index((what, number))

    def last(self, what: str, number: int) -> int:
        return len(self.rows) - 1 - self.rows[::-1].index((what, number))

    def numbers(self, what: str) -> list[int]:
        return [number for row, number in self.rows if row == what]


class KnownSession:
    """Answers each call, and uses a millisecond for it; its account can be read so often."""

    def __init__(self, log: Log, number: int, read: int | None) -> None:
        self.log, self.number, self.spent, self.read = log, number, 0.0, read

    def ask(self, *message: Any, seconds: float) -> tuple[tuple[Any, ...], float]:
        self.log.add("asked", self.number)
        self.spent += 0.001
        return ("outcome", b"", 1000), 0.001

    def cpu(self) -> float:
        if self.read is not None:
            self.read -= 1
            if not self.read:
                raise ValueError("a machine that tells nothing")
        return self.spent

    def pids(self) -> list[int]:
        return []

    def close(self) -> None:
        self.log.add("closed", self.number)


class Startable:
    """Stands for an artifact.

    Attributes:
        faults: what its processes end with in the place of starting, by their number.
        read: at which reading of its account each of them fails; None for never.
    """

    source = "def f(x):\n    return x\n"
    on_gpu = False

    def __init__(self, log: Log, side: str, faults: dict[int, Fault] | None = None, read: int | None = None) -> None:
        self.log, self.side, self.faults, self.read = log, side, faults or {}, read
        self.sides: list[int] = []

    def start(self, primed: Sequence[str]) -> FunctionProcess | Fault:
        number, self.log.started = self.log.started, self.log.started + 1
        self.sides.append(number)
        self.log.add("started", number)
        if number in self.faults:
            return self.faults[number]
        session: Any = KnownSession(self.log, number, self.read)
        return FunctionProcess(session, 0.0)


def look(log: Log, **faults: dict[int, Fault]) -> tuple[Any, Startable, Startable]:
    sides: list[Any] = [Startable(log, side, faults.get(side)) for side in ("baseline", "candidate")]
    return found_by(lambda: observe(*sides, CALLS, PROCESSES)), *sides


def test_processes_of_both_sides_come_by_turns_and_the_last_of_the_candidate_first() -> None:
    found, baseline, candidate = look(Log())
    assert isinstance(found, Observation)
    assert baseline.sides == [0, 2, 4, 7]
    assert candidate.sides == [1, 3, 5, 6]
    assert len(found.baseline) == len(found.candidate) == PROCESSES
    assert {one.passes for one in (*found.baseline, *found.candidate)} == {(0.003, 0.003)}
    assert [one.kept for one in found.candidate] == [None] * PROCESSES, "nobody sees its memory"


def test_each_starts_while_nothing_is_asked_of_the_one_before_and_is_asked_when_that_has_ended() -> None:
    log = Log()
    look(log)
    assert log.numbers("closed") == list(range(2 * PROCESSES))
    for number in range(1, 2 * PROCESSES):
        before = number - 1
        calls = len(CALLS.payloads)
        asked = [place for place, row in enumerate(log.rows) if row == ("asked", before)][:calls]
        assert asked[-1] < log.first("started", number)
        assert log.first("closed", before) < log.first("asked", number)


@pytest.mark.parametrize("fails", [0, 2, 7])
def test_a_baseline_that_does_not_start_is_lost_and_leaves_no_process(fails: int) -> None:
    log = Log()
    found, *_ = look(log, baseline={fails: Fault(Reason.CRASH, "no memory")})
    assert isinstance(found, BaselineLost)
    assert "no memory" in found.detail
    assert set(log.numbers("closed")) == set(log.numbers("started")) - {fails}


@pytest.mark.parametrize("fails", [1, 6])
def test_a_candidate_that_does_not_start_is_at_fault(fails: int) -> None:
    log = Log()
    fault = Fault(Reason.CRASH, "loading raised")
    found, *_ = look(log, candidate={fails: fault})
    assert found is fault
    assert set(log.numbers("closed")) == set(log.numbers("started")) - {fails}


def test_one_that_fails_ends_the_one_that_was_begun_too() -> None:
    log = Log()
    sides: list[Any] = [Startable(log, "baseline"), Startable(log, "candidate", read=2 * len(CALLS.spans(1)) + 2)]
    with pytest.raises(ValueError, match="a machine that tells nothing"):
        observe(*sides, CALLS, PROCESSES)
    assert log.numbers("started") == [0, 1, 2]
    assert log.numbers("closed") == [0, 1, 2]


def test_a_start_that_fails_on_our_side_leaves_no_thread_that_waits_for_more() -> None:
    class Failing(Startable):
        def start(self, primed: Sequence[str]) -> FunctionProcess | Fault:
            if self.log.started:
                raise OSError("no more processes")
            return super().start(primed)

    log, before = Log(), threading.active_count()
    sides: list[Any] = [Failing(log, "baseline", read=2 * len(CALLS.spans(1)) + 2), Failing(log, "candidate")]
    with pytest.raises(OSError, match="no more processes"):
        observe(*sides, CALLS, PROCESSES)
    assert log.numbers("closed") == [0]
    assert threading.active_count() == before
