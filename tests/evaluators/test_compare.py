"""What counts as the same outcome."""

from __future__ import annotations

import collections
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.task import OracleRule, Tolerance
from whet.core.verdict import Reason
from whet.evaluators.compare import difference, show, stdout_difference
from whet.sandbox.inside.codec import encode
from whet.sandbox.inside.decode import Node, decode


class Holder:
    def __init__(self) -> None:
        self.items = [1, (2, "x")]


EXACT = OracleRule(Tolerance())
LOOSE = OracleRule(Tolerance(rtol=1e-6, atol=1e-9))


def outcome(value: object, after: object = ((), {}), kind: str = "value", stdout: str = "") -> bytes:
    return encode((kind, after, None, value, stdout))


def reason(a: object, b: object, rule: OracleRule = EXACT) -> Reason | None:
    found = difference(outcome(a), outcome(b), rule)
    return found.reason if found else None


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (1, True),
        (1, 1.0),
        ([1], (1,)),
        ("a", b"a"),
        (0.0, -0.0),
        ({1, 2}, frozenset({1, 2})),
        ([1, 2], [2, 1]),
        ({"a": 1}, {"a": 1, "b": 2}),
        (float("nan"), 0.0),
        (np.int32(1), np.int64(1)),
        (np.zeros(2, np.float32), np.zeros(2)),
        (np.zeros((2, 1)), np.zeros(2)),
        (range(3), [0, 1, 2]),
    ],
    ids=repr,
)
def test_strictly_different(expected: object, actual: object) -> None:
    assert reason(expected, actual) is Reason.WRONG_OUTPUT


@pytest.mark.parametrize(
    ("expected", "actual"),
    [({"a": 1, "b": 2}, {"b": 2, "a": 1}), (float("nan"), -float("nan")), ({3, 1}, {1, 3})],
    ids=repr,
)
def test_the_same(expected: object, actual: object) -> None:
    assert reason(expected, actual) is None


def test_dict_order_counts_where_the_task_says_so() -> None:
    rule = OracleRule(dict_order=True)
    assert reason({"a": 1, "b": 2}, {"b": 2, "a": 1}, rule) is Reason.WRONG_OUTPUT


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e100, max_value=1e100))
def test_tolerance_takes_what_is_near_and_nothing_else(x: float) -> None:
    assert reason([x], [x * (1 + 1e-8)], LOOSE) is None
    assert reason([x], [x * 1.01 + 1.0], LOOSE) is Reason.WRONG_OUTPUT
    assert reason([x], [math.nan], LOOSE) is Reason.WRONG_OUTPUT


def test_a_changed_argument_is_named() -> None:
    found = difference(outcome(1, (([1, 2],), {})), outcome(1, (([2, 1],), {})), EXACT)
    assert found is not None
    assert found.reason is Reason.MUTATED_INPUT
    assert "argument 1[0]" in found.detail


def test_returning_an_argument_instead_of_a_copy_is_a_difference() -> None:
    argument = [1, 2]
    copy = encode(("value", ((argument,), {}), None, [1, 2], ""))
    same = encode(("value", ((argument,), {}), None, argument, ""))
    assert difference(copy, same, EXACT) is not None
    assert difference(same, copy, EXACT) is not None
    assert difference(same, same, EXACT) is None


def test_exceptions_are_compared_by_type() -> None:
    ours = outcome(("builtins:ValueError", "a", "line 2 in f"), kind="raise")
    assert difference(ours, outcome(("builtins:ValueError", "other words", "line 9 in g"), kind="raise"), EXACT) is None
    for theirs in (outcome(("builtins:KeyError", "a", "line 9 in g"), kind="raise"), outcome(1)):
        found = difference(ours, theirs, EXACT)
        assert found is not None
        assert found.reason is Reason.WRONG_EXCEPTION


def test_stdout_of_a_function_is_part_of_its_outcome() -> None:
    assert difference(outcome(1, stdout="a\n"), outcome(1), EXACT) is not None


def test_a_huge_number_is_wrong_and_no_more() -> None:
    found = difference(outcome(1), outcome(10**6000), EXACT)
    assert found is not None
    assert found.reason is Reason.WRONG_OUTPUT
    assert "an integer of 19932 bits" in found.detail


def test_a_forged_outcome_is_no_outcome() -> None:
    for forged in (b"garbage", encode("passed"), encode(("value", 1))):
        found = difference(outcome(1), forged, EXACT)
        assert found is not None
        assert found.reason is Reason.SANDBOX_VIOLATION


@pytest.mark.parametrize(
    ("expected", "actual", "stdout", "same"),
    [
        (b"1 2\n3\n", b"1 2  \n3", "exact", True),
        (b"1 2\n3\n", b"1 2 3\n", "exact", False),
        (b"1 2\n3\n", b"1 2 3\n", "tokens", True),
        (b"1 2\n3\n", b"1 2\n3\n4\n", "exact", False),
        (b"1 2\n3\n", b"1 2\n3\n4\n", "tokens", False),
        (b"0.5\n", b"0.50000000001\n", "tokens", False),
        (b"0.5\n", b"0.50000000001\n", "floats", True),
        (b"0.5\n", b"0.6\n", "floats", False),
        (b"0.5\n", b"nan\n", "floats", False),
        (b"a\n", b"", "exact", False),
    ],
)
def test_stdout_rules(expected: bytes, actual: bytes, stdout: str, same: bool) -> None:
    assert (stdout_difference(expected, actual, OracleRule(stdout=stdout)) is None) is same


ULPS = OracleRule(Tolerance(ulp=2))


@pytest.mark.parametrize(
    ("expected", "actual", "same"),
    [
        (1.0, math.nextafter(1.0, 2.0), True),
        (1.0, 1.0 + 3 * 2.0**-52, False),
        (0.0, -0.0, True),
        (0.0, 1e-300, False),
        (math.nan, -math.nan, True),
        (math.nan, 0.0, False),
        (math.inf, math.inf, True),
        (math.inf, -math.inf, False),
        (math.inf, 1.7e308, False),
        (1.7e308, math.inf, False),
        (1 + 1j, complex(1.0, math.nextafter(1.0, 2.0)), True),
        (1.0, 1, False),
        ({1.0: 2.0}, {1.0: math.nextafter(2.0, 3.0)}, True),
        ({1.0: 2.0}, {math.nextafter(1.0, 2.0): 2.0}, False),
        ({1.0}, {math.nextafter(1.0, 2.0)}, False),
        ([(1, 2.0)] * 6, [(1, math.nextafter(2.0, 3.0))] * 6, True),
        (np.float32(1.0), np.nextafter(np.float32(1.0), np.float32(2.0)), True),
        (np.ones(3, np.float32), np.ones(3, np.float32) + np.float32(1e-6), False),
        (np.full(3, 1 + 1j), np.full(3, complex(1.0, math.nextafter(1.0, 2.0))), True),
        (np.array([1.0, math.nan]), np.array([1.0, math.inf]), False),
        (np.ones(2), -np.ones(2), False),
    ],
    ids=repr,
)
def test_units_of_the_last_place(expected: object, actual: object, same: bool) -> None:
    assert (reason(expected, actual, ULPS) is None) is same


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, min_value=1e-300), min_size=1))
def test_zeros_are_right_under_no_rule_but_where_zeros_are_expected(values: list[float]) -> None:
    for rule in (OracleRule(), ULPS, EXACT):
        assert reason(values, [0.0] * len(values), rule) is Reason.WRONG_OUTPUT
        assert reason(np.array(values), np.zeros(len(values)), rule) is Reason.WRONG_OUTPUT


def test_floats_of_arguments_after_the_call_are_judged_as_arguments() -> None:
    ours, near, far = (outcome(None, ((xs,), {})) for xs in ([1.0], [1.0 + 2.0**-52], [1.1]))
    assert difference(ours, near, ULPS) is None
    found = difference(ours, far, ULPS)
    assert found is not None
    assert found.reason is Reason.MUTATED_INPUT
    assert "argument 1" in found.detail


def test_messages_of_exceptions_count_where_the_task_says_so() -> None:
    rule = OracleRule(exception_messages=True)
    ours = outcome(("builtins:ValueError", "a", "line 2 in f"), kind="raise")
    elsewhere = outcome(("builtins:ValueError", "a", "line 9 in g"), kind="raise")
    assert difference(ours, elsewhere, rule) is None
    found = difference(ours, outcome(("builtins:ValueError", "b", "line 9 in g"), kind="raise"), rule)
    assert found is not None
    assert found.reason is Reason.WRONG_EXCEPTION
    assert "ValueError('b') (line 9 in g)" in found.detail


def test_strides_count_where_the_task_says_so() -> None:
    columns, rows = np.asfortranarray(np.ones((2, 3))), np.ones((2, 3))
    assert reason(rows, columns) is None
    assert reason(rows, columns, OracleRule(strides=True)) is Reason.WRONG_OUTPUT
    assert reason(rows, np.broadcast_to(1.0, (2, 3))) is Reason.WRONG_OUTPUT


def test_objects_are_shown_with_their_fields() -> None:
    fields = Node("object", "m:Point", (("x", 1), ("y", [2.5])), True)
    assert show(fields) == "Point(x=1, y=[2.5])"
    assert show(decode(encode({"a": {1}}))) == "{'a': set([1])}"


OUTCOMES = [
    outcome([1, 2.5, {"a": [1]}, {3}]),
    outcome(np.arange(4.0)),
    outcome(collections.Counter("ab")),
    outcome(Holder()),
    outcome(("builtins:ValueError", "x", ""), kind="raise"),
]


@given(st.sampled_from(OUTCOMES), st.data())
def test_a_damaged_outcome_is_a_difference_or_none_never_an_error(good: bytes, data: st.DataObject) -> None:
    damaged = bytearray(good)
    for _ in range(data.draw(st.integers(1, 3))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    found = difference(good, bytes(damaged), EXACT)
    assert found is None or found.detail


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (lambda row: [row, row], lambda row: [row, list(row)]),
        (lambda row: [row, list(row)], lambda row: [row, row]),
        (lambda row: {"a": row, "b": (row, [row])}, lambda row: {"a": list(row), "b": (list(row), [list(row)])}),
    ],
)
def test_what_a_result_shares_counts_only_where_it_is_asked_for(ours, theirs) -> None:
    one, other = outcome(ours([1, 2.5])), outcome(theirs([1, 2.5]))
    assert difference(one, other, EXACT) is not None
    assert difference(one, other, EXACT, sharing=False) is None
    wrong = outcome(theirs([1, 3.5]))
    assert difference(one, wrong, EXACT, sharing=False) is not None


def test_without_sharing_a_copy_of_an_argument_is_as_good_as_the_argument_but_not_a_changed_argument() -> None:
    row = [1, 2]
    given = outcome([row], ((row,), {}))
    copied = outcome([[1, 2]], (([1, 2],), {}))
    changed = outcome([[1, 2]], (([1, 2, 3],), {}))
    assert difference(given, copied, EXACT) is not None
    assert difference(given, copied, EXACT, sharing=False) is None
    found = difference(given, changed, EXACT, sharing=False)
    assert found is not None
    assert found.reason is Reason.MUTATED_INPUT
    shared_arguments = outcome(None, (([row, row],), {}))
    apart = outcome(None, (([row, list(row)],), {}))
    assert difference(shared_arguments, apart, EXACT, sharing=False) is not None


def test_without_sharing_arrays_are_compared_by_their_elements() -> None:
    array = np.arange(6)
    ours, theirs = outcome([array, array[2:]]), outcome([array, array[2:].copy()])
    assert difference(ours, theirs, EXACT) is not None
    assert difference(ours, theirs, EXACT, sharing=False) is None
    assert difference(ours, outcome([array, array[1:5].copy()]), EXACT, sharing=False) is not None


def test_what_holds_itself_is_compared_too() -> None:
    def ring(number: int) -> list[object]:
        made: list[object] = [number, [number]]
        made.append(made)
        made.append(made[1])
        return made

    apart = ring(1)
    apart[3] = [1]
    assert difference(outcome(ring(1)), outcome(apart), EXACT, sharing=False) is None
    assert difference(outcome(ring(1)), outcome(ring(2)), EXACT, sharing=False) is not None


def test_what_would_grow_without_bounds_is_compared_with_its_sharing() -> None:
    def doubled(levels: int) -> list[object]:
        made: list[object] = [1]
        for _ in range(levels):
            made = [made, made]
        return made

    assert difference(outcome([doubled(60), [1]]), outcome([doubled(60), [2]]), EXACT, sharing=False) is not None
