"""What a native function's contract says of inputs: a workload file for tasks without one, and what keeps to it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from whet.core.errors import UsageError
from whet.core.signature import Argument, Role, Signature
from whet.sandbox.inside.codec import CodecError
from whet.sandbox.inside.decode import decode
from whet.sandbox.inside.lengths import LengthError, evaluate
from whet.sandbox.inside.native_target import element_bytes

OPENING = '''\
# Made by whet from the contract of the function.
from array import array

sizes = {sizes!r}


def floats(rng, count, low, high):
    words = memoryview(rng.randbytes(4 * count)).cast("I")
    return [low + (high - low) * (word / 4294967295) for word in words]


def integers(rng, count, low, high):
    if high - low < 2**62:
        return rng.choices(range(low, high + 1), k=count)
    return [rng.randint(low, high) for _ in range(count)]


def met(rng, value, buffers, low, high):
    """Returns a value out of the buffers half of the time: a limit is seldom met by chance."""
    values = rng.choice(buffers)
    picked = [values[rng.randrange(len(values))] for _ in range(8)] if len(values) else []
    fitting = [other for other in picked if low <= other <= high]
    return fitting[0] if fitting and rng.random() < 0.5 else value


'''
MADE = "contract"
"""Origin of a generator that was written from a contract."""
CODES = {
    "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "int64": "q", "uint64": "Q",
    "float32": "f", "float64": "d",
}  # fmt: skip
"""Type codes of `array.array`."""
FLOATS = (-1.0, 1.0)
"""Between which floats lie whose bounds nobody states: sums of many stay far from the largest."""


def generator_text(signature: Signature, sizes: Sequence[int], where: str) -> str:
    """Returns a workload file whose ``make_input`` keeps to a contract.

    A single size argument takes the size; several take its root, so that products of them come to about the size.

    Raises:
        UsageError: no size was given, or no argument is a size.
    """
    counts = [one for one in signature.arguments if one.role is Role.SIZE]
    if not sizes:
        raise UsageError(
            f"{where}: the workload names no sizes; add for instance: [workload] sizes = [16, 1024, 65536]"
        )
    if not counts:
        raise UsageError(f"{where}: no argument has the role size; give a workload file with make_input(size, rng)")
    lines = ["def make_input(size, rng):", *(f"    {line}" for line in _body(signature, counts))]
    return OPENING.format(sizes=list(sizes)) + "\n".join(lines) + "\n"


def keeps(signature: Signature, payload: bytes) -> bool:
    """Tells whether an input keeps to a contract: lengths of buffers, and what numbers may be."""
    try:
        given = list(zip(signature.given, decode(payload), strict=True))
        numbers = {one.name: value for one, value in given if not one.buffer}
        return all(_keeps(one, value, numbers) for one, value in given)
    except (CodecError, LengthError, TypeError, ValueError, OverflowError):
        return False


def _keeps(one: Argument, value: Any, numbers: dict[str, Any]) -> bool:
    if not one.buffer:
        return isinstance(value, int | float if _floats(one) else int) and _within(one, value, value)
    values = np.frombuffer(element_bytes(value, one.type, one.name), one.type)
    if len(values) != evaluate(one.length, numbers):
        return False
    return not len(values) or _within(one, values.min(), values.max())  # NaN, where there is one


def _within(one: Argument, least: float, most: float) -> bool:
    """Whether values are within the bounds that were stated, and integers within those of their type."""
    stated = replace(one, low=None, high=None) if one.assumed else one
    if not _floats(one):
        low, high = bounds(stated)
        return low <= least and most <= high
    above = stated.low is None or least >= stated.low
    return above and (stated.high is None or most <= stated.high)


def _body(signature: Signature, counts: Sequence[Argument]) -> Iterator[str]:
    for one in counts:
        size = "size" if len(counts) == 1 else f"int(size ** (1 / {len(counts)}) + 0.5)"
        yield f"{_own(one.name)} = {size}"
        for sign, bound in (("<", one.low), (">", one.high)):
            if bound is not None:
                yield f"if {_own(one.name)} {sign} {int(bound)}:"
                yield f'    raise ValueError("{one.name} is out of its range")'
    for one in signature.given:
        if one.role is not Role.SIZE:
            yield f"{_own(one.name)} = {_drawn(one)}"
    for one in signature.given:
        if one.role is Role.SCALAR:
            yield from _met(one, signature)
    yield f"return ({', '.join(_own(one.name) for one in signature.given)},)"


def _own(text: str) -> str:
    """Returns names, or a length of them, as names that mean nothing else in Python."""
    return re.sub(r"[A-Za-z_]\w*", r"the_\g<0>", text)


def _met(one: Argument, signature: Signature) -> Iterator[str]:
    buffers = [_own(other.name) for other in signature.given if other.buffer and _floats(other) == _floats(one)]
    if buffers:
        low, high = bounds(one)
        yield f"{_own(one.name)} = met(rng, {_own(one.name)}, ({', '.join(buffers)},), {low!r}, {high!r})"


def _floats(one: Argument) -> bool:
    return one.type.startswith("float")


def bounds(one: Argument) -> tuple[float, float]:
    """Returns the least and the largest value, of the contract or else of the type; whole ones for integers."""
    if _floats(one):
        usual = FLOATS
    else:
        bits = int(one.type.lstrip("uint"))
        usual = (0, 2**bits - 1) if one.type.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    low, high = (given if given is not None else at for given, at in zip((one.low, one.high), usual, strict=True))
    return (low, high) if _floats(one) else (int(low), int(high))


def _drawn(one: Argument) -> str:
    length = _own(one.length).replace("/", "//") if one.buffer else "1"
    low, high = bounds(one)
    if _floats(one):
        values = f"floats(rng, {length}, {low!r}, {high!r})"
        return f'array("{CODES[one.type]}", {values})' if one.buffer else f"{values}[0]"
    bits = int(one.type.lstrip("uint"))
    if one.buffer and high - low == 2**bits - 1:
        return f'array("{CODES[one.type]}", rng.randbytes({bits // 8} * ({length})))'
    values = f"integers(rng, {length}, {low}, {high})"
    return f'array("{CODES[one.type]}", {values})' if one.buffer else f"{values}[0]"
