"""Inputs that break one need at one place; the original decides whether it takes them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from functools import reduce
from typing import Any

from whet.evaluators.inputs.shapes import UnsuitedError, found, kind_of
from whet.evaluators.needs.spots import Spot, Substitution, changed, changed_at
from whet.sandbox.inside.decode import Node

Breaks = Callable[[Any, Spot, Sequence[Spot]], Iterator[Any]]
"""Yields edits of an input at a place, which may change other places to suit it; nothing where the place has none."""

PAST_64_BITS = 2**63
FAR = 10**4
"""Beyond any list that is edited."""
DEEP = 1500
"""Lists in each other: more than Python's recursion limit, less than what an input may have."""
NEAR_LIMIT = (450, 900)
"""Numbers for which a recursion that counts down is near Python's limit, with two frames a step and with one."""
PIECE = 2
"""Characters of the parts that a text is asked for."""


def values(*changes: Substitution) -> Breaks:
    """Returns what changes the single values at a place: there alone, then wherever such values are in containers."""

    def breaks(value: Any, spot: Spot, spots: Sequence[Spot]) -> Iterator[Any]:
        if not spot.scalar:
            return
        others = [one for one in spots if one.path != spot.path and one.inner and one.sees(*spot.shape.kinds)]
        for change in changes:
            new = _suited(value, spot, change)
            if new is not None:
                yield new
                if others:
                    yield changed_at(new, others, change)

    return breaks


def containers(change: Callable[[Any], Any], *kinds: str, argument: bool = False) -> Breaks:
    """Returns what changes the containers at a place.

    Args:
        change: gives the new one.
        kinds: of the containers that it suits.
        argument: whether it is about arguments only, and not about what is in them.
    """

    def suited(one: Any, number: int) -> Any:
        return change(one) if kind_of(one) in kinds else _unsuited()

    def breaks(value: Any, spot: Spot, spots: Sequence[Spot]) -> Iterator[Any]:
        if spot.sees(*kinds) and not (argument and spot.inner):
            new = _suited(value, spot, suited)
            if new is not None:
                yield new

    return breaks


def either(*ways: Breaks) -> Breaks:
    """Returns what breaks a need in several ways."""

    def breaks(value: Any, spot: Spot, spots: Sequence[Spot]) -> Iterator[Any]:
        for way in ways:
            yield from way(value, spot, spots)

    return breaks


def within(way: Breaks, needed: Callable[[Spot], bool]) -> Breaks:
    """Returns a way for some places only."""

    def breaks(value: Any, spot: Spot, spots: Sequence[Spot]) -> Iterator[Any]:
        if needed(spot):
            yield from way(value, spot, spots)

    return breaks


def _suited(value: Any, spot: Spot, change: Substitution) -> Any:
    try:
        return changed(value, spot.path, change)
    except UnsuitedError:
        return None


def _unsuited() -> Any:
    raise UnsuitedError


def boxed(one: Any, number: int) -> Any:
    """Puts a value into a list, which cannot be hashed."""
    return [one]


def listed(one: Any) -> Any:
    """Makes a list of a tuple, or of a text's letters."""
    return list(one)


def texts(value: Any, spot: Spot, spots: Sequence[Spot]) -> Iterator[Any]:
    """Puts one text in the place of a list, and parts of it in the place of what may be looked for."""
    if not spot.sees("list", "tuple") or spot.nested:
        return
    there = [one for one in found(value, spot.path) if isinstance(one, (list, tuple))]
    text = "".join(str(item) for one in there for item in one)
    if len(text) < PIECE:
        return
    new = changed(value, spot.path, lambda one, number: text)
    others = [one for one in spots if one.scalar and one.path[: len(spot.path)] != spot.path]

    def piece(one: Any, number: int) -> str:
        at = number % (len(text) - PIECE + 1)
        return text[at : at + PIECE]

    yield changed_at(new, others, piece)
    yield changed_at(new, [one for one in others if one.inner], piece)
    yield new


def alike(value: Any, spot: Spot, spots: Sequence[Spot]) -> Iterator[Any]:
    """Passes one container as two arguments."""
    if spot.inner or spot.scalar:
        return
    for other in spots:
        if other.parameter != spot.parameter and not other.inner and other.shape.kinds == spot.shape.kinds:
            shared = found(value, spot.path)[0]
            yield changed(value, other.path, lambda one, number, shared=shared: shared)  # type: ignore[misc]


def holding_itself(one: Any) -> Any:
    """Appends a list to itself."""
    new = list(one)
    new.append(new)
    return new


def _back(one: Any) -> Any:
    """Adds the way back to each edge of a graph: of a dictionary, or a list, of neighbours."""
    rows = {key: row for _, key, row in one.state} if isinstance(one, Node) else dict(enumerate(one))
    if not all(isinstance(row, list) for row in rows.values()):
        raise UnsuitedError
    new = {key: list(row) for key, row in rows.items()}
    for key, row in rows.items():
        for other in row:
            if isinstance(other, (int, str)) and key not in new.get(other, [key]):
                new[other].append(key)
    if new == rows:
        raise UnsuitedError
    if isinstance(one, Node):
        return Node("dict", "", [(name, key, new[key]) for name, key, _ in one.state], True)
    return list(new.values())


def back(one: Any) -> Any:
    """Makes cycles in a graph."""
    try:
        return _back(one)
    except TypeError:  # keys that cannot be hashed are no numbers of nodes
        raise UnsuitedError from None


def iterator(one: Any) -> Any:
    """Makes an iterator of a list."""
    return Node("lazy", "builtins:generator", tuple(one))


def making(one: Any) -> Any:
    """Makes a dictionary one that makes what it lacks."""
    return Node("special", "collections:defaultdict", ("int", [(key, item) for _, key, item in one.state]), True)


def deep(one: Any) -> Any:
    """Puts a list into lists that hold one item each."""
    return reduce(lambda inner, _: [inner], range(DEEP), one)


def doubled(one: Any) -> Any:
    """Has each item twice."""
    return one + deepcopy(one) if one else _unsuited()


def repeated(one: Any) -> Any:
    """Has one item only, as often as there were items."""
    return type(one)(deepcopy(one[0]) for _ in one) if len(one) > 1 else _unsuited()


def number_to(new: Callable[[Any], Any], every: bool = True) -> Substitution:
    """Returns what changes numbers: all, or the first alone."""

    def change(one: Any, number: int) -> Any:
        if type(one) not in (int, float) or (number and not every):
            raise UnsuitedError
        return new(one)

    return change


def integer_to(new: Callable[[int], Any], every: bool = True) -> Substitution:
    """Returns what changes integers: all, or the first alone."""

    def change(one: Any, number: int) -> Any:
        if type(one) is not int or (number and not every):
            raise UnsuitedError
        return new(one)

    return change


def text_to(new: Callable[[str], str]) -> Substitution:
    """Returns what changes texts."""
    return lambda one, number: new(one) if isinstance(one, str) else _unsuited()


def every_second(new: Callable[[Any], Any], first: int = 1) -> Substitution:
    """Returns what changes each second value."""
    return lambda one, number: new(one) if number % 2 == first else _unsuited()


def other_type(one: Any) -> Any:
    """Returns an equal value of another type."""
    if type(one) is int:
        return float(one) if abs(one) < 2**53 else _unsuited()
    return int(one) if type(one) is float and math.isfinite(one) and one == int(one) else _unsuited()


def truth(one: Any) -> Any:
    """Returns a truth value for the number that it equals."""
    return bool(one) if type(one) is int and one in (0, 1) else _unsuited()


def complex_number(one: Any) -> Any:
    """Returns an equal number that cannot be ordered."""
    return complex(one) if abs(one) < 2**53 else _unsuited()


def other_kind(one: Any) -> Any:
    """Returns a text for a number, and a number for a text."""
    return len(one) if isinstance(one, str) else str(one)
