"""Which inputs the generators and cases of a task give the differential rung, in which order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from whet.evaluators.inputs.source import PLAIN, Input, InputSource, derive

DRAWS_SMALLEST = 10
DRAWS = 3


def plan(source: InputSource, seed: int) -> Iterator[Input]:
    """Yields inputs for one examination: cases, each size once, from the smallest to one between; then more of each.

    Args:
        source: draws them.
        seed: of this examination alone, so that nobody can foresee an input or meet it again.
    """
    yield from source.cases
    yield from source.recorded
    if not source.sizes:
        return
    unlisted = list(source.unlisted_sizes(derive(seed, "unlisted")))
    small = [size for size in unlisted if size < source.sizes[0]]
    between = [size for size in unlisted if source.sizes[0] < size < source.sizes[-1]]
    for part in (slice(0, 1), slice(1, None)):
        for size in (*small, *source.sizes, *between):
            listed = size in source.sizes
            draw = source.draw if listed else source.try_draw
            count = DRAWS_SMALLEST if size == source.sizes[0] else DRAWS
            yield from draw(size, _seeds(seed, size, count)[part])
            for name in source.generators if size not in between else ():
                if name != PLAIN:
                    yield from draw(size, _seeds(seed, size, DRAWS, name)[part], name)
    for size in unlisted:
        if size > source.sizes[-1]:
            yield from source.try_draw(size, _seeds(seed, size, DRAWS))


def input_hash(item: Input) -> str:
    """Returns what an input is known by in the evidence."""
    return hashlib.sha256(item.payload).hexdigest()[:16]


def due(source: InputSource, seed: int) -> set[int | None]:
    """Returns the sizes that are met however long it takes: those that are listed, one between and one above them."""
    if not source.sizes:
        return set()
    unlisted = list(source.unlisted_sizes(derive(seed, "unlisted")))
    between = [size for size in unlisted if source.sizes[0] < size < source.sizes[-1]]
    above = [size for size in unlisted if size > source.sizes[-1]]
    return {*source.sizes, *between[:1], *above}


def _seeds(seed: int, size: int, count: int, generator: str = PLAIN) -> list[int]:
    return [derive(seed, generator, size, i) for i in range(count)]
