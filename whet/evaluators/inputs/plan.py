"""Which inputs the generators and cases of a task give the differential rung, in which order."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from whet.evaluators.inputs.source import PLAIN, Input, InputSource, derive

DRAWS_SMALLEST = 10
"""Inputs that the first generator draws of the smallest listed size where calls are cheap. It draws most there, since
small inputs are cheap and show faults most often; each takes a call of both sides."""
DRAWS = 3
"""The same for every other size, and for every further generator. More find rarer faults, and each takes a call of both
sides."""
FEWEST_DRAWN = 5
"""Inputs that are drawn however slow the baseline is: fewer would not tell a function from most wrong ones."""

SMALL = 100
"""Sizes up to which those between listed ones are drawn however slow the listed ones are: what is wrong, is so at
small sizes most often."""


@dataclass(frozen=True, slots=True)
class Draw:
    """Inputs of one size and one generator.

    Attributes:
        size: as given to the generator.
        generator: its name.
        most: how many are drawn where calls are cheap.
        fewest: how many are drawn in any case.
        above: whether the size lies above all that are listed; those come last.
    """

    size: int
    generator: str
    most: int
    fewest: int
    above: bool = False


Limit = Callable[[Draw], int]
"""Returns how many inputs are drawn, from the fewest to the most."""


def everything(draw: Draw) -> int:
    """A `Limit` that cuts nothing."""
    return draw.most


def draws(source: InputSource, seed: int) -> list[Draw]:
    """Returns what generators are asked for in one examination, in its order.

    All that is listed, the smallest sizes, small ones between, one further between and one above are drawn in any case.
    """
    if not source.sizes:
        return []
    unlisted = list(source.unlisted_sizes(derive(seed, "unlisted")))
    small = [size for size in unlisted if size < source.sizes[0]]
    between = [size for size in unlisted if source.sizes[0] < size < source.sizes[-1]]
    found = []
    for size in (*small, *source.sizes, *between):
        fewest = 0 if size in between[1:] and size > SMALL else 1
        found.append(Draw(size, PLAIN, DRAWS_SMALLEST if size == source.sizes[0] else DRAWS, fewest))
        others = (name for name in source.generators if name != PLAIN and size not in between)
        found += [Draw(size, name, DRAWS, 1) for name in others]
    return found + [Draw(size, PLAIN, DRAWS, 1, above=True) for size in unlisted if size > source.sizes[-1]]


def plan(source: InputSource, seed: int, limit: Limit = everything) -> Iterator[Input]:
    """Yields inputs for one examination: cases, each size once, from the smallest to one between; then more of each.

    Args:
        source: draws them.
        seed: of this examination alone, so that nobody can foresee an input or meet it again.
        limit: how many are drawn of each size. A few more of the smallest listed size are, where these are too few.
    """
    yield from source.cases
    yield from source.recorded
    drawn = 0
    for draw, seeds in _in_order(draws(source, seed), seed, limit):
        found = _drawn(source, draw, seeds)
        drawn += len(found)
        yield from found
    for draw in draws(source, seed):
        if draw.size == source.sizes[0] and draw.generator == PLAIN:
            yield from _drawn(source, draw, _seeds(seed, draw)[limit(draw) :][: max(0, FEWEST_DRAWN - drawn)])


def _in_order(asked: list[Draw], seed: int, limit: Limit) -> Iterator[tuple[Draw, list[int]]]:
    """Yields from which seeds inputs are drawn: one of each, then more of each, then those above all listed sizes."""
    for part in (slice(0, 1), slice(1, None)):
        yield from ((draw, _seeds(seed, draw)[: limit(draw)][part]) for draw in asked if not draw.above)
    yield from ((draw, _seeds(seed, draw)[: limit(draw)]) for draw in asked if draw.above)


def _drawn(source: InputSource, draw: Draw, seeds: list[int]) -> list[Input]:
    if not seeds:
        return []
    return (source.draw if draw.size in source.sizes else source.try_draw)(draw.size, seeds, draw.generator)


def input_hash(item: Input) -> str:
    """Returns what an input is known by in the evidence."""
    return hashlib.sha256(item.payload).hexdigest()[:16]


def _seeds(seed: int, draw: Draw) -> list[int]:
    return [derive(seed, draw.generator, draw.size, i) for i in range(draw.most)]
