"""Cases for a native function: every small size, then random and edge values, from a secret seed."""

from __future__ import annotations

import random
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from whet.core.signature import Argument, Role, Signature
from whet.evaluators.inputs.contract import CODES, bounds
from whet.sandbox.inside.codec import Elements, encode
from whet.sandbox.inside.lengths import LengthError, evaluate
from whet.sandbox.inside.native_target import DTYPES
from whet.sandbox.inside.native_values import SIZES

COUNT = 2000
"""Cases of one deck at most. More find rarer faults, and lengthen every check of a candidate; fewer leave less room for
random cases beside those of every small size."""
SMALL = 129
"""All sizes up to this one: two vectors of 64 bytes, and one element."""
LARGER = 520
"""Largest size that is drawn, counted from the smallest that the contract allows. A larger one reaches loops that
take more elements a turn; it also fills `LARGEST_DECK` with fewer cases."""
LARGEST_CASE = 1 << 16
"""Bytes of all buffers of one case."""
LARGEST_DECK = 8 << 20
"""Bytes of all buffers of a deck, after which no case is added. The driver is given them, and its records hold those
that may be written; a larger deck costs memory and time, a smaller one cuts contracts of large buffers short."""
TRIES = 20
"""Random draws for each wanted case. A draw is dropped where its sizes give no lengths or too many bytes; with fewer
draws a contract that drops most of them gets fewer cases, with more it takes longer to give up."""
OTHERS = (1, 2, 3, 5, 8, 16)
"""Sizes of the other dimensions while one runs through all."""


@dataclass(frozen=True, slots=True)
class Case:
    """One call's arguments.

    Attributes:
        numbers: values of sizes and scalars, by their names.
        contents: of the buffers that are read.
        lengths: bytes of each buffer.
        at_end: whether buffers end at a guard, or else begin at one.
        free: whether its values stand for themselves, so that buffers may be made to overlap.
        overlap: names of two buffers that do, and the bytes from the begin of the second to that of the first.
    """

    numbers: Mapping[str, int | float]
    contents: Mapping[str, bytes]
    lengths: Mapping[str, int]
    at_end: bool
    free: bool = True
    overlap: tuple[str, str, int] | None = None

    @property
    def bulk(self) -> tuple[int, float]:
        """By which the smallest of several cases is found."""
        return sum(self.lengths.values()), sum(abs(value) for value in self.numbers.values() if value == value)


@dataclass
class CaseSet:
    """Cases so far, up to a number and a sum of bytes."""

    count: int
    cases: list[Case] = field(default_factory=list)
    total: int = 0

    @property
    def full(self) -> bool:
        """Whether no more is taken."""
        return len(self.cases) >= self.count or self.total > LARGEST_DECK

    def add(self, case: Case | None) -> None:
        """Takes a case, if there is one and it is not full."""
        if case is not None and not self.full:
            self.cases.append(case)
            self.total += sum(case.lengths.values())


def from_contract(signature: Signature, seed: int, specials: bool, count: int = COUNT) -> list[Case]:
    """Draws cases that keep to a contract.

    Args:
        signature: the contract.
        seed: secret.
        specials: whether NaN, infinities and denormals come in floats whose bounds nobody states.
        count: how many at most.
    """
    rng = random.Random(seed)
    pool = CaseSet(count)
    for number, sizes in enumerate(_small_sizes(signature, rng)):
        pool.add(_drawn(signature, sizes, rng, specials, number % 2 == 0))
    tries = 0
    while not pool.full and tries < TRIES * count:
        tries += 1
        pool.add(_drawn(signature, _random_sizes(signature, rng), rng, specials, rng.random() < 0.5))
    return pool.cases


def case_of(
    signature: Signature, values: Mapping[str, Any], overlap: tuple[str, str, int] | None = None, at_end: bool = True
) -> Case:
    """Returns the case with given arguments, such as a counterexample.

    Args:
        signature: the contract.
        values: numbers, and sequences of elements; of a buffer that is only written, what it holds before, if stated.
        overlap: see `Case`.
        at_end: see `Case`.

    Raises:
        LengthError: the sizes give no lengths.
        OverflowError: a number is beyond its type.
    """
    buffers = {one.name: one for one in signature.arguments if one.buffer}
    numbers = {one.name: values[one.name] for one in signature.arguments if not one.buffer}
    contents = {name: array(CODES[one.type], values[name]).tobytes() for name, one in buffers.items() if name in values}
    return Case(numbers, contents, lengths_of(signature, numbers), at_end, False, overlap)


def payload(signature: Signature, case: Case) -> bytes:
    """Returns an input as `whet.evaluators.inputs.source.InputSource` gives inputs."""
    given = (
        Elements(DTYPES[one.type], case.contents[one.name]) if one.buffer else case.numbers[one.name]
        for one in signature.given
    )
    return encode(tuple(given))


def small(lengths: Mapping[str, int]) -> bool:
    """Whether buffers are small enough for one of many cases."""
    return sum(lengths.values()) <= LARGEST_CASE


def lengths_of(signature: Signature, sizes: Mapping[str, Any]) -> dict[str, int]:
    """Returns the bytes of each buffer.

    Raises:
        LengthError: the sizes give none.
    """
    return {one.name: evaluate(one.length, sizes) * SIZES[one.type] for one in signature.arguments if one.buffer}


# sizes


def _dimensions(signature: Signature) -> list[tuple[str, range]]:
    """Returns the size arguments and the values that each may have, as many as are of use."""
    found = []
    for one in signature.arguments:
        if one.role is Role.SIZE:
            low = int(one.low) if one.low is not None else 0
            found.append((one.name, range(low, 1 + min(int(bounds(one)[1]), low + LARGER))))
    return found


def _small_sizes(signature: Signature, rng: random.Random) -> Iterator[dict[str, int]]:
    """Yields every small value of each size argument, twice: buffers end at a guard, and begin at one."""
    dimensions = _dimensions(signature)
    for step in range(SMALL + 1):
        for name, values in dimensions:
            if step < len(values):
                others = {other: _other(allowed, rng) for other, allowed in dimensions}
                for _ in range(2):
                    yield others | {name: values[step]}


def _other(values: range, rng: random.Random) -> int:
    return values[min(rng.choice(OTHERS), len(values) - 1)]


def _random_sizes(signature: Signature, rng: random.Random) -> dict[str, int]:
    dimensions = _dimensions(signature)
    most = rng.choice((8, 33, 70, SMALL, SMALL, LARGER)) if len(dimensions) == 1 else rng.choice((4, 9, 24))
    return {name: values[rng.randrange(min(most + 1, len(values)))] for name, values in dimensions}


# values


def _drawn(
    signature: Signature, sizes: Mapping[str, int], rng: random.Random, specials: bool, at_end: bool
) -> Case | None:
    try:
        lengths = lengths_of(signature, sizes)
    except LengthError:
        return None
    if not small(lengths):
        return None
    numbers: dict[str, int | float] = dict(sizes)
    arrays = {
        one.name: _filled(one, lengths[one.name] // SIZES[one.type], rng, specials)
        for one in signature.given
        if one.buffer
    }
    for one in signature.given:
        if one.role is Role.SCALAR:
            numbers[one.name] = _scalar(one, signature, arrays, rng, specials)
    return Case(numbers, {name: values.tobytes() for name, values in arrays.items()}, lengths, at_end)


def _filled(one: Argument, count: int, rng: random.Random, specials: bool) -> array[Any]:
    """Returns elements of one of several kinds: random ones half of the time."""
    low, high = bounds(one)
    code, real = CODES[one.type], one.type.startswith("float")
    kind = rng.randrange(16)
    if kind < 8:
        return _random(one, count, rng)
    if kind < 10:
        values = rng.choices(_edges(one, specials), k=count)
    elif kind == 10:
        values = [rng.choice(_edges(one, specials))] * count
    elif kind == 11:
        values = list(_random(one, 1, rng)) * count
    elif kind in (12, 13):
        values = sorted(_random(one, count, rng), reverse=kind == 13)
    elif kind == 14:  # one element unlike all others
        values = [rng.choice(_edges(one, False))] * count
        if count:
            values[rng.randrange(count)] = _random(one, 1, rng)[0]
    else:  # few different ones
        few = [min(max(value, low), high) for value in (0, 1, 2, -1)]
        values = rng.choices(few, k=count)
    return array(code, values if real else map(int, values))


def _random(one: Argument, count: int, rng: random.Random) -> array[Any]:
    low, high = bounds(one)
    code = CODES[one.type]
    if one.type.startswith("float"):
        words = memoryview(rng.randbytes(4 * count)).cast("I")
        return array(code, [low + (high - low) * (word / 4294967295) for word in words])
    span = int(high) - int(low) + 1
    if span == 1 << 8 * SIZES[one.type]:
        return array(code, rng.randbytes(SIZES[one.type] * count))
    return array(code, [int(low) + rng.getrandbits(64) % span for _ in range(count)])


def _edges(one: Argument, specials: bool) -> Sequence[Any]:
    """Returns values at the ends of what an argument may be, and where signs and carries turn."""
    low, high = bounds(one)
    if one.type.startswith("float"):
        usual = [low, high, 0.0, -0.0, 1.0, -1.0, 0.5, low / 3, high / 3]
        odd = [float("nan"), float("inf"), -float("inf"), 5e-324, 1e-40, -1e-310]
        stated = one.low is not None or one.high is not None
        usual += odd if specials and not stated else []
    else:
        bits = 8 * SIZES[one.type]
        usual = [low, high, 0, 1, -1, 2, low + 1, high - 1]
        usual += [(1 << k) + d for k in (bits - 1, bits // 2, bits // 2 - 1) for d in (-1, 0)]
        usual = [int(value) for value in usual]
    return [value for value in usual if value != value or low <= value <= high or abs(value) == float("inf")]


def _scalar(
    one: Argument, signature: Signature, arrays: Mapping[str, array[Any]], rng: random.Random, specials: bool
) -> Any:
    low, high = bounds(one)
    real = one.type.startswith("float")
    alike = [other.name for other in signature.given if other.name in arrays and other.type.startswith("float") is real]
    if alike and rng.random() < 0.5:  # a limit is seldom met by chance
        values = arrays[rng.choice(alike)]
        picked = [values[rng.randrange(len(values))] for _ in range(4)] if len(values) else []
        if fitting := [value for value in picked if low <= value <= high]:
            return fitting[0]
    if rng.random() < 0.4:
        return rng.choice(_edges(one, specials))
    value = _random(one, 1, rng)[0]
    return value if real else int(value)
