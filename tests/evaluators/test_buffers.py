"""Inputs of native functions are handed over as their buffers lie in memory."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.signature import Argument, Role, Signature
from whet.core.task import Kind, Task
from whet.evaluators.buffers import LEAST_BYTES, as_in_memory
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.source import Input
from whet.evaluators.meters.base import Setting
from whet.evaluators.processes import Pass
from whet.evaluators.timing.bench import Bench
from whet.evaluators.timing.turns import SIDES
from whet.evaluators.timing.workloads import TimedWorkload
from whet.sandbox.inside.codec import CodecError, encode
from whet.sandbox.inside.decode import Node, decode
from whet.sandbox.inside.native_target import element_bytes

LONG = LEAST_BYTES // 4


def native(kind: str = "uint32") -> Task:
    arguments = (
        Argument("numbers", kind, Role.IN, "n"),
        Argument("out", kind, Role.OUT, "n"),
        Argument("n", "int64", Role.SIZE),
    )
    signature = Signature("void f(void *numbers, void *out, int64_t n)", None, arguments)
    return Task("f", "c", Kind.FUNCTION, Path("f.c"), "", "f", Path(), signature=signature)


def handed(task: Task, *values: Any) -> Any:
    (item,) = as_in_memory(task, [Input("a", encode(values), seed=1)])
    assert (item.name, item.seed) == ("a", 1)
    return decode(item.payload)


@pytest.mark.parametrize("kind", ["int8", "uint32", "int64", "float32", "float64"])
def test_elements_lie_as_the_prototype_says(kind: str) -> None:
    numbers = [number % 100 for number in range(LONG)]
    packed, count = handed(native(kind), numbers, LONG)
    assert isinstance(packed, Node)
    assert element_bytes(packed, kind, "numbers") == element_bytes(numbers, kind, "numbers")
    assert count == LONG


@given(st.integers(-(2**63), 2**63 - 1))
def test_what_is_out_of_range_is_taken_as_it_is_elsewhere(number: int) -> None:
    numbers = [number] * LONG
    packed, _ = handed(native(), numbers, len(numbers))
    assert element_bytes(packed, "uint32", "numbers") == element_bytes(numbers, "uint32", "numbers")


def test_inputs_of_other_tasks_stay_as_they_are() -> None:
    items = [Input("a", encode(([1] * LONG, LONG)))]
    called = Task("f", "python", Kind.FUNCTION, Path("f.py"), "", "f", Path())
    program = Task("f", "c", Kind.PROGRAM, Path("f.c"), "", None, Path())
    for task in (called, program):
        assert as_in_memory(task, items) is items


def test_an_array_of_characters_is_no_array_of_numbers() -> None:
    with pytest.raises(CodecError, match="numbers is an array of no numbers"):
        element_bytes(decode(encode(array("u", "abc"))), "uint32", "numbers")


def test_a_short_input_stays_as_it_is() -> None:
    items = [Input("a", encode(([1, 2, 3], 3)))]
    assert as_in_memory(native(), items) == items


@pytest.mark.parametrize(
    "values",
    [("x" * LEAST_BYTES, 1), ([1] * LONG, Fraction(LONG)), ([1] * LONG, "long"), ([1] * LONG,), [1] * LONG],
    ids=["text", "fraction", "no-number", "too-few", "no-call"],
)
def test_what_is_no_call_is_left_to_the_function_s_process(values: Any) -> None:
    items = [Input("a", encode(values)), Input("a", b"x" * LEAST_BYTES)]
    assert as_in_memory(native(), items) == items


class Taking:
    """A meter that keeps what processes are given."""

    name = "time"
    controls: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.given: dict[str, tuple[Sequence[Input], Sequence[Input]]] = {}

    def take(
        self, artifact: Any, drawn: Mapping[str, Sequence[Input]], warm: Input, setting: Setting
    ) -> Mapping[str, Pass]:
        self.given[setting.side] = drawn["a"], setting.renewing["a"]
        self.renewing = list(setting.renewing)
        right = Pass(0.021, 0.02, 0.02, (b"right",) * 2, ran=0.021, waited=0.0, pace=3e-4)
        return dict.fromkeys(drawn, right)


def test_a_turn_hands_them_over_so_and_judges_outcomes_by_what_was_drawn() -> None:
    def draw(seed: int, count: int) -> list[Input]:
        return [Input("a", encode(([seed % 1000 + number] * LONG, LONG))) for number in range(count)]

    def judge(item: Input, expected: bytes, actual: bytes) -> Fault | None:
        judged.append(item)
        return None

    judged: list[Input] = []
    task, meter = native(), Taking()
    artifact: Any = SimpleNamespace(layouts=1, launched=False, builder=SimpleNamespace(task=task))
    works = [TimedWorkload("a", 2, draw, repeats=3)]
    Bench(artifact, artifact, works, judge, 1.0, (0,), meter).turn(7)
    for side in SIDES:
        passed, new = meter.given[side]
        assert [*passed] == as_in_memory(task, judged[:2]), side
        assert [type(decode(item.payload)[0]) for item in new] == [Node, Node], side
        assert {item.payload for item in new}.isdisjoint(item.payload for item in passed), side
    assert [type(decode(item.payload)[0]) for item in judged] == [list, list]


def test_a_size_that_does_not_count_meets_no_new_inputs() -> None:
    def draw(seed: int, count: int) -> list[Input]:
        return [Input("", encode(([seed % 1000], 1)))] * count

    meter = Taking()
    artifact: Any = SimpleNamespace(layouts=1, launched=False, builder=SimpleNamespace(task=native()))
    works = [TimedWorkload("a", 2, draw, repeats=3), TimedWorkload("b", 2, draw, counts=False, repeats=3)]
    Bench(artifact, artifact, works, lambda item, expected, actual: None, 1.0, (0,), meter).turn(7)
    assert meter.renewing == ["a"]
