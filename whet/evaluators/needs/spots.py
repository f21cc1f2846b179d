"""Places of a function's inputs, by parameter."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from whet.core.task import Task
from whet.evaluators.inputs.plain_data import write
from whet.evaluators.inputs.shapes import ITEM, SCALARS, VALUE, Path, Shape, UnsuitedError, leads, parts, text_of
from whet.evaluators.inputs.shapes import with_parts as rebuilt
from whet.evaluators.screen import find_function, parse
from whet.sandbox.inside.decode import Node, decode

ARGS, KWARGS = ("key", write("args")), ("key", write("kwargs"))
"""Where an input that is more than positional arguments has them."""

Substitution = Callable[[Any, int], Any]
"""Gives the new value for one of the values at a place, of which it gets the number; raises `UnsuitedError`."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A place of the inputs.

    Attributes:
        parameter: whose argument it is, or is in.
        path: from the input.
        inner: from the argument; empty for the argument itself.
        shape: what was seen there.
    """

    parameter: str
    path: Path
    inner: Path
    shape: Shape

    @property
    def scalar(self) -> bool:
        """Whether values that hold no others were seen there."""
        return bool(self.shape.kinds) and self.shape.kinds <= set(SCALARS)

    @property
    def nested(self) -> bool:
        """Whether containers are in the containers there."""
        inside = self.shape.item.kinds if self.shape.item is not None else set()
        return bool(inside & {"list", "dict"})

    def sees(self, *kinds: str) -> bool:
        """Whether any of some kinds was seen there."""
        return not self.shape.kinds.isdisjoint(kinds)

    def __str__(self) -> str:
        if not self.inner:
            return self.parameter
        if self.inner in ((ITEM,), (VALUE,)):
            return f"each {'item' if self.inner[0] == ITEM else 'value'} of {self.parameter}"
        return f"each value at {self.parameter}{text_of(self.inner)}"


def spots_of(values: Sequence[Any], names: Sequence[str]) -> list[Spot]:
    """Returns the places of some inputs.

    Args:
        values: the inputs as plain data.
        names: of the positional parameters, in their order.
    """
    shape = Shape()
    for value in values:
        shape.observe(value)
    found = (_spot(path, there, names) for path, there in shape.places())
    return [spot for spot in found if spot is not None]


def _spot(path: Path, shape: Shape, names: Sequence[str]) -> Spot | None:
    rest = path[1:] if path[:1] == (ARGS,) else path
    if path[:1] == (KWARGS,) and len(path) > 1 and path[1][0] == "key":
        return Spot(_key(path[1][1]), path, path[2:], shape)
    if not rest or rest[0][0] != "at":
        return None
    number = rest[0][1]
    return Spot(names[number] if number < len(names) else f"argument {number + 1}", path, rest[1:], shape)


def _key(name: bytes) -> str:
    return str(decode(name))


def parameters_of(task: Task) -> tuple[list[str], dict[str, ast.expr]]:
    """Returns the names of a target's positional parameters, without the receiver, and the hints that it has."""
    module = parse(task.source)
    function = find_function(module, task.symbol) if isinstance(module, ast.Module) and task.symbol else None
    if function is None:
        return [], {}
    spec = function.args
    static = any(getattr(mark, "id", "") == "staticmethod" for mark in function.decorator_list)
    receiver = "." in (task.symbol or "") and not static
    positional = [*spec.posonlyargs, *spec.args][1 if receiver else 0 :]
    hinted = {one.arg: one.annotation for one in (*positional, *spec.kwonlyargs) if one.annotation is not None}
    return [one.arg for one in positional], hinted


def values_of(value: Any, names: Sequence[str]) -> dict[str, Any]:
    """Returns the arguments of an input by parameter."""
    given = {name: part for (_, name), part in parts(value)} if isinstance(value, Node) else {ARGS[1]: value}
    named = {_key(name): part for (_, name), part in parts(given.get(KWARGS[1]))}
    positional = given.get(ARGS[1], ())
    return {**dict(zip(names, positional, strict=False)), **named}


def changed(value: Any, path: Path, change: Substitution) -> Any:
    """Returns an input in which all values at a place are changed; nothing of the input itself is touched.

    Raises:
        UnsuitedError: nothing is there, or the change suits none of it.
    """
    number = suited = 0

    def walk(value: Any, path: Path) -> Any:
        nonlocal number, suited
        if not path:
            number += 1
            try:
                new = change(value, number - 1)
            except UnsuitedError:
                return value
            suited += 1
            return new
        below = [(step, child) for step, child in parts(value)]
        if not any(leads(path[0], step) for step, _ in below):
            return value
        return rebuilt(value, [walk(child, path[1:]) if leads(path[0], step) else child for step, child in below])

    new = walk(value, path)
    if not suited:
        raise UnsuitedError
    return new


def changed_at(value: Any, spots: Iterable[Spot], change: Substitution) -> Any:
    """Returns an input with the values of several places changed, wherever the change suits them."""
    for spot in spots:
        try:
            value = changed(value, spot.path, change)
        except UnsuitedError:
            continue
    return value
