"""What inputs look like: their places, and what was seen at each of them.

A place is a path into plain data. Items of a sequence whose length varies share one place; those of one whose
length never does (a record, a point) have a place each.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from whet.sandbox.inside.decode import Node

PathStep = tuple[str, Any]
Path = tuple[PathStep, ...]

ITEM: PathStep = ("item", None)
VALUE: PathStep = ("value", None)
EXAMPLES = 64
"""Values of one place that are kept."""
ITEMS_SEEN = 48
"""Items of one sequence that are looked at."""
WIDEST_RECORD = 16
"""Items of a sequence or mapping up to which each is a place of its own where their number never varies. A larger limit
treats longer lists as records, whose length no edit changes; a smaller one treats wide records as lists."""
EXAMPLES_OF_A_RECORD = 4
"""Values at a place from which a list or dict of one length counts as a record, and what is always equal as constant.
Fewer take what is alike by chance for a rule, and do not edit it; more edit lengths and settings that never vary."""
CONTAINERS = ("dict", "set", "frozenset", "ndarray", "tensor")
SCALARS = ("bool", "int", "float", "complex", "str", "bytes", "none")
NAMES: dict[type, str] = {
    bool: "bool", int: "int", float: "float", complex: "complex", str: "str", bytes: "bytes", type(None): "none",
    list: "list", tuple: "tuple",
}  # fmt: skip


class UnsuitedError(Exception):
    """An edit does not apply to a value, or the value has nothing at a path."""


def kind_of(value: Any) -> str:
    """Returns what a piece of plain data is, in a word; a name of a class where it is an object of one."""
    cls = type(value)
    if cls is Node:
        return value.kind if value.kind in CONTAINERS else f"{value.kind} {value.name}"
    return NAMES.get(cls, "opaque")


@dataclass(slots=True)
class Shape:
    """What was seen at one place.

    Attributes:
        kinds: of the values there.
        lengths: of the sequences, texts and mappings there.
        examples: some scalars that were there.
        item: the shape of what is in it, all taken together.
        parts: the shape of each item, entry or field by itself.
        count: how many values were seen.
    """

    kinds: set[str] = field(default_factory=set)
    lengths: set[int] = field(default_factory=set)
    examples: list[Any] = field(default_factory=list)
    item: Shape | None = None
    parts: dict[PathStep, Shape] = field(default_factory=dict)
    count: int = 0

    @property
    def fixed(self) -> bool:
        """Whether it always has the same parts; of a list or a dict, one example shows nothing."""
        enough = self.count >= (EXAMPLES_OF_A_RECORD if self.kinds & {"list", "dict"} else 1)
        complete = bool(self.parts) and all(part.count == self.count for part in self.parts.values())
        return len(self.lengths) == 1 and complete and enough

    @property
    def constant(self) -> bool:
        """Whether it has always been the very same."""
        if self.fixed:
            return all(part.constant for part in self.parts.values())
        alike = {(kind_of(example), repr(example)) for example in self.examples}
        return len(alike) == 1 and len(self.kinds) == 1 and self.count >= EXAMPLES_OF_A_RECORD

    def observe(self, value: Any) -> None:
        """Takes a value into account."""
        kind = kind_of(value)
        self.kinds.add(kind)
        self.count += 1
        if kind in SCALARS:
            if isinstance(value, (str, bytes)):
                self.lengths.add(len(value))
            if len(self.examples) < EXAMPLES:
                self.examples.append(value)
            return
        length = len(value) if isinstance(value, (list, tuple)) else sum(1 for _ in parts(value))
        self.lengths.add(length)
        for step, child in islice(parts(value), ITEMS_SEEN):
            if self.item is None:
                self.item = Shape()
            if length <= WIDEST_RECORD:
                self.parts.setdefault(step, Shape()).observe(child)
            if kind in ("list", "tuple", "dict"):
                self.item.observe(child)

    def places(self, path: Path = ()) -> Iterator[tuple[Path, Shape]]:
        """Yields all places, this one first."""
        yield path, self
        if self.fixed:
            for step, part in self.parts.items():
                yield from part.places((*path, step))
        elif self.item is not None:
            yield from self.item.places((*path, VALUE if "dict" in self.kinds else ITEM))


def parts(value: Any) -> Iterator[tuple[PathStep, Any]]:
    """Yields what a value holds, each with the step that leads to it."""
    if isinstance(value, (list, tuple)):
        yield from ((("at", i), item) for i, item in enumerate(value))
    elif isinstance(value, Node) and value.kind == "dict":
        yield from ((("key", name), item) for name, _, item in value.state)
    elif isinstance(value, Node) and value.kind == "object":
        yield from ((("field", name), item) for name, item in value.state)


def found(value: Any, path: Path) -> list[Any]:
    """Returns all that a value has at a path, in its order."""
    there = [value]
    for wanted in path:
        kind, key = wanted
        if wanted == ITEM:
            there = [item for one in there if isinstance(one, (list, tuple)) for item in one]
        elif kind == "at":
            there = [one[key] for one in there if isinstance(one, (list, tuple)) and key < len(one)]
        else:
            there = [child for one in there for step, child in parts(one) if leads(wanted, step)]
    return there


def edited(value: Any, path: Path, change: Callable[[Any], Any], rng: random.Random, every: bool = False) -> Any:
    """Returns a value changed at a path; nothing of the value itself is touched.

    Args:
        value: plain data.
        path: the place.
        change: gives the new value there.
        rng: chooses which item.
        every: all items of the innermost sequence are changed instead of one.

    Raises:
        UnsuitedError: there is nothing at that path.
    """
    if not path:
        return change(value)
    rest = path[1:]
    matching: Sequence[int]
    if path[0] == ITEM and isinstance(value, (list, tuple)):
        children, matching = list(value), range(len(value))
    else:
        steps = list(parts(value))
        children = [child for _, child in steps]
        matching = [i for i, (step, _) in enumerate(steps) if leads(path[0], step)]
    if not matching:
        raise UnsuitedError
    if len(matching) > 1 and not (every and ITEM not in rest and VALUE not in rest):
        matching = [rng.choice(matching)]
    for i in matching:
        children[i] = edited(children[i], rest, change, rng, every)
    return with_parts(value, children)


def leads(wanted: PathStep, step: PathStep) -> bool:
    """Whether a step of a path, which may stand for all items or entries, is or includes a step to one of them."""
    return wanted == step or (wanted == ITEM and step[0] == "at") or (wanted == VALUE and step[0] == "key")


def with_parts(value: Any, children: list[Any]) -> Any:
    """Returns a value of the same kind that holds other parts, one for each of its own."""
    if isinstance(value, (list, tuple)):
        return type(value)(children)
    if value.kind == "dict":
        state: Any = [(name, key, child) for (name, key, _), child in zip(value.state, children, strict=True)]
    else:
        state = tuple((name, child) for (name, _), child in zip(value.state, children, strict=True))
    return Node(value.kind, value.name, state, value.numbered)


def text_of(path: Path) -> str:
    """Returns a path as a person would write it."""
    words = {"item": "[*]", "value": "[*]", "at": "[{}]", "field": ".{}", "key": "[…]"}
    return "".join(words[kind].format(key) for kind, key in path)
