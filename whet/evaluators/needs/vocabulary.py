"""What a rewrite may need of its arguments that the original does not: a name, a sentence, and inputs that break it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from whet.evaluators.needs import breaking
from whet.evaluators.needs.breaking import Breaks, containers, either, every_second, integer_to, number_to, values
from whet.evaluators.needs.spots import Spot


@dataclass(frozen=True, slots=True)
class Need:
    """Something that has to hold of an argument.

    Attributes:
        name: as edits declare it, and as documents name it.
        sentence: what has to hold, where ``{place}`` stands for the place.
        breaks: makes inputs on which it does not hold.
        supported: whether it counts only where the original gives the same as on the input that was edited: it takes
            what breaks the need as well, rather than something or other by accident.
        rest: whether it is about what is left of iterators, which is not compared otherwise.
    """

    name: str
    sentence: str
    breaks: Breaks
    supported: bool = False
    rest: bool = False

    def said(self, place: object) -> str:
        """Returns what has to hold of a place."""
        return self.sentence.format(place=place)


def _in_container(spot: Spot) -> bool:
    return bool(spot.inner)


_ITERATORS = containers(breaking.iterator, "list", "tuple", argument=True)

VOCABULARY = (
    Need(
        "hashable",
        "{place} can be hashed",
        either(
            breaking.within(values(breaking.boxed), _in_container),
            containers(breaking.listed, "tuple", "str"),
        ),
    ),
    Need("no-string", "{place} is no string, of which `in` finds parts", breaking.texts),
    Need("reiterable", "{place} can be gone through again: it is no iterator", _ITERATORS, supported=True),
    Need(
        "rest-unread",
        "nobody reads on from an iterator that was passed as {place}",
        _ITERATORS,
        supported=True,
        rest=True,
    ),
    Need(
        "no-nan",
        "{place} is not NaN",
        values(
            number_to(lambda one: math.nan, every=False),
            every_second(lambda one: math.nan),
            every_second(lambda one: math.nan, first=0),
        ),
    ),
    Need(
        "ordered",
        "{place} can be ordered",
        values(every_second(breaking.other_kind), every_second(breaking.other_kind, first=0)),
    ),
    Need("real", "{place} is a real number", values(number_to(breaking.complex_number))),
    Need(
        "int64",
        "{place} fits in 64 bits",
        values(
            integer_to(lambda one: one + breaking.PAST_64_BITS),
            integer_to(lambda one: breaking.PAST_64_BITS - 1 - abs(one)),
            integer_to(lambda one: 10**30, every=False),
        ),
    ),
    Need("one-type", "{place} has one type", values(every_second(breaking.other_type), every_second(breaking.truth))),
    Need(
        "no-duplicates",
        "{place} holds nothing twice",
        either(containers(breaking.doubled, "list", "tuple"), containers(breaking.repeated, "list", "tuple")),
    ),
    Need(
        "acyclic",
        "{place} has no cycle",
        breaking.within(
            either(
                containers(breaking.back, "list", "dict", argument=True),
                containers(breaking.holding_itself, "list", argument=True),
            ),
            lambda spot: spot.nested or spot.sees("dict"),
        ),
    ),
    Need("no-alias", "{place} is not another argument as well", breaking.alike),
    Need(
        "shallow",
        "{place} stays clear of Python's recursion limit",
        either(
            breaking.within(containers(breaking.deep, "list", argument=True), lambda spot: spot.nested),
            breaking.within(
                values(*(integer_to(lambda one, near=near: near) for near in breaking.NEAR_LIMIT)),  # type: ignore[misc]
                lambda spot: not spot.inner,
            ),
        ),
    ),
    Need(
        "non-negative",
        "{place} is not negative",
        values(integer_to(lambda one: -1 - abs(one), every=False), integer_to(lambda one: -1 - abs(one))),
    ),
    Need("in-range", "{place} lies within what it indexes", values(integer_to(lambda one: breaking.FAR, every=False))),
    Need("plain-dict", "{place} makes no missing entries, as a defaultdict does", containers(breaking.making, "dict")),
    Need(
        "ascii",
        "{place} is ASCII",
        values(
            breaking.text_to(lambda one: one + "\u00df"),
            breaking.text_to(lambda one: "\u0130" + one),
            breaking.text_to(lambda one: one + "\u0663"),
        ),
    ),
    Need("list", "{place} is a list", containers(tuple, "list", argument=True)),
)
"""All needs that are known."""

NEEDS = {need.name: need for need in VOCABULARY}


def broken(value: Any, spots: Sequence[Spot], needs: Iterable[Need] = VOCABULARY) -> Iterator[tuple[Need, Spot, Any]]:
    """Yields edits of an input with the need that each breaks, and where."""
    for need in needs:
        for spot in spots:
            for new in need.breaks(value, spot, spots):
                yield need, spot, new
