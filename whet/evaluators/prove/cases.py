"""At which sizes, and at which places of its buffers, a function is looked at."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from whet.core.signature import Argument, Role, Signature
from whet.evaluators.prove.calling import bits
from whet.evaluators.prove.proof import Overlap
from whet.sandbox.inside.lengths import LengthError, evaluate

FURTHER = (16, 17, 32, 33, 64)
"""Sizes beyond the bound that reach loops over whole vectors; looked at where time is left."""
MOST_BYTES = 8192
"""Of all buffers together: beyond that nothing is decided in reasonable time."""


@dataclass(frozen=True, slots=True)
class Case:
    """What one run of the engines fixes.

    Attributes:
        sizes: value of each size argument.
        overlap: two buffers in the same memory; None where all lie apart.
        further: whether its sizes lie beyond the bound.
    """

    sizes: Mapping[str, int] = field(default_factory=dict)
    overlap: Overlap | None = None
    further: bool = False

    @property
    def told(self) -> str:
        """The case in words."""
        parts = [f"{name}={value}" for name, value in self.sizes.items()]
        if self.overlap is not None:
            parts.append(f"{self.overlap.other} {self.overlap.offset:+d} bytes from {self.overlap.name}")
        return ", ".join(parts) or "the only case"


@dataclass(frozen=True, slots=True)
class Cases:
    """All cases of a contract.

    Attributes:
        all: the smallest sizes first.
        bounds: of each size argument the largest value up to which all are looked at.
        whole: whether the contract allows no other sizes.
    """

    all: tuple[Case, ...]
    bounds: Mapping[str, int]
    whole: bool


def cases(signature: Signature, most: int) -> Cases:
    """Returns the cases of a contract, with sizes up to ``most`` above the smallest that it allows.

    Several sizes each go up to the root of it, so that their products stay small.
    """
    counts = [one for one in signature.arguments if one.role is Role.SIZE]
    reach = most if len(counts) < 2 else max(1, round(most ** (1 / len(counts))))
    ranges = [_range(one, reach) for one in counts]
    if not all(ranges):
        return Cases((), {}, False)
    names = [one.name for one in counts]
    sizes = [(dict(zip(names, values, strict=True)), False) for values in itertools.product(*ranges)]
    if len(counts) == 1:
        last, high = ranges[0][-1], _high(counts[0])
        sizes += [({names[0]: n}, True) for n in FURTHER if n > last and (high is None or n <= high)]
    sizes.sort(key=lambda pair: sum(pair[0].values()))
    found = tuple(
        Case(values, overlap, further)
        for values, further in sizes
        for overlap in (None, *overlaps(signature, values))
        if _sensible(signature, values)
    )
    whole = all(
        (high := _high(one)) is not None and high <= values[-1] for one, values in zip(counts, ranges, strict=True)
    )
    return Cases(found, {name: values[-1] for name, values in zip(names, ranges, strict=True)}, whole)


def overlaps(signature: Signature, sizes: Mapping[str, int]) -> Iterator[Overlap]:
    """Yields how buffers may lie in the same memory: at the same address, and one element before and behind."""
    buffers = {one.name: one for one in signature.arguments if one.buffer}
    pairs = {frozenset((one.name, other)) for one in buffers.values() for other in one.may_alias}
    for name, other in itertools.combinations(buffers, 2):
        one, two = buffers[name], buffers[other]
        written = Role.IN in (one.role, two.role) and one.role is two.role
        if frozenset((name, other)) not in pairs or written or not all(evaluate(x.length, sizes) for x in (one, two)):
            continue
        step = max(alignment(one), alignment(two))
        yield from (Overlap(name, other, offset) for offset in (0, step, -step))


def alignment(one: Argument) -> int:
    """Returns the bytes that a buffer is aligned to: its elements' own size unless the contract says more."""
    return max(one.align, bits(one.type) // 8)


def total_bytes(signature: Signature, sizes: Mapping[str, int]) -> int:
    """Returns the bytes of all buffers."""
    return sum(evaluate(one.length, sizes) * bits(one.type) // 8 for one in signature.arguments if one.buffer)


def _range(one: Argument, reach: int) -> Sequence[int]:
    low = max(0, int(one.low or 0))
    high = _high(one)
    last = low + reach if high is None else min(high, low + reach)
    return range(low, last + 1)


def _high(one: Argument) -> int | None:
    return None if one.high is None else int(one.high)


def _sensible(signature: Signature, sizes: Mapping[str, int]) -> bool:
    try:
        return total_bytes(signature, sizes) >= 0
    except LengthError:
        return False
