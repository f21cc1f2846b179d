"""Cases from a task's own generators, which alone know what inputs may be."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from whet.core.signature import Argument, Signature
from whet.evaluators.abi.cases import COUNT, LARGER, SMALL, Case, CaseSet, from_contract, lengths_of, payload, small
from whet.evaluators.inputs.source import Input, InputSource, derive
from whet.sandbox.inside.codec import CodecError
from whet.sandbox.inside.decode import decode
from whet.sandbox.inside.lengths import LengthError
from whet.sandbox.inside.native_target import element_bytes

AT_ONCE = 4
"""Cases of each larger size that a generator is asked for."""


def from_source(signature: Signature, source: InputSource, seed: int, specials: bool, count: int = COUNT) -> list[Case]:
    """Draws cases of every small size from a task's own generators, which alone know what inputs may be.

    Where the workload says which inputs are valid, half of the cases are drawn from the contract, and kept if they are.
    Sizes for which a generator makes none are left out.

    Args:
        signature: the contract.
        source: of the task.
        seed: secret.
        specials: see `from_contract`.
        count: how many at most.
    """
    drawn = from_contract(signature, derive(seed, "contract"), specials, count // 2) if source.validates else []
    held = source.valid([payload(signature, case) for case in drawn])
    pool = CaseSet(count)
    for case in (replace(case, free=False) for case, valid in zip(drawn, held, strict=True) if valid):
        pool.add(case)
    left = count - len(pool.cases)
    for size, each in _draws(seed, left):
        seeds = [derive(seed, "case", size, i) for i in range(each)]
        for first, generator in enumerate(source.generators):
            items = source.try_draw(size, seeds[first :: len(source.generators)], generator)
            for number, item in enumerate(items):
                pool.add(_read(signature, item, (number + size) % 2 == 0))
    return sorted(pool.cases, key=lambda case: case.bulk)


def _draws(seed: int, count: int) -> Iterator[tuple[int, int]]:
    """Yields sizes, and how many cases of each to draw: every small one, and a fifth of the cases larger ones."""
    larger = count // 5
    for size in range(SMALL + 1):
        yield size, max(2, (count - larger) // (SMALL + 1))
    rng = random.Random(derive(seed, "larger"))
    for size in rng.sample(range(SMALL + 1, LARGER + 1), larger // AT_ONCE):
        yield size, AT_ONCE


def _read(signature: Signature, item: Input, at_end: bool) -> Case | None:
    value = decode(item.payload)
    if not isinstance(value, tuple) or len(value) != len(signature.given):
        return None
    numbers: dict[str, Any] = {}
    contents: dict[str, bytes] = {}
    try:
        for one, given in zip(signature.given, value, strict=True):
            if one.buffer:
                contents[one.name] = element_bytes(given, one.type, one.name)
            elif _within(one, given):
                numbers[one.name] = given
            else:
                return None
        lengths = lengths_of(signature, numbers)
    except (CodecError, LengthError):
        return None
    fits = all(len(data) == lengths[name] for name, data in contents.items())
    return Case(numbers, contents, lengths, at_end, False) if fits and small(lengths) else None


def _within(one: Argument, number: Any) -> bool:
    """Whether the contract allows a number: asked for size 0, a generator may make what the function excludes."""
    return (one.low is None or number >= one.low) and (one.high is None or number <= one.high)
