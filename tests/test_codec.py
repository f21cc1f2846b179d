"""Values cross the sandbox wall exactly, and hostile bytes stay harmless."""

from __future__ import annotations

import collections
import datetime
import decimal
import fractions
import random
import struct
import uuid

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.sandbox.inside.codec import CodecError, encode
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


def test_aliasing_and_cycles_survive() -> None:
    shared = [1]
    first, second = round_trip([shared, shared])  # type: ignore[misc]
    assert first is second
    cycle: list[object] = []
    cycle.append(cycle)
    again = round_trip(cycle)
    assert isinstance(again, list)
    assert again[0] is again


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
