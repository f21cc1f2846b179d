"""A function of a shared object, called by the C ABI with buffers made from an input.

Each buffer lies between pages that nobody may touch, what is only read cannot be written, and what is only written
holds no result of an earlier call.
"""

from __future__ import annotations

import ctypes
import os
import struct
import zlib

from .codec import CodecError, Elements
from .decode import Node, decode
from .guarded import Guarded
from .lengths import evaluate
from .native_rounds import renewed, repeated
from .native_values import SIZES, TYPES, NativeResult, Prepared

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from typing import Any

    from .cuda_clock import CudaClock

LETTERS = {"i": "i", "u": "u", "f": "f", "l": "f"}
DTYPES = {name: f"{'|' if size == 1 else '<'}{LETTERS[name[0]]}{size}" for name, size in SIZES.items()}
"""As `numpy.dtype.str` has them."""
NARROW = {"<f4": "f", "<f8": "d"}
CODES = {f"{'u' * code.isupper()}int{8 * struct.calcsize(code)}": code for code in "bBhHiIqQ"}
"""Of the module `array`, which packs a list of numbers ten times as fast as ctypes."""
NUMBERS = frozenset("bBhHiIlLqQfd")
"""Codes of that module which stand for numbers."""
UNWRITTEN = 0xFF
"""In each byte that a function has to write: as a float it is no number, as an integer the largest or -1."""


class NativeTarget:
    """A loaded native function. Its methods are those of `invocation.Target`.

    Args:
        tree: the staged tree.
        library: path of the shared object in it.
        symbol: of the function.
        returns: type of its result, or None.
        arguments: of each (name, type, role, length, align), as in `whet.core.signature.Argument`.
    """

    clock: CudaClock | None = None

    def __init__(self, tree: str, library: str, symbol: str, returns: str | None, arguments: Any) -> None:
        self.path = os.path.join(tree, library)
        self.arguments = arguments
        self.returns = returns
        self.library = ctypes.CDLL(self.path)
        self.function: Any = getattr(self.library, symbol)
        self.function.restype = None if returns is None else TYPES[returns]
        self.function.argtypes = [
            ctypes.c_void_p if role in ("in", "out", "inout") else TYPES[kind] for _, kind, role, _, _ in arguments
        ]

    def decode(self, payload: bytes) -> tuple[Any, Any, Any]:
        """Returns (no init, the prepared call, no keywords) of one input."""
        return (), self.read(payload), {}

    def read(self, payload: bytes) -> Prepared:
        """Returns the prepared call of one input."""
        return self.prepare(decode(payload), at_end=zlib.crc32(payload) % 2 == 0)

    def prepare(self, values_given: Any, at_end: bool) -> Prepared:
        """Returns the prepared call of decoded arguments, whose buffers end, or else begin, where nobody may read."""
        given = iter(values_given)
        numbers: dict[str, Any] = {}
        contents: dict[str, bytes] = {}
        for name, kind, role, _, _ in self.arguments:
            if role in ("in", "inout"):
                contents[name] = element_bytes(next(given), kind, name)
            elif role != "out":
                numbers[name] = next(given)
        values: list[Any] = []
        buffers: dict[str, tuple[Any, Guarded]] = {}
        for argument in self.arguments:
            name, kind, role, length, align = argument
            if name in numbers:
                values.append(numbers[name])
                continue
            size = evaluate(length, numbers) * SIZES[kind]
            data = contents.get(name, bytes([UNWRITTEN]) * size)
            if len(data) != size:
                raise CodecError(f"{name} holds {len(data)} bytes, and its length {length} asks for {size}")
            memory = Guarded(size, max(align, SIZES[kind]), at_end)
            memory.write(data)
            memory.allow(writing=role != "in")
            buffers[name] = argument, memory
            values.append(memory.address)
        changed = {name: contents[name] for name, _, role, _, _ in self.arguments if role == "inout"}
        return Prepared(values, buffers, changed)

    def call(self, init: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """Returns (None, result)."""
        return self.called(self.function, args)

    def called(self, function: Any, args: Prepared) -> tuple[Any, Any]:
        """Calls a function with the target's prototype; returns (None, result)."""
        return None, NativeResult(function(*args.values), args)

    def in_rounds(self, inputs: list[Any], rounds: int, invoke: Any, take: Any, clocks: Any) -> Any:
        """See `native_rounds.repeated`; nothing that is printed is taken."""
        *spent, values = repeated(self, inputs, rounds, clocks)
        return *spent, [("value", None, value, "") for value in values]

    def in_new_rounds(
        self, laid: list[Any], payloads: list[bytes], asked: list[int], settling: int, once: Any, take: Any, clocks: Any
    ) -> Any:
        """See `native_rounds.renewed`; nothing that is printed is taken."""
        spent, came_first, results = renewed(self, laid, payloads, asked, settling)
        return *spent, came_first, [one.prepared for one in results], [("value", None, one, "") for one in results]

    def outcome(self, kind: str, value: Any) -> Any:
        """Returns what a call returned, and what it wrote, as plain data."""
        if kind != "value":
            return value
        written = [
            Elements(DTYPES[kind], memory.read())
            for (_, kind, role, _, _), memory in value.prepared.buffers.values()
            if role != "in"
        ]
        returned = value.returned if self.returns is None else typed(self.returns, value.returned)
        return returned if not written else (returned, *written)

    def left(self, payload: bytes, given: Any) -> Any:
        """Returns None: what is only read cannot be written, and what is written is part of the result."""
        return None

    changed = left


def typed(kind: str, number: Any) -> Any:
    """Returns a number as it is stored: a float in its own format, as Python's would claim bits that it lacks."""
    return Elements(DTYPES[kind], bytes(TYPES[kind](number))) if isinstance(number, float) else number


def element_bytes(value: Any, kind: str, name: str) -> bytes:
    """Returns the elements of a buffer as an input gives them: an array, bytes, or a list of numbers.

    Floats may come in a narrower format.
    """
    if isinstance(value, bytes):
        return value
    if isinstance(value, Node) and value.kind == "ndarray":
        dtype, _, data, *_ = value.state
    elif isinstance(value, Node) and value.name == "array:array":
        code, data = value.state
        if code not in NUMBERS:
            raise CodecError(f"{name} is an array of no numbers")
        letter = "f" if code in "fd" else "u" if code.isupper() else "i"
        size = struct.calcsize(code)
        dtype = f"{'|' if size == 1 else '<'}{letter}{size}"
    elif isinstance(value, list | tuple):
        return _packed(value, kind, name)
    else:
        raise CodecError(f"{name} is no array, no bytes and no list of numbers")
    if dtype == DTYPES[kind]:
        return bytes(data)
    if dtype in NARROW and DTYPES[kind][1] == "f":
        from array import array

        return _packed(array(NARROW[dtype], data), kind, name)
    raise CodecError(f"{name} is an array of {dtype}, and the prototype asks for {DTYPES[kind]}")


def _packed(numbers: Any, kind: str, name: str) -> bytes:
    from array import array  # no start waits for it that packs nothing

    try:
        if kind in CODES:
            return array(CODES[kind], numbers).tobytes()
    except (TypeError, OverflowError):  # ctypes takes what is out of range as C does
        pass
    try:
        return bytes((TYPES[kind] * len(numbers))(*numbers))
    except (TypeError, ValueError, OverflowError) as error:
        raise CodecError(f"{name}: {error}") from None
