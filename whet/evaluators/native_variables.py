"""Compares the bytes of variables of native code, whose types nobody knows.

What a type would excuse has to be excused by the bytes: an address is another one in each process, padding holds what
it happens to, and a float that was summed up in another order has other last bits.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from whet.core.task import Tolerance
from whet.evaluators.floats.leaves import FORMATS, Reals

SCALARS = frozenset({1, 2, 4, 8})
"""Sizes of variables that have no padding."""
ADDRESS = 8


@dataclass(frozen=True, slots=True)
class Float:
    """A type of floats.

    Attributes:
        code: of `numpy`.
        name: of its format.
        least: magnitude of what is taken for one: small integers would be smaller ones still.
        nan: the bits of the usual NaN but for its sign, which is anybody's.
        words: in a text that may keep some.
    """

    code: str
    name: str
    least: float
    nan: int
    words: re.Pattern[str]


FLOATS = (
    Float("<f8", "float64", 1e-200, 0x7FF8 << 48, re.compile(r"double|__m\d|\d\.")),
    Float("<f4", "float32", 1e-30, 0x7FC0 << 16, re.compile(r"float|__m\d")),
)

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Variable:
    """What a variable of the original holds after each call of a sequence: its bytes, and whether an address is in it.

    Addresses differ from process to process, and what lies beside one is often a capacity, so that a variable with an
    address is left out; one that is nothing else is null on both sides or on neither. Of what has several parts those
    bytes are compared that the original ever changes, since others may be padding. Where the text knows floats, what
    looks like one on both sides may differ by half of its digits.
    """

    held: list[tuple[bytes, bool]]
    floats: tuple[Float, ...]
    tolerance: Tolerance

    def difference(self, number: int, other: Any) -> str:
        """Returns how the variable differs after a call; empty where it need not be alike.

        Args:
            number: of the call.
            other: the same of the candidate, which may be hostile.

        Raises:
            TypeError, ValueError: it is not in the form that the harness writes.
        """
        data, addressed = self.held[number]
        got, pointing = other
        if type(got) is not bytes:
            raise TypeError("a variable that is no bytes")
        if len(got) != len(data):
            return ""
        if addressed or pointing:
            if len(data) != ADDRESS or any(data) == any(got):
                return ""
            return f": expected {'an address' if any(data) else 'null'}, got {'an address' if any(got) else 'null'}"
        wrong = np.flatnonzero(self._wrong(number, got))
        return "" if not wrong.size else _shown(data, got, int(wrong[0]), self.floats)

    def _wrong(self, number: int, got: bytes) -> Flags:
        """Returns which bytes differ by more than they may."""
        rows = np.array([np.frombuffer(data, np.uint8) for data, _ in self.held])
        wrong: Flags = rows[number] != np.frombuffer(got, np.uint8)
        if len(got) not in SCALARS:
            wrong &= (rows != rows[0]).any(axis=0)
        for kind in self.floats:
            size = np.dtype(kind.code).itemsize
            whole = len(got) // size * size
            values = np.ascontiguousarray(rows[:, :whole]).view(kind.code)
            near = self._near(kind, values, number, np.frombuffer(got[:whole], kind.code))
            wrong[:whole] &= ~np.repeat(near, size)
        return wrong

    def _near(self, kind: Float, held: Reals, number: int, other: Reals) -> Flags:
        """Returns which floats are as near to those after a call as they must be."""
        with np.errstate(invalid="ignore", over="ignore"):
            values, got = held.astype(np.float64), other.astype(np.float64)
            likely = [np.isfinite(one) & ((np.abs(one) >= kind.least) | (one == 0)) for one in (values, got)]
            largest = np.where(likely[0], np.abs(values), 0).max(axis=0)
            allowed = self.tolerance.rtol * np.abs(values[number]) + self.tolerance.atol
            allowed = np.maximum(largest * FORMATS[kind.name].eps ** 0.5, allowed)
            near: Flags = likely[0][number] & likely[1] & (np.abs(values[number] - got) <= allowed)
        word = f"<u{other.itemsize}"
        unsigned = [np.ascontiguousarray(one).view(word) << 1 for one in (held[number], other)]
        absent: Flags = (unsigned[0] == unsigned[1]) & (unsigned[0] == (kind.nan << 1) % 256**other.itemsize)
        return absent | near


def _shown(data: bytes, got: bytes, at: int, floats: Sequence[Float]) -> str:
    """Returns what two variables hold where they first differ, as numbers."""
    size = len(data)
    place, start = "", 0
    if size not in SCALARS:
        size = 4 if size % 4 == 0 else 1
        start = at // size * size
        place = f" at byte {start}"
    expected, found = (_number(one[start : start + size], floats) for one in (data, got))
    return f"{place}: expected {expected}, got {found}"


def _number(data: bytes, floats: Sequence[Float]) -> str:
    for kind in floats:
        if np.dtype(kind.code).itemsize == len(data):
            value = float(np.frombuffer(data, kind.code)[0])
            if kind.least <= abs(value) < 1 / kind.least:
                return f"{value:.9g}"
    return str(int.from_bytes(data, "little", signed=True))
