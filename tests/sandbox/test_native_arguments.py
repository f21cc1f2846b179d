"""Lists of numbers as the buffers of a native function."""

from __future__ import annotations

import ctypes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.sandbox.inside.codec import CodecError
from whet.sandbox.inside.native_target import element_bytes
from whet.sandbox.inside.native_values import TYPES


@given(st.sampled_from(sorted(TYPES)), st.lists(st.integers(-(2**70), 2**70)))
def test_integers_are_laid_out_as_c_takes_them_whatever_their_size(kind: str, numbers: list[int]) -> None:
    expected = bytes((TYPES[kind] * len(numbers))(*numbers))
    assert element_bytes(numbers, kind, "numbers") == expected


@given(st.sampled_from(["float32", "float64", "longdouble"]), st.lists(st.floats(width=32)))
def test_floats_are_laid_out_as_c_takes_them(kind: str, numbers: list[float]) -> None:
    found = (TYPES[kind] * len(numbers)).from_buffer_copy(element_bytes(numbers, kind, "numbers"))
    assert [str(one) for one in found] == [str(one) for one in numbers]


@pytest.mark.parametrize("numbers", [[1, "2"], [1.5], [None]])
def test_what_is_no_integer_is_told_with_its_name(numbers: list[object]) -> None:
    with pytest.raises(CodecError, match=r"^numbers: "):
        element_bytes(numbers, "uint32", "numbers")


def test_a_boolean_is_a_number() -> None:
    assert element_bytes([True, False], "int8", "numbers") == bytes(ctypes.c_int8(1)) + bytes(1)
