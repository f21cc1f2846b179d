"""What a process that holds a candidate may answer, and what becomes of it."""

from __future__ import annotations

from typing import Any

import pytest
from answering import Answering

from whet.core.verdict import Reason
from whet.evaluators.finding import Fault
from whet.evaluators.processes import FunctionProcess, Pass


def test_proper_answers_are_taken() -> None:
    assert FunctionProcess(Answering("outcome", b"x", 1000), 0.0).call(b"", 1.0) == (b"x", 1e-6)
    found = FunctionProcess(Answering("done", 10**9, 10**8, 3, 2, 0, [b"x", b"y"]), 0.0).timed([b"", b""], 1.0)
    assert found == Pass(0.5, 1.0, 0.1, (b"x", b"y"), waits=3, preemptions=2)


@pytest.mark.parametrize(
    "answer",
    [
        ("outcome", b"x"),
        ("outcome", 10**12, 5),
        ("outcome", "text", 5),
        ("outcome", b"x", float("nan")),
        ("outcome", b"x", True),
        ("outcome", b"x", -1),
        ("outcome", b"x", 10**400),
        ("outcome", b"x", "5"),
    ],
    ids=repr,
)
def test_a_forged_call_is_a_fault(answer: tuple[Any, ...]) -> None:
    found = FunctionProcess(Answering(*answer), 0.0).call(b"", 1.0)
    assert isinstance(found, Fault)
    assert found.reason is Reason.CHEATING


@pytest.mark.parametrize(
    "answer",
    [
        ("done",),
        ("done", 5, 5, [b"x"]),
        ("done", float("nan"), 5, 0, 0, 0, [b"x"]),
        ("done", 5, float("inf"), 0, 0, 0, [b"x"]),
        ("done", -5, 5, 0, 0, 0, [b"x"]),
        ("done", 5, 5, -1, 0, 0, [b"x"]),
        ("done", 5, 5, 0, "0", 0, [b"x"]),
        ("done", 5, 5, 0, 0, -1, [b"x"]),
        ("done", 5, 5, 0, 0, 6, [b"x"]),
        ("done", 5, 5, 0, 0, 0, [10**12]),
        ("done", 5, 5, 0, 0, 0, 7),
        ("done", 5, 5, 0, 0, 0, None),
        ("done", 5, 5, 0, 0, 0, [b"x"], 1),
    ],
    ids=repr,
)
def test_a_forged_pass_is_a_fault(answer: tuple[Any, ...]) -> None:
    found = FunctionProcess(Answering(*answer), 0.0).timed([b""], 1.0)
    assert isinstance(found, Fault)
    assert found.reason is Reason.CHEATING


def test_a_first_round_is_held_against_the_mean_of_the_others() -> None:
    process = FunctionProcess(Answering("done", 10**9, 10**8, 3, 2, 4 * 10**8, [b"x"]), 0.0)
    for rounds, cold in (4, 0.2), (3, 0.1), (1, 0.0), (0, 0.0):
        found = process.timed([b""], 1.0, rounds)
        assert isinstance(found, Pass)
        assert found.cold == pytest.approx(cold)
