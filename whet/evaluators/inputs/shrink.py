"""The smallest input that still shows a difference: greedy reduction of plain data and of texts."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from whet.evaluators.inputs.plain_data import ARRAYS, cells_of, with_cells
from whet.evaluators.inputs.shapes import Shape, parts, with_parts
from whet.sandbox.inside.decode import Node

MOST_TRIES = 200
"""Simpler values that are tried where the caller states no limit. More give a smaller input, and each takes a check."""
MOST_SINGLES = 24
"""Items of one sequence that are tried one at a time."""
TOKEN = re.compile(r"\S+")

T = TypeVar("T")


def shrink(
    value: T,
    reductions: Callable[[T], Iterator[T]],
    still: Callable[[T], bool],
    tries: int = MOST_TRIES,
) -> T:
    """Returns the smallest value found on which something still holds.

    Args:
        value: it holds on this one.
        reductions: yields simpler values than a given one, the boldest first.
        still: whether it holds.
        tries: the most calls of ``still``.
    """
    better = True
    while better:
        better = False
        for simpler in reductions(value):
            if tries <= 0:
                return value
            tries -= 1
            if still(simpler):
                value, better = simpler, True
                break
    return value


def smaller_values(value: Any, shape: Shape | None = None) -> Iterator[Any]:
    """Yields simpler plain data of the same types.

    Args:
        value: plain data.
        shape: what is known of its place; sequences whose length never varies keep theirs. Without one, tuples do.
    """
    if isinstance(value, bool):
        if value:
            yield False
    elif isinstance(value, int):
        yield from _smaller_ints(value)
    elif isinstance(value, float):
        yield from (x for x in (0.0, 1.0, float(int(value)) if math.isfinite(value) else 0.0) if _simpler(x, value))
    elif isinstance(value, (str, bytes)):
        yield from _shorter(value)
    elif isinstance(value, Node) and value.kind in ("set", "frozenset"):
        yield from (Node(value.kind, value.name, kept, value.numbered) for kept in _shorter(value.state))
    elif isinstance(value, Node) and value.kind in ARRAYS:
        yield from _zeroed(value)
    else:
        yield from _smaller_containers(value, shape)


def _smaller_containers(value: Any, shape: Shape | None) -> Iterator[Any]:
    children = list(parts(value))
    fixed = shape.fixed if shape is not None else isinstance(value, tuple)
    if not fixed and isinstance(value, (list, tuple)):
        yield from _shorter(value)
    elif not fixed and isinstance(value, Node) and value.kind == "dict":
        yield from (Node(value.kind, value.name, kept, value.numbered) for kept in _shorter(value.state))
    items = [child for _, child in children]
    for i, (step, child) in enumerate(children[:MOST_SINGLES]):
        for simpler in smaller_values(child, _part(shape, step)):
            yield with_parts(value, [*items[:i], simpler, *items[i + 1 :]])


def _part(shape: Shape | None, step: tuple[str, Any]) -> Shape | None:
    if shape is None:
        return None
    return shape.parts.get(step) if shape.fixed else shape.item


def _shorter(items: Any) -> Iterator[Any]:
    """Yields a sequence without some of its items: all, halves, quarters and so on, then one by one."""
    length = len(items)
    if not length:
        return
    yield items[:0]
    size = length // 2
    while size > 1:
        for start in range(0, length, size):
            yield items[:start] + items[start + size :]
        size //= 2
    for i in range(min(length, MOST_SINGLES)):
        if length > 1:
            yield items[:i] + items[i + 1 :]


def _smaller_ints(value: int) -> Iterator[int]:
    sign = 1 if value > 0 else -1
    for simpler in dict.fromkeys((0, 1, abs(value), abs(value) // 2 * sign, value - sign)):
        if (abs(simpler), simpler < 0) < (abs(value), value < 0):
            yield simpler


def _simpler(a: float, b: float) -> bool:
    return str(a) != str(b) and (not math.isfinite(b) or (abs(a), a != int(a)) < (abs(b), b != int(b)))


def _zeroed(node: Node) -> Iterator[Node]:
    cells = cells_of(node)
    size = 0 if cells is None else len(cells)
    while size:
        for start in range(0, len(cells), size):
            if cells[start : start + size].any():
                fewer = cells.copy()
                fewer[start : start + size] = 0
                yield with_cells(node, fewer)
        size //= 2


def smaller_texts(text: str) -> Iterator[str]:
    """Yields simpler texts: fewer lines, fewer words, smaller numbers."""
    lines = text.split("\n")
    for fewer in _shorter(lines):
        yield "\n".join(fewer)
    tokens = list(TOKEN.finditer(text))[:MOST_SINGLES]
    for token in tokens:
        before, after = text[: token.start()], text[token.end() :]
        if re.fullmatch(r"-?\d{1,18}", token[0]):
            yield from (f"{before}{number}{after}" for number in _smaller_ints(int(token[0])))
        elif len(token[0]) > 1:
            yield f"{before}{token[0][: len(token[0]) // 2]}{after}"
    for token in tokens:
        yield text[: token.start()] + text[token.end() :].removeprefix(" ")
