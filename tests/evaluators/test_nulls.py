"""Candidates that do no work: what they would return, for every kind of value, and where they are told apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.task import Kind, Task
from whet.evaluators.inputs.source import Input
from whet.evaluators.nulls import FUNCTION_NULLS, PROGRAM_NULLS, judge_nulls
from whet.sandbox.inside.codec import encode


class Colour(Enum):
    RED = 1
    BLUE = 2


def task(kind: Kind = Kind.FUNCTION) -> Task:
    return Task("t", "python", kind, Path("/t/t.py"), "", "f" if kind is Kind.FUNCTION else None, Path("/t"))


def call(args: Any, value: Any, kind: str = "value", after: Any = None) -> tuple[Input, bytes]:
    """An input and the outcome of a baseline that leaves its arguments alone unless told what is left of them."""
    kept = (args if after is None else after, {}) if isinstance(args, tuple) else (args["args"], args["kwargs"])
    return Input("size 1", encode(args), 1, 1), encode((kind, kept, None, value, ""))


def run(stdin: bytes, stdout: bytes, code: int = 0) -> tuple[Input, bytes]:
    return Input("size 1", stdin, 1, 1), encode((code, stdout, b""))


def accepted(seen: Sequence[tuple[Input, bytes]], kind: Kind = Kind.FUNCTION) -> set[str]:
    return {null.name for null in judge_nulls(task(kind), seen) if null.accepted}


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ([0, 0], {"zeros", "empty", "constant", "stale"}),
        ([1, 1], {"ones", "constant", "stale"}),
        ([0.0, 0.0], {"zeros", "empty", "constant", "stale"}),
        ([False, False], {"zeros", "empty", "constant", "stale"}),
        (["", ""], {"zeros", "empty", "constant", "stale"}),
        ([None, None], {"none", "zeros", "ones", "empty", "constant", "stale"}),
        ([[], []], {"zeros", "ones", "empty", "constant", "stale"}),
        ([[0, 0], [0]], {"zeros"}),
        ([{"a": 1.0}, {"b": 1.0}], {"ones"}),
        ([np.zeros(3), np.zeros((2, 2), "int32")], {"zeros"}),
        ([np.ones(3), np.ones((2, 2), "int32")], {"ones"}),
        ([np.zeros(0), np.zeros(0)], {"zeros", "ones", "empty", "constant", "stale"}),
        ([np.float32(0), np.float32(0)], {"zeros", "constant", "stale"}),
        ([Counter(), Counter()], {"zeros", "ones", "empty", "constant", "stale"}),
        ([(0, [0.0]), (0, [0.0, 0.0])], {"zeros"}),
        ([3, 4], set()),
        ([[1, 2], [3]], set()),
        ([Decimal(1), Decimal(2)], set()),
        ([Colour.RED, Colour.BLUE], set()),
    ],
)
def test_a_null_is_accepted_where_every_answer_is_its_own(values: list[Any], names: set[str]) -> None:
    seen = [call((number + 70,), value) for number, value in enumerate(values)]
    assert accepted(seen) == names


def test_an_echo_is_a_copy_and_the_identity_the_object_itself() -> None:
    one, two = [1, 2], [5]
    assert accepted([call((9, one), list(one)), call((8, two), list(two))]) == {"echo"}
    assert accepted([call((9, one), one), call((8, two), two)]) == {"identity"}
    assert accepted([call((3,), 3), call((4,), 4)]) == {"echo", "identity"}


def test_every_argument_may_be_the_one_that_comes_back() -> None:
    def keyed(first: Any, second: Any) -> tuple[Input, bytes]:
        return call({"args": (first, {"k": [1]}), "kwargs": {"of": second}}, second)

    assert accepted([keyed([1], [2]), keyed([3], [4])]) == {"identity"}


def test_what_changes_its_argument_is_not_done_by_returning_nothing() -> None:
    seen = [call(([2, 1],), None, after=([1, 2],)), call(([3, 1],), None, after=([1, 3],))]
    assert accepted(seen) == set()


def test_an_array_that_lies_in_an_argument_is_made_by_no_null_but_the_baseline() -> None:
    arrays = [np.arange(4.0), np.arange(5.0)]
    assert accepted([call((array,), array) for array in arrays]) == {"identity"}
    assert accepted([call((array,), array.copy()) for array in arrays]) == {"echo"}
    assert accepted([call((array,), array[1:2]) for array in arrays]) == set()
    structured = np.zeros(2, [("a", "i4"), ("b", "f8")])
    assert "zeros" in accepted([call((1,), structured), call((2,), structured)])


def test_tensors_are_values_like_any_other() -> None:
    torch = pytest.importorskip("torch")
    for dtype in (torch.float32, torch.bfloat16, torch.int64, torch.bool):
        for number, name in ((0, "zeros"), (1, "ones")):
            seen = [
                call((5,), torch.full((2,), number, dtype=dtype)),
                call((6,), torch.full((3, 2), number, dtype=dtype)),
            ]
            assert accepted(seen) == {name}
    assert "empty" in accepted([call((5,), torch.zeros(0)), call((6,), torch.zeros(0))])


def test_a_null_agrees_on_as_many_inputs_as_it_does() -> None:
    outcomes = {null.name: null for null in judge_nulls(task(), [call((1,), 0), call((2,), 5), call((3,), 0)])}
    assert (outcomes["zeros"].agreed, outcomes["zeros"].inputs) == (2, 3)
    assert outcomes["zeros"].status == "rejected"
    assert outcomes["stale"].agreed == 1


def test_hiding_failures_is_asked_about_only_where_there_are_some() -> None:
    failing = call((0,), ("builtins:ValueError", "no", ""), kind="raise")
    without, with_one = (
        {null.name: null for null in judge_nulls(task(), seen)}["swallow"]
        for seen in ([call((1,), 2), call((2,), 3)], [call((1,), 2), failing])
    )
    assert without.status == "not_applicable"
    assert with_one.status == "rejected"


def test_a_failure_on_a_few_inputs_does_not_hide_that_all_answers_are_alike() -> None:
    seen = [call((0,), ("builtins:ValueError", "no", ""), kind="raise"), call((1,), 7), call((2,), 7)]
    assert accepted(seen) == {"constant", "stale"}


def test_programs_are_judged_by_what_they_print() -> None:
    assert accepted([run(b"1\n", b""), run(b"2\n", b"\n")], Kind.PROGRAM) == {"empty", "constant", "stale"}
    assert accepted([run(b"1 2\n", b"1 2\n"), run(b"3\n", b"3\n")], Kind.PROGRAM) == {"echo"}
    assert accepted([run(b"1\n", b"1\n"), run(b"2\n", b"1\n")], Kind.PROGRAM) == {"ones", "constant", "stale"}
    assert accepted([run(b"1\n", b"2\n"), run(b"2\n", b"3\n")], Kind.PROGRAM) == set()
    outcomes = {null.name: null for null in judge_nulls(task(Kind.PROGRAM), [run(b"a", b"a"), run(b"", b"", code=1)])}
    assert outcomes["swallow"].status == "rejected"
    assert outcomes["echo"].inputs == 1


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.binary(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(values=st.lists(VALUES, min_size=2, max_size=4))
def test_every_null_has_an_answer_to_every_value(values: list[Any]) -> None:
    outcomes = judge_nulls(task(), [call((value,), value) for value in values])
    assert {null.name for null in outcomes} == {*FUNCTION_NULLS, "swallow"}
    # Returned itself, an argument is the identity: told from a copy only where it is mutable.
    assert {null.name: null.accepted for null in outcomes}["identity"]


@given(stdin=st.lists(st.binary(max_size=8), min_size=2, max_size=3))
def test_every_program_null_has_an_answer(stdin: list[bytes]) -> None:
    outcomes = judge_nulls(task(Kind.PROGRAM), [run(text, text) for text in stdin])
    assert {null.name for null in outcomes} == {*PROGRAM_NULLS, "swallow"}
    assert {null.name: null.accepted for null in outcomes}["echo"]
