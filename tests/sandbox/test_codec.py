"""Values cross the sandbox wall exactly, and hostile bytes stay harmless."""

from __future__ import annotations

import collections
import datetime
import decimal
import fractions
import random
import re
import struct
import uuid
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.evaluators.inputs.plain_data import read, write
from whet.sandbox.inside.codec import LARGE, CodecError, encode, framed, pack_size
from whet.sandbox.inside.decode import Node, Ref, decode


def no_classes(name: str) -> type:
    raise CodecError(name)


def round_trip(value: object) -> object:
    return decode(encode(value), no_classes)


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.complex_numbers(allow_nan=False)
    | st.text()
    | st.binary()
)
hashable = st.recursive(scalars, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3), max_leaves=5)
values = st.recursive(
    scalars | st.sets(hashable, max_size=4) | st.binary().map(bytearray),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(hashable, inner, max_size=4),
    max_leaves=20,
)


def same(a: object, b: object) -> bool:
    """Equality that tells types and float bits apart."""
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        assert isinstance(b, float)
        return struct.pack("<d", a) == struct.pack("<d", b)
    if isinstance(a, (list, tuple)):
        assert isinstance(b, (list, tuple))
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        assert isinstance(b, dict)
        return list(map(type, a)) == list(map(type, b)) and all(same(a[k], b[k]) for k in a)
    return a == b


@given(values)
def test_plain_values_survive_with_their_exact_types(value: object) -> None:
    assert same(round_trip(value), value)


@given(st.sets(st.text()))
def test_equal_sets_give_equal_bytes_whatever_their_history(items: set[str]) -> None:
    shuffled = list(items)
    random.Random(1).shuffle(shuffled)
    assert encode(set(shuffled)) == encode(items)


@pytest.mark.parametrize(
    "value",
    [
        range(1, 9, 2),
        decimal.Decimal("1.20"),
        fractions.Fraction(1, 3),
        datetime.datetime(2024, 1, 2, 3, 4, 5, 6),
        datetime.timedelta(days=1, microseconds=5),
        uuid.UUID(int=5),
        collections.deque([1, 2], maxlen=4),
        collections.Counter("abca"),
        collections.OrderedDict([("b", 1), ("a", 2)]),
        [True, 1, 1.0, -0.0, 2**80],
        list(range(1000)),
        [str(i) for i in range(100)],
    ],
    ids=lambda value: type(value).__name__,
)
def test_standard_types_survive(value: object) -> None:
    again = round_trip(value)
    assert type(again) is type(value)
    assert again == value
    assert encode(again) == encode(value)


def test_numpy_arrays_keep_dtype_shape_and_bytes() -> None:
    for value in (np.arange(6, dtype=np.int32).reshape(2, 3), np.float32(1.5), np.array([np.nan, -0.0])):
        again = decode(encode(value), no_classes)
        assert again.dtype == value.dtype
        assert again.shape == value.shape
        assert again.tobytes() == value.tobytes()


ARRAYS = {
    "a row": np.arange(6.0),
    "a table": np.arange(6, dtype=np.int16).reshape(2, 3),
    "of no dimension": np.array(2.5),
    "of truths": np.array([True, False]),
    "of texts": np.array(["a", "bcd"]),
    "of dates": np.array(["2024-01-02"], dtype="datetime64[D]"),
}
OTHERS = {
    "columns first": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "backwards": np.arange(6.0)[::-1],
    "empty": np.empty((0, 3)),
    "of records": np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]),
}


@pytest.mark.parametrize("name", [*ARRAYS, *OTHERS])
def test_arrays_survive_in_the_short_form_or_the_long_one(name: str) -> None:
    value = {**ARRAYS, **OTHERS}[name]
    data = encode(value)
    assert data[:1] == (b"A" if name in ARRAYS else b"O")
    again: Any = decode(data, no_classes)
    assert (again.dtype, again.shape, again.strides) == (value.dtype, value.shape, value.strides)
    assert again.tobytes() == value.tobytes()
    assert encode(again) == data == write(read(data))
    plain = read(data)
    assert (plain.kind, plain.name, plain.numbered, plain.state[1:4]) == (
        "ndarray",
        "numpy",
        True,
        (value.shape, value.tobytes(), value.strides),
    )


def test_an_array_that_is_read_only_or_shares_memory_has_the_long_form() -> None:
    fixed = np.arange(6.0)
    fixed.flags.writeable = False
    assert encode(fixed)[:1] == b"O"
    assert not decode(encode(fixed), no_classes).flags.writeable  # type: ignore[attr-defined]
    whole = np.arange(6.0)
    first, part = decode(encode([whole, whole[2:4]]), no_classes)  # type: ignore[misc]
    part[0] = -1.0
    assert first[2] == -1.0
    twice = decode(encode([whole, whole]), no_classes)
    assert twice[0] is twice[1]  # type: ignore[index]


@pytest.mark.parametrize(
    "data",
    [
        b"A" + encode("<f8")[1:] + pack_size(1) + pack_size(3) + pack_size(16) + bytes(16),
        b"A" + encode("<f8")[1:] + pack_size(1) + pack_size(2**60) + pack_size(16) + bytes(16),
        b"A" + encode("<f8")[1:] + pack_size(1 << 40),
        b"A" + encode("nothing")[1:] + pack_size(1) + pack_size(2) + pack_size(16) + bytes(16),
        b"A" + encode("|O")[1:] + pack_size(1) + pack_size(2) + pack_size(16) + bytes(16),
    ],
    ids=["another length", "far too many", "cut", "no type", "objects"],
)
def test_hostile_arrays_build_nothing(data: bytes) -> None:
    with pytest.raises(CodecError):
        decode(data, no_classes)


@pytest.mark.parametrize("resolve", [None, no_classes])
def test_an_array_of_countless_dimensions_is_refused_at_once(resolve: Any) -> None:
    data = b"A" + encode("<f8")[1:] + pack_size(10**5) + pack_size(2**63) * 10**5 + pack_size(16) + bytes(16)
    with pytest.raises(CodecError, match="too many dimensions"):
        decode(data, resolve)


@pytest.mark.parametrize(
    "state",
    [
        None,
        (),
        (1,) * 7,
        ("<f8", (2,), b"", (8,), (), None, ()),
        ("<f8", (2**70,), b"12", (0,), (), None, ()),
        ("<f8", (3,) * 10**5, b"12", (0,), (), None, ()),
    ],
)
def test_arrays_in_any_state_are_written_and_read(state: Any) -> None:
    again: Any = decode(write(Node("ndarray", "numpy", state, True)))
    assert again.state == state


def test_aliasing_and_cycles_survive() -> None:
    shared = [1]
    first, second = round_trip([shared, shared])  # type: ignore[misc]
    assert first is second
    cycle: list[object] = []
    cycle.append(cycle)
    again = round_trip(cycle)
    assert isinstance(again, list)
    assert again[0] is again


records = st.lists(st.text(), min_size=1, max_size=4, unique=True).flatmap(
    lambda keys: st.lists(st.tuples(*[scalars] * len(keys)), min_size=5, max_size=8).map(
        lambda rows: [dict(zip(keys, row, strict=True)) for row in rows]
    )
)


@given(st.lists(st.lists(scalars, max_size=6), min_size=5))
def test_lists_of_scalars_survive_as_one_sequence(rows: list[list[object]]) -> None:
    assert encode(rows)[1:2] == b"%"
    again = round_trip(rows)
    assert same(again, rows)
    assert encode(again) == encode(rows) == write(read(encode(rows)))


@given(st.dictionaries(scalars, values, min_size=5, max_size=8))
def test_large_dicts_survive_as_keys_and_values(table: dict[object, object]) -> None:
    assert encode(table)[:1] == b"D"
    again = round_trip(table)
    assert same(again, table)
    assert encode(again) == encode(table) == write(read(encode(table)))


def test_a_dict_that_holds_itself_survives() -> None:
    table: dict[str, Any] = dict.fromkeys("abcdef")
    table["g"] = table["h"] = [table]
    again: Any = round_trip(table)
    assert again["g"][0] is again
    assert again["h"] is again["g"]
    plain = read(encode(table))
    assert write(plain) == encode(table)


@given(records)
def test_dicts_of_the_same_keys_survive_column_by_column(rows: list[dict[str, object]]) -> None:
    dense = any({type(row[key]) for row in rows} in ({int}, {float}, {str}, {bytes}) for key in rows[0])
    assert encode(rows)[1:2] == (b"@" if dense else b"*"), "where each takes bytes enough to be believed"
    again = round_trip(rows)
    assert same(again, rows)
    assert encode(again) == encode(rows) == write(read(encode(rows)))


ROWS = [{"name": str(number), "size": number} for number in range(6)]


@pytest.mark.parametrize(
    "rows",
    [
        [*ROWS, {"size": 1, "name": "other order"}],
        [*ROWS, {"name": "more", "size": 1, "x": 0}],
        [*ROWS, {"name": "nested", "size": [1]}],
        [*ROWS, {"name": "counted", 1: 1}],
        [{} for _ in range(6)],
        [collections.OrderedDict(row) for row in ROWS],
    ],
)
def test_other_dicts_are_written_one_by_one(rows: list[dict[object, object]]) -> None:
    assert encode(rows)[1:2] == b"*"
    assert same(round_trip(rows), rows)
    assert write(read(encode(rows))) == encode(rows)


@pytest.mark.parametrize("rows", [[dict(row) for row in ROWS], [list(row.values()) for row in ROWS]])
def test_a_row_that_is_met_twice_stays_one(rows: list[Any]) -> None:
    for value in ([rows, rows[2]], [rows[2], rows], [*rows, rows[0]], (rows, rows)):
        again = round_trip(value)
        assert encode(again) == encode(value) == write(read(encode(value)))
    first, second = round_trip([rows, rows[2]])  # type: ignore[misc]
    assert first[2] is second
    plain = read(encode([rows, rows[2]]))
    assert plain[0][2] is plain[1]


@pytest.mark.parametrize(
    ("keys", "columns"),
    [
        (["a", "b"], [[1] * 6, [1] * 5]),
        (["a", "b"], [[1] * 6]),
        ([], []),
        ([1], [[1] * 6]),
    ],
    ids=["of another length", "one lacks", "no keys", "no text"],
)
@pytest.mark.parametrize("resolve", [None, no_classes])
def test_hostile_records_are_refused(keys: list[object], columns: list[list[int]], resolve: Any) -> None:
    data = b"l@" + pack_size(6) + b"".join(encode(tuple(part))[1:] for part in (keys, *columns))
    with pytest.raises(CodecError):
        decode(data, resolve)


@pytest.mark.parametrize("resolve", [None, no_classes])
@pytest.mark.parametrize(
    "data",
    [
        b"l%" + pack_size(2) + pack_size(3) + pack_size(4) + encode((1,) * 6)[1:],
        b"l%" + pack_size(2) + pack_size(2**63) + pack_size(2**63) + encode((1,) * 6)[1:],
        b"l%" + pack_size(1 << 40),
        b"D" + encode((1, 2, 3, 4, 5))[1:] + encode((1, 2, 3, 4))[1:],
        b"D" + encode(([], []))[1:] + encode((1, 2))[1:],
        b"l@" + pack_size(10**4) + encode(("a",))[1:] + encode((None,) * 10**4)[1:],
        b"D" + encode((None,) * 10**4)[1:] * 2,
    ],
    ids=["too many", "far too many", "cut", "fewer values", "keys that hold others", "of a byte each", "of two bytes"],
)
def test_hostile_lists_and_dicts_are_refused(data: bytes, resolve: Any) -> None:
    with pytest.raises(CodecError):
        decode(data, resolve)


def test_outside_nothing_is_built() -> None:
    shared: list[int] = []
    plain = decode(encode({"a": shared, "b": shared, "c": collections.Counter("x")}))
    assert isinstance(plain, Node)
    values_of = {key: value for _, key, value in plain.state}
    assert isinstance(values_of["b"], Ref)
    assert isinstance(values_of["c"], Node)
    assert values_of["c"].name == "collections:Counter"


def test_generators_are_told_from_lists() -> None:
    assert encode(x for x in [1, 2]) != encode([1, 2])


def test_a_message_goes_through_a_pipe_behind_its_length_and_large_parts_are_not_copied() -> None:
    large, small = b"x" * LARGE, bytes(LARGE - 1)
    for message in ((), ("ask", 1), (large,), ("a", large, small, [large, "b"]), (large, large)):
        pieces, whole = framed(message), encode(message)
        assert b"".join(pieces) == pack_size(len(whole)) + whole
        assert sum(piece is large for piece in pieces) == whole.count(large)


def test_what_is_no_plain_data_is_refused(tmp_path: object) -> None:
    import threading

    with pytest.raises(CodecError, match="plain data"):
        encode(threading.Lock())


def test_deep_nesting_is_refused_not_crashed() -> None:
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(CodecError, match="nested"):
        encode(value)
    deep = b"l*" + struct.pack("<Q", 1)
    with pytest.raises(CodecError):
        decode(deep * 100_000 + b"N")


@given(st.binary(max_size=200))
def test_hostile_bytes_are_an_error_or_a_value(data: bytes) -> None:
    try:
        decode(data)
    except CodecError:
        return


@given(values, st.data())
def test_damaged_bytes_are_an_error_or_a_value(value: object, data: st.DataObject) -> None:
    good = bytearray(encode(value))
    place = data.draw(st.integers(0, len(good) - 1))
    good[place] ^= data.draw(st.integers(1, 255))
    try:
        decode(bytes(good))
    except CodecError:
        return


def test_a_length_beyond_the_bytes_is_not_believed() -> None:
    with pytest.raises(CodecError):
        decode(b"b" + struct.pack("<Q", 1 << 60))
    with pytest.raises(CodecError):
        decode(b"l*" + struct.pack("<Q", 1 << 60))


class Word(str):
    pass


class Tower(collections.deque):
    pass


@pytest.mark.parametrize("value", [Word("a"), Tower([1])])
def test_what_a_class_inherits_from_c_code_is_not_lost_in_silence(value):
    with pytest.raises(CodecError, match="cannot be stored"):
        encode([value])


def mine():
    pass


def test_functions_go_by_the_name_under_which_they_are_found():
    for function, name in ((len, "builtins:len"), (mine, f"{__name__}:mine")):
        node = decode(encode(function))
        assert (node.kind, node.name) == ("function", name)
    nested = mine.__class__((lambda: 0).__code__, {})
    for function in (lambda: 1, nested, [].append):
        with pytest.raises(CodecError):
            encode(function)


class Counting:
    def __init__(self):
        self.count = 0
        self.step = self.add

    def add(self):
        self.count += 1
        return self.count


def test_a_bound_method_comes_back_with_its_object():
    found = decode(encode(Counting()), lambda name: Counting)
    assert (found.step(), found.step(), found.count) == (1, 2, 2)
    assert found.step.__self__ is found
    found.step = len
    method = decode(encode(found.add))
    assert (method.kind, method.state[1]) == ("method", "add")


def test_what_only_looks_like_a_method_is_not_stored():
    for method in (mine.__get__(Counting()), Counting.__dict__["add"].__get__(Other())):
        with pytest.raises(CodecError):
            encode(method)


def test_a_hostile_method_runs_no_code():
    bad = encode(Counting().add).replace(b"add", b"now")
    Counting.now = property(lambda self: pytest.fail("it ran"))
    try:
        with pytest.raises(CodecError, match="no method"):
            decode(bad, lambda name: Counting)
    finally:
        del Counting.now


class Other:
    pass


def test_patterns_come_back():
    for pattern in (re.compile("a+", re.IGNORECASE), re.compile(b"b|c")):
        assert decode(encode([pattern]), no_classes) == [pattern]
        assert (decode(encode(pattern)).kind, decode(encode(pattern)).state) == (
            "special",
            (pattern.pattern, pattern.flags),
        )


def test_iterators_come_back_as_something_that_can_be_written_again():
    again = decode(encode(iter([1, 2])), no_classes)
    assert decode(encode(again)).state == (1, 2)
