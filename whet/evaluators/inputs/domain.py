"""Which inputs lie within a target's domain, as far as the inputs that were drawn for it show.

What held in all of them is taken for a precondition (dynamic invariant detection): indices stay within what they
index, lists that were always sorted, equally long or permutations stay so. An edited input that breaks one would
show nothing about a rewrite, for its author never promised to take it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from whet.evaluators.inputs.plain_data import ARRAYS, cells_of
from whet.evaluators.inputs.shapes import ITEM, VALUE, Path, Shape, found, kind_of
from whet.evaluators.inputs.target_text import NO_TEXT, Text
from whet.sandbox.inside.decode import Node

SUPPORT = 4
"""Inputs that must bear a relation out before it counts."""
VARIED = 3
"""Different values that both sides of a relation must have had."""
LONG_ENOUGH = 3
"""Items of a list whose order says something."""
MOST_FEATURES = 40
"""Places of an input that are learned from, the first ones. Every two lengths are compared, so time grows with the
square; places beyond are edited with no relation, order or range to keep."""
SIZED = {list, tuple, str}


@dataclass(slots=True)
class _Relation:
    """How a relation between two numbers of an input has fared."""

    support: int = 0
    broken: bool = False
    values: set[int] = field(default_factory=set)
    close: bool = False

    @property
    def holds(self) -> bool:
        return not self.broken and self.support >= SUPPORT and len(self.values) >= VARIED

    def note(self, held: bool, bound: int) -> None:
        self.broken = self.broken or not held
        self.support += 1
        self.values.add(bound)


@dataclass(frozen=True, slots=True)
class _Numbers:
    """What is counted of one input, by place.

    Attributes:
        lengths: of sequences; only where all that are at one place agree.
        ranges: the least and the largest of the integers.
        orders: of sequences: which of the known orders each place has.
        long: places that have a sequence whose order says something.
        ragged: places that have sequences of different lengths.
        even: places that have several sequences of one length: that length.
    """

    lengths: dict[str, int]
    ranges: dict[str, tuple[int, int]]
    orders: dict[str, set[str]]
    long: set[str]
    ragged: set[str]
    even: dict[str, int]


class Domain:
    """What the observed inputs have in common."""

    def __init__(self, text: Text = NO_TEXT) -> None:
        self.text = text
        self.shape = Shape()
        self._equal: dict[tuple[str, str], _Relation] = {}
        self._below: dict[tuple[str, str, int], _Relation] = {}
        self._orders: dict[str, dict[str, int]] = {}
        self._least: dict[str, int] = {}
        self._long: dict[str, int] = {}
        self._ragged: set[str] = set()
        self._even: dict[str, set[int]] = {}
        self._places: list[tuple[str, Path, Shape]] = []
        self._single: set[str] = set()

    def learn(self, values: Iterable[Any]) -> None:
        """Takes the inputs as examples of what the target is for."""
        values = list(values)
        for value in values:
            self.shape.observe(value)
        self._places = [(str(path), path, shape) for path, shape in self.shape.places()][:MOST_FEATURES]
        # A negative number among data is data; a negative parameter is mostly a size that makes no sense.
        self._single = {
            name
            for name, path, shape in self._places
            if ITEM not in path and VALUE not in path and "int" in shape.kinds
        }
        for value in values:
            self._note(self._numbers(value))

    def admits(self, value: Any) -> bool:
        """Whether an input keeps what all the examples had in common."""
        seen = self._numbers(value)
        for (a, b), relation in self._equal.items():
            if relation.holds and a in seen.lengths and b in seen.lengths and seen.lengths[a] != seen.lengths[b]:
                return False
        if any(len(self._even.get(place, ())) >= VARIED for place in seen.ragged - self._ragged):
            return False  # rows of a table that is not even any more
        for place, orders in self._orders.items():
            if place in seen.orders:
                always = {order for order, count in orders.items() if count == self._long[place] >= VARIED}
                if not always <= seen.orders[place]:
                    return False
        for place, (low, high) in seen.ranges.items():
            if place in self._single and low < min(0, self._least.get(place, 0)):
                return False
            for (ranged, bound, slack), relation in self._below.items():
                known = ranged == place and relation.holds and relation.close and bound in seen.lengths
                if known and (low < self._least[place] or high >= seen.lengths[bound] + slack):
                    return False
        return True

    def _numbers(self, value: Any) -> _Numbers:
        numbers = _Numbers({}, {}, {}, set(), set(), {})
        for name, path, shape in self._places:
            there = found(value, path)
            if there:
                self._count(numbers, name, path, shape, there)
        return numbers

    def _count(self, numbers: _Numbers, name: str, path: Path, shape: Shape, there: list[Any]) -> None:
        types = set(map(type, there))  # most often one: then little has to be looked at item by item
        integers = there if types == {int} else [item for item in there if type(item) is int] if int in types else []
        for node in there if Node in types else ():
            if isinstance(node, Node) and node.kind in ARRAYS:
                integers = [*integers, *_extremes(node)]
                shapes = {tuple(item.state[1]) for item in there if isinstance(item, Node) and item.kind in ARRAYS}
                if len(shapes) == 1:
                    numbers.lengths.update({f"{name} axis {i}": n for i, n in enumerate(node.state[1])})
        if integers:
            numbers.ranges[name] = min(integers), max(integers)
            if ITEM not in path and VALUE not in path and len(integers) == 1 == len(there):
                numbers.lengths[name] = integers[0]
        sized = {len(item) for item in there if isinstance(item, (list, tuple, str))} if types & SIZED else set()
        if len(sized) > 1:
            numbers.ragged.add(name)
        elif len(there) > 1 and sized:
            numbers.even[name] = next(iter(sized))
        if len(sized) == 1 and not shape.fixed and kind_of(there[0]) != "none":
            numbers.lengths[f"{name} length"] = next(iter(sized))
        rows = [cells for item in there if isinstance(item, Node) and (cells := _row(item)) is not None]
        if rows:
            numbers.orders[name] = set.intersection(*map(_orders_of_row, rows))
            if all(len(cells) > LONG_ENOUGH for cells in rows):
                numbers.long.add(name)
        lists = [item for item in there if isinstance(item, (list, tuple))] if types & {list, tuple} else []
        if lists and not shape.fixed:
            numbers.orders[name] = set.intersection(*map(orders_of, lists))
            if all(len(item) > LONG_ENOUGH for item in lists):
                numbers.long.add(name)

    def _note(self, seen: _Numbers) -> None:
        self._ragged |= seen.ragged
        for place, length in seen.even.items():
            self._even.setdefault(place, set()).add(length)
        names = sorted(seen.lengths)
        for i, a in enumerate(names):
            for b in names[i + 1 :]:
                held = seen.lengths[a] == seen.lengths[b]
                self._equal.setdefault((a, b), _Relation()).note(held, seen.lengths[a])
        for place, (low, high) in seen.ranges.items():
            self._least[place] = min(low, self._least.get(place, low))
            for bound in names if self.text.subscripts else ():
                if bound != place:
                    for slack in (0, 1):
                        relation = self._below.setdefault((place, bound, slack), _Relation())
                        relation.note(low >= 0 and high < seen.lengths[bound] + slack, seen.lengths[bound])
                        relation.close = relation.close or 2 * high >= seen.lengths[bound] > 3
        for place, orders in seen.orders.items():
            known = self._orders.setdefault(place, {})
            if place in seen.long:
                self._long[place] = self._long.get(place, 0) + 1
                for order in orders:
                    known[order] = known.get(order, 0) + 1


def orders_of(items: list[Any] | tuple[Any, ...]) -> set[str]:
    """Returns in which orders a sequence is, as a whole and by each column of its rows."""
    columns: dict[str, list[Any]] = {"": list(items)}
    types = set(map(type, items))
    if types and types <= {list, tuple} and all(items):
        width = min(len(item) for item in items)
        columns |= {f"column {i} ": [item[i] for item in items] for i in range(min(width, 4))}
    found: set[str] = set()
    for name, values in columns.items():
        try:
            if all(a <= b for a, b in pairwise(values)):
                found.add(f"{name}ascending")
            if all(a >= b for a, b in pairwise(values)):
                found.add(f"{name}descending")
        except TypeError:
            continue
    if types <= {int}:
        distinct = len(set(items)) == len(items)
        for start in (0, 1):
            if not items or (distinct and (min(items), max(items)) == (start, start + len(items) - 1)):
                found.add(f"permutation from {start}")
    return found


def _row(node: Node) -> Any:
    """Returns the cells of an array of numbers with one axis; None for anything else."""
    cells = cells_of(node) if node.kind in ARRAYS and len(node.state[1]) == 1 else None
    return cells if cells is not None and cells.dtype.kind in "iuf" else None


def _orders_of_row(cells: Any) -> set[str]:
    """Returns in which orders the cells of an array are, as `orders_of` does of a list."""
    found = {"ascending": cells[:-1] <= cells[1:], "descending": cells[:-1] >= cells[1:]}
    return {order for order, held in found.items() if held.all()}


def _extremes(node: Node) -> list[int]:
    cells = cells_of(node)
    whole = cells is not None and cells.dtype.kind in "iu" and cells.size
    return [int(cells.min()), int(cells.max())] if whole else []
