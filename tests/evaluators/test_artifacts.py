"""What a process that holds a candidate may answer, and what becomes of it."""

from __future__ import annotations

from typing import Any

import pytest
from answering import Answering

from whet.core.verdict import Reason
from whet.evaluators.finding import Fault
from whet.evaluators.processes import FunctionProcess, NewRound, Pass
from whet.evaluators.scheduling import ProcessorTime, Watch


def test_proper_answers_are_taken() -> None:
    assert FunctionProcess(Answering("outcome", b"x", 1000), 0.0).call(b"", 1.0) == (b"x", 1e-6)
    found = FunctionProcess(Answering("done", 10**9, 10**8, 3, 2, 0, 0, 0, [b"x", b"y"]), 0.0).timed([b"", b""], 1.0)
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
        ("done", float("nan"), 5, 0, 0, 0, 0, 0, [b"x"]),
        ("done", 5, float("inf"), 0, 0, 0, 0, 0, [b"x"]),
        ("done", -5, 5, 0, 0, 0, 0, 0, [b"x"]),
        ("done", 5, 5, -1, 0, 0, 0, 0, [b"x"]),
        ("done", 5, 5, 0, "0", 0, 0, 0, [b"x"]),
        ("done", 5, 5, 0, 0, -1, 0, 0, [b"x"]),
        ("done", 5, 5, 0, 0, 6, 0, 0, [b"x"]),
        ("done", 5, 5, 0, 0, 0, -1, 0, [b"x"]),
        ("done", 5, 5, 0, 0, 0, 0, 10**400, [b"x"]),
        ("done", 5, 5, 0, 0, 0, [b"x"]),
        ("done", 5, 5, 0, 0, 0, 0, 0, [10**12]),
        ("done", 5, 5, 0, 0, 0, 0, 0, 7),
        ("done", 5, 5, 0, 0, 0, 0, 0, None),
        ("done", 5, 5, 0, 0, 0, 0, 0, [b"x"], 1),
    ],
    ids=repr,
)
def test_a_forged_pass_is_a_fault(answer: tuple[Any, ...]) -> None:
    found = FunctionProcess(Answering(*answer), 0.0).timed([b""], 1.0)
    assert isinstance(found, Fault)
    assert found.reason is Reason.CHEATING


def test_a_first_round_is_held_against_the_mean_of_the_others() -> None:
    answer = "done", 10**9, 10**8, 3, 2, 4 * 10**8, 3 * 10**7, 6 * 10**7, [b"x"]
    process = FunctionProcess(Answering(*answer), 0.0)
    for rounds, cold, cold_cpu in (4, 0.2, 0.01), (3, 0.1, 0.0), (1, 0.0, 0.0), (0, 0.0, 0.0):
        found = process.timed([b""], 1.0, rounds)
        assert isinstance(found, Pass)
        assert found.cold == pytest.approx(cold)
        assert found.cold_cpu == pytest.approx(cold_cpu)


def renewed(*answer: Any) -> tuple[NewRound, tuple[bytes, ...]] | Fault:
    """Returns what is made of the answer of a process on new inputs, whose pass had 300 rounds of 0.1 ms."""
    session = Answering("done", 30_000_000, 30_000_000, 0, 0, 0, 0, 0, [b"x"])
    process = FunctionProcess(session, 0.0)
    assert isinstance(process.timed([b""], 1.0, 300), Pass)
    session.answer = answer
    return process.renewed([b""], 1.0)


@pytest.mark.parametrize(("told", "counted"), [(0, 0), (15, 15), (10**9, 15)])
def test_rounds_of_the_pass_before_new_inputs_are_no_part_of_their_window(told: int, counted: int) -> None:
    first = 1_500_000 if told else 0
    found = renewed("renewed", 1_000_000, 1_000_000, first, first, told, [b"x"])
    assert found == (NewRound(pytest.approx(0.5 - counted * 1e-4), 0.001, 0.001, None, 1.0), (b"x",))


def test_what_those_rounds_took_beyond_a_third_more_counts_as_calls_on_new_inputs() -> None:
    ahead = renewed("renewed", 1_000, 1_000, 5_000_000, 4_000_000, 15, [b"x"])
    assert not isinstance(ahead, Fault)
    assert ahead[0].inside == pytest.approx(0.003 + 1e-6)
    assert ahead[0].cpu == pytest.approx(0.002 + 1e-6)
    slow = renewed("renewed", 1_000, 1_000, 1_900_000, 1_900_000, 15, [b"x"])
    assert not isinstance(slow, Fault)
    assert slow[0].inside == slow[0].cpu == 1e-6


def test_who_waits_for_a_processor_in_those_rounds_has_used_no_cpu_time() -> None:
    found = renewed("renewed", 1_000, 1_000, 9_000_000, 1_500_000, 15, [b"x"])
    assert not isinstance(found, Fault)
    assert (found[0].inside, found[0].cpu) == (pytest.approx(0.007 + 1e-6), 1e-6)


@pytest.mark.parametrize(
    ("waited", "counted"),
    [(None, 0.009), (0.0, 0.009), (0.005, 0.004), (0.008, 0.002)],
)
def test_what_was_waited_for_others_is_no_part_of_calls_on_new_inputs(waited: float | None, counted: float) -> None:
    assert NewRound(0.02, 0.009, 0.002, 0.002, 1.0, waited).undisturbed == pytest.approx(counted)
    threads = NewRound(0.02, 0.009, 0.017, 0.017, 1.0, waited)
    assert threads.undisturbed == 0.009, "several ran at once"


def test_no_more_is_taken_off_a_window_than_leaves_the_calls() -> None:
    found = renewed("renewed", 499_000_000, 1_000, 1_500_000, 1_500_000, 15, [b"x"])
    assert not isinstance(found, Fault)
    assert found[0].outside == found[0].inside == 0.499
    longer = renewed("renewed", 600_000_000, 1_000, 1_500_000, 1_500_000, 15, [b"x"])
    assert not isinstance(longer, Fault)
    assert longer[0].outside == 0.5, "what a process says beyond its window is for others to judge"


@pytest.mark.parametrize(
    "answer",
    [
        ("renewed", 5, 5, 0, 0, [b"x"]),
        ("renewed", 5, 5, -1, 0, 0, [b"x"]),
        ("renewed", 5, 5, 0, float("nan"), 0, [b"x"]),
        ("renewed", 5, 5, 0, 0, "0", [b"x"]),
        ("renewed", 5, 5, 0, 0, 0, [5]),
    ],
    ids=repr,
)
def test_a_forged_round_on_new_inputs_is_a_fault(answer: tuple[Any, ...]) -> None:
    found = renewed(*answer)
    assert isinstance(found, Fault)
    assert found.reason is Reason.CHEATING


@pytest.mark.parametrize(
    ("given", "waited"),
    [
        (ProcessorTime(0.2, 0.25, 0.0, True), 0.25),
        (ProcessorTime(0.45, 0.25, 0.0, True), 0.05),  # a thread of its own ran while another waited
        (ProcessorTime(0.9, 0.25, 0.0, True), 0.0),  # on two processors
        (ProcessorTime(0.2, 0.25, 0.0, False), None),  # something ended that nobody counted
        (ProcessorTime(None, None, 0.0, False), None),
    ],
)
def test_a_process_waited_on_new_inputs_for_as_long_as_its_processor_did_something_else(
    given: ProcessorTime, waited: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Watch, "read", lambda watch: given)
    found = renewed("renewed", 1_000_000, 1_000_000, 0, 0, 0, [b"x"])
    assert not isinstance(found, Fault)
    assert found[0].waited == (None if waited is None else pytest.approx(waited))
