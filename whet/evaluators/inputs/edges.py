"""Edits of drawn inputs towards edges; each keeps the type of the place that it edits."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from whet.evaluators.floats.elements import ARRAYS
from whet.evaluators.inputs.domain import Domain
from whet.evaluators.inputs.plain_data import ATOMS, atomic, cells_of, with_cells, write
from whet.evaluators.inputs.shapes import ITEM, VALUE, Path, Shape, UnsuitedError, edited, kind_of, text_of
from whet.evaluators.inputs.text_edits import NUMBER, STDIN_EDITS, TEXT_EDITS, replaced
from whet.sandbox.inside.codec import CodecError
from whet.sandbox.inside.decode import Node

LARGE = 2**31
"""For integers in containers: the least that no signed 32-bit type holds. The product of two still fits in 64 bits;
with a larger one it may not."""
HUGE = 2**62
"""For parameters; beyond 2**63 even the library's own functions refuse a size."""
LARGE_FLOAT = 1e16
"""For floats: above 2**53, where doubles are two apart and adding 1 is lost. A smaller one is exact as an integer; one
above 1e154 overflows when it is squared."""
PASSES = 8
"""How often each edit is tried at each place at most, on another input each time."""

Items = list[Any] | tuple[Any, ...]
Key = tuple[str, Path]
"""A kind of edit at a place."""


@dataclass(frozen=True, slots=True)
class Edge:
    """An edited input.

    Attributes:
        payload: its bytes.
        name: the edit and its place, for people.
        base: which of the given inputs it was made from.
        key: of this kind of edit at this place.
        textual: whether a text was edited, so that a complaint about it is to be expected.
    """

    payload: bytes
    name: str
    base: int
    key: Key
    textual: bool


@dataclass(frozen=True, slots=True)
class _EditContext:
    """What an edit may know of the place that it edits."""

    rng: random.Random
    examples: list[Any]
    literals: dict[str, list[Any]]
    nested: bool
    ordered: bool

    def other(self) -> Any:
        """Returns another value of its kind that was seen there."""
        return self._one(self.examples)

    def literal(self, kind: str) -> Any:
        """Returns a value that stands in the target's text."""
        return self._one(self.literals.get(kind, []))

    def _one(self, choices: list[Any]) -> Any:
        if not choices:
            raise UnsuitedError
        return self.rng.choice(choices)


ValueEdit = Callable[[Any, _EditContext], Any]


def _copy(value: Any) -> Any:
    """Returns a value that shares no container with the given one."""
    if type(value) in ATOMS:
        return value
    if isinstance(value, (list, tuple)):
        return type(value)(value if atomic(value) else map(_copy, value))
    if isinstance(value, Node):
        return Node(value.kind, value.name, _copy(value.state), value.numbered)
    return bytearray(value) if isinstance(value, bytearray) else value


def _sorted(items: Items, context: _EditContext) -> Items:
    try:
        return type(items)(sorted(items))
    except TypeError:
        raise UnsuitedError from None


def _shuffled(items: Items, context: _EditContext) -> Items:
    return type(items)(context.rng.sample(items, len(items)))


def _picked(items: Items, context: _EditContext) -> Any:
    if not items:
        raise UnsuitedError
    return context.rng.choice(items)


def _inserted(items: Items, context: _EditContext) -> Items:
    again, i = _copy(_picked(items, context)), context.rng.randrange(len(items) + 1)
    return type(items)([*items[:i], again, *items[i:]])


def _dropped(items: Items, context: _EditContext) -> Items:
    i = context.rng.randrange(max(1, len(items)))
    return type(items)([*items[:i], *items[i + 1 :]])


def _aliased(items: Items, context: _EditContext) -> Items:
    mutable = [
        i for i, item in enumerate(items) if isinstance(item, list) or (isinstance(item, Node) and item.numbered)
    ]
    pairs = [(i, j) for i in mutable for j in mutable if i != j and _sort(items[i]) == _sort(items[j])][:64]
    if not pairs:
        raise UnsuitedError
    i, j = context.rng.choice(pairs)
    return type(items)([*items[:j], items[i], *items[j + 1 :]])


def _sort(item: Any) -> tuple[Any, ...]:
    """Returns what an item is; an array with its type and shape, as labels are no logits."""
    array = isinstance(item, Node) and item.kind in ARRAYS
    return (kind_of(item), *item.state[:2]) if array else (kind_of(item),)


ORDER_EDITS: dict[str, ValueEdit] = {
    "reversed": lambda v, p: v[::-1],
    "sorted": _sorted,
    "sorted downwards": lambda v, p: _sorted(v, p)[::-1],
    "shuffled": _shuffled,
}
LENGTH_EDITS: dict[str, ValueEdit] = {
    "empty": lambda v, p: v[:0],
    "one item": lambda v, p: type(v)([_picked(v, p)]),
    "two items": lambda v, p: v[:2],
    "two equal items": lambda v, p: type(v)([x := _picked(v, p), _copy(x)]),
    "all equal": lambda v, p: (lambda x: type(v)(_copy(x) for _ in v))(_picked(v, p)),
    "every item twice": lambda v, p: type(v)(_copy(x) for x in v for _ in range(2)),
    "twice over": lambda v, p: v + _copy(v),
    "an item again": _inserted,
    "an item dropped": _dropped,
}
ALIAS_EDITS: dict[str, ValueEdit] = {"the same object twice": _aliased}


def _near(choose: Callable[[_EditContext], int]) -> ValueEdit:
    return lambda value, context: choose(context) + context.rng.choice((-1, 0, 1))


INT_EDITS: dict[str, ValueEdit] = {
    "zero": lambda v, p: 0,
    "one": lambda v, p: 1,
    "minus one": lambda v, p: -1,
    "negated": lambda v, p: -v,
    "next": lambda v, p: v + p.rng.choice((-1, 1)),
    "large": lambda v, p: LARGE if p.nested else HUGE,
    "large negative": lambda v, p: -LARGE if p.nested else -HUGE,
    "near another": _near(lambda p: int(p.other())),
    "near a literal": _near(lambda p: int(p.literal("int"))),
}


def _nan(value: float, context: _EditContext) -> float:
    if context.nested and context.ordered:  # where NaN ends up would depend on the algorithm
        raise UnsuitedError
    return math.nan


FLOAT_EDITS: dict[str, ValueEdit] = {
    "zero": lambda v, p: 0.0,
    "minus zero": lambda v, p: -0.0,
    "one": lambda v, p: 1.0,
    "negated": lambda v, p: -v,
    "half": lambda v, p: math.floor(v) + 0.5 if math.isfinite(v) else 0.5,
    "next": lambda v, p: math.nextafter(v, p.rng.choice((-math.inf, math.inf))),
    "infinite": lambda v, p: math.inf,
    "minus infinite": lambda v, p: -math.inf,
    "not a number": _nan,
    "large": lambda v, p: LARGE_FLOAT,
    "tiny": lambda v, p: 5e-324,
    "another": lambda v, p: p.other(),
    "a literal": lambda v, p: float(p.literal(p.rng.choice(("int", "float")))),
}


def _as_text(edit: Callable[[str, random.Random], str]) -> ValueEdit:
    return lambda value, context: edit(value, context.rng)


def _joined(value: str, context: _EditContext) -> str:
    i = context.rng.randrange(len(value) + 1)
    return value[:i] + str(context.literal("str")) + value[i:]


def _number_literal(value: str, context: _EditContext) -> str:
    number = int(context.literal("int")) + context.rng.choice((-1, 0, 1))
    return replaced(NUMBER, lambda match, others, rng: str(number))(value, context.rng)


def _emptied(node: Node, context: _EditContext) -> Node:
    return Node(node.kind, node.name, [], node.numbered)


def _thinned(node: Node, context: _EditContext) -> Node:
    return Node(node.kind, node.name, [_picked(node.state, context)], node.numbered)


def _reordered(node: Node, context: _EditContext) -> Node:
    return Node(node.kind, node.name, node.state[::-1], node.numbered)


def _lessened(node: Node, context: _EditContext) -> Node:
    return Node(node.kind, node.name, _dropped(node.state, context), node.numbered)


TABLE_EDITS: dict[str, ValueEdit] = {
    "empty": _emptied,
    "one item": _thinned,
    "an item dropped": _lessened,
    "reversed": _reordered,
}


def _cells(change: Callable[[Any, _EditContext], None]) -> ValueEdit:
    """Returns an edit of an array's cells, which are given flat, as a copy."""

    def edit(node: Node, context: _EditContext) -> Node:
        cells = cells_of(node)
        if cells is None or not cells.size:
            raise UnsuitedError
        change(cells, context)
        return with_cells(node, cells)

    return edit


def _some(number: float) -> Callable[[Any, _EditContext], None]:
    """Returns a change of a few cells to a number, where their type has it."""

    def change(cells: Any, context: _EditContext) -> None:
        kind = cells.dtype.kind
        if (kind != "f" and not math.isfinite(number)) or (kind in "ub" and number < 0):
            raise UnsuitedError
        if math.isnan(number) and context.ordered:
            raise UnsuitedError
        for _ in range(context.rng.randrange(1, 4)):
            cells[context.rng.randrange(len(cells))] = number

    return change


def _perturbed(cells: Any, context: _EditContext) -> None:
    i, j = context.rng.randrange(len(cells)), context.rng.randrange(len(cells))
    cells[i], cells[j] = cells[j], cells[i] if cells[i] != cells[j] else not cells[i]


def _set(fill: Callable[[Any], Any]) -> Callable[[Any, _EditContext], None]:
    def change(cells: Any, context: _EditContext) -> None:
        cells[:] = fill(cells)

    return change


def _ascending(cells: Any) -> Any:
    import numpy as np

    return np.sort(cells)


ARRAY_EDITS: dict[str, ValueEdit] = {
    "zeros": _cells(_set(lambda cells: 0)),
    "all equal": _cells(_set(lambda cells: cells[0])),
    "sorted": _cells(_set(_ascending)),
    "reversed": _cells(_set(lambda cells: cells[::-1].copy())),
    "negated": _cells(_set(lambda cells: cells if cells.dtype.kind in "ub" else -cells)),
    "cells perturbed": _cells(_perturbed),
    "cells zero": _cells(_some(0)),
    "cells minus one": _cells(_some(-1)),
    "cells minus zero": _cells(_some(-0.0)),
    "cells not a number": _cells(_some(math.nan)),
    "cells infinite": _cells(_some(math.inf)),
    "cells large": _cells(
        lambda cells, context: _some(LARGE_FLOAT if cells.dtype.itemsize > 4 else 1000.0)(cells, context)
    ),
}

BYTES_EDITS: dict[str, ValueEdit] = {
    "empty": lambda v, p: b"",
    "zeros": lambda v, p: bytes(len(v)),
    "high": lambda v, p: b"\xff" * len(v),
    "reversed": lambda v, p: v[::-1],
    "twice over": lambda v, p: v * 2,
}

LITERAL_TEXT: dict[str, ValueEdit] = {
    "a literal": lambda v, p: p.literal("str"),
    "a literal put in": _joined,
    "number near a literal": _number_literal,
}
OTHER: dict[str, ValueEdit] = {"another": lambda v, p: p.other()}
EDITS: dict[str, dict[str, ValueEdit]] = {
    "int": INT_EDITS | OTHER,
    "bool": {"flipped": lambda v, p: not v},
    "float": FLOAT_EDITS,
    "str": {name: _as_text(edit) for name, edit in TEXT_EDITS.items()} | LITERAL_TEXT | OTHER,
    "bytes": BYTES_EDITS | OTHER,
    "list": ORDER_EDITS | LENGTH_EDITS | ALIAS_EDITS,
    "tuple": ORDER_EDITS | LENGTH_EDITS | ALIAS_EDITS,
    "dict": TABLE_EDITS,
    "set": TABLE_EDITS,
    "frozenset": TABLE_EDITS,
    "ndarray": ARRAY_EDITS,
}
TIE = "tied"
"""All that is at one column of the rows of a sequence made equal."""


class _WrittenInputs(dict[int, bytes]):
    """The bytes of inputs, each written when it is first asked for."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.values_written = values

    def __missing__(self, number: int) -> bytes:
        self[number] = write(self.values_written[number])
        return self[number]


RECEIVER: Path = (("key", write("init")),)
"""Where a recorded method's input has its receiver."""


class EdgeMaker:
    """Makes edges of inputs that were drawn for one task."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._literals: dict[str, list[Any]] = {}
        for literal in domain.text.literals:
            self._literals.setdefault(kind_of(literal), []).append(literal)
        self._choices = [
            (path, [item for item in shape.examples if kind_of(item) == kind], kind, name)
            for path, shape in domain.shape.places()
            if ITEM in path or VALUE in path or not shape.constant  # a parameter that never varies is a setting
            if not (
                path[:1] == RECEIVER and path[1:] and path[1][0] == "field"
            )  # its class alone knows what it may hold
            for kind in sorted(shape.kinds & EDITS.keys())
            for name in self._names(path, shape, kind)
        ]

    def _names(self, path: Path, shape: Shape, kind: str) -> list[str]:
        names = list(EDITS[kind])
        if kind in ("list", "tuple", "dict") and shape.fixed:
            same = shape.item is not None and len(shape.item.kinds) == 1 and len(path) > 0
            names = [*(ORDER_EDITS if same and kind == "list" else ()), *(ALIAS_EDITS if kind != "dict" else ())]
        if ITEM in path or VALUE in path:
            names.append(TIE)
        return names

    def stream(self, bases: Sequence[Any], seed: int, barred: Container[Key | None]) -> Iterator[Edge]:
        """Yields edges that lie within the domain, each kind at each place first once, then again on other inputs.

        Args:
            bases: inputs as plain data.
            seed: nobody who lacks it can foresee an edge.
            barred: kinds of edit, each at a place, that are not made any more; may grow meanwhile.
        """
        rng = random.Random(seed)
        written = _WrittenInputs(bases)
        for _ in range(PASSES if bases else 0):
            for choice in rng.sample(self._choices, len(self._choices)):
                own = random.Random(rng.getrandbits(64))
                if (choice[3], choice[0]) not in barred and (edge := self._edge(bases, written, choice, own)):
                    yield edge

    def _edge(
        self,
        bases: Sequence[Any],
        written: _WrittenInputs,
        choice: tuple[Path, list[Any], str, str],
        rng: random.Random,
    ) -> Edge | None:
        path, examples, kind, name = choice
        base = rng.randrange(len(bases))
        nested = ITEM in path or VALUE in path
        context = _EditContext(rng, examples, self._literals, nested, self._domain.text.orders)
        every = nested and (name == TIE or rng.random() < 0.2)
        edit = EDITS[kind].get(name)

        def change(value: Any) -> Any:
            if edit is None or kind_of(value) != kind:
                raise UnsuitedError
            return edit(value, context)

        try:
            if name == TIE:
                example = _at(bases[base], path, rng)
                value = edited(bases[base], path, lambda _: _copy(example), rng, every=True)
            else:
                value = edited(bases[base], path, change, rng, every)
            payload = write(value)
            if payload == written[base] or not self._domain.admits(value):
                return None
        except (UnsuitedError, CodecError, RecursionError, OverflowError):
            return None
        return Edge(payload, f"{name} at {text_of(path) or 'arguments'}", base, (name, path), kind in ("str", "bytes"))


def _at(value: Any, path: Path, rng: random.Random) -> Any:
    kept: list[Any] = []
    edited(value, path, kept.append, rng)
    return kept[0]


def stdin_edges(bases: Sequence[bytes], seed: int) -> Iterator[Edge]:
    """Yields edits of what a program reads.

    Args:
        bases: drawn inputs.
        seed: nobody who lacks it can foresee an edge.
    """
    rng = random.Random(seed)
    for _ in range(PASSES if bases else 0):
        for name in rng.sample(sorted(STDIN_EDITS), len(STDIN_EDITS)):
            base = rng.randrange(len(bases))
            try:
                text = bases[base].decode()
                payload = STDIN_EDITS[name](text, rng).encode()
            except (UnsuitedError, UnicodeError):
                continue
            if payload != bases[base]:
                yield Edge(payload, name, base, (name, ()), True)
