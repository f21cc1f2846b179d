"""What recorded cases of a program have in common: where counts, lists, columns and grids are, and what always holds.

What all cases have in common is taken for a precondition of the program, as `whet.evaluators.inputs.domain` does it
with arguments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations, pairwise
from typing import Any

TOKEN = re.compile(r"([^\s,;]+)")
INTEGER = re.compile(r"[+-]?[0-9]+")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
WORD = re.compile(r"[\w-]+")
HEAD = 4
"""Lines that may each have a meaning of their own; those below share one."""
MOST_COLUMNS = 6
"""Columns of a table, the first ones, in which common facts are looked for, each alone and every two together. The
pairs grow with the square; what holds only in later columns may be broken when values change places."""
MOST_CHARACTERS = 8
"""Different characters that a grid of nothing but letters and digits may have."""

Rows = list[list[str]]
Fact = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """How the lines of all cases are laid out.

    Attributes:
        shared: whether lines of as many tokens are rows of one table.
        apart: lines at the top that are no rows of that table, by their number.
        lists: lines that hold as many values as there happen to be: their number, or HEAD for those of the table.
        multiple: whether the first line says how many groups of lines follow.
        grid: whether the table is one of characters.
        common: what holds in all cases.
    """

    shared: bool
    apart: frozenset[int]
    lists: frozenset[int]
    multiple: bool
    grid: bool = False
    common: frozenset[Fact] = frozenset()

    def role(self, line: int) -> int:
        """Returns the number of a line that has a meaning of its own, and HEAD for a row of the table."""
        return line if not self.shared or line in self.apart else HEAD

    def table(self, rows: Rows) -> list[int]:
        """Returns the lines of a case that are rows of the table and tell no counts."""
        return [i for i, row in enumerate(rows) if row and self.role(i) == HEAD and not (i == 0 and self.heads(rows))]

    def heads(self, rows: Rows) -> bool:
        """Whether the first line tells what follows."""
        return len(rows) > 1 and (self.multiple or any(counts(rows, 0, j) for j in range(len(rows[0]))))

    def facts(self, rows: Rows) -> frozenset[Fact]:
        """Returns what holds in a case."""
        return frozenset(_facts(self, rows))


def parts_of(text: str) -> Rows:
    """Returns the lines of a text, each as what lies between tokens and the tokens by turns."""
    return [TOKEN.split(line) for line in text.split("\n")]


def tokens_of(parts: Rows) -> Rows:
    """Returns the tokens of lines, without the empty lines at the end."""
    rows = [line[1::2] for line in parts]
    while rows and not rows[-1]:
        rows.pop()
    return rows


def layout_of(cases: Sequence[Rows]) -> Layout | None:
    """Returns how cases are laid out; None where they are none, or rows of commands."""
    cases = [rows for rows in cases if rows]
    if not cases:
        return None
    shared = len({len(rows) for rows in cases}) > 1
    apart = frozenset(i for i in range(HEAD) if any(len(rows) > i and len(rows[i]) != len(rows[-1]) for rows in cases))
    layout = Layout(shared, apart, frozenset(), _multiple(cases))
    widths: dict[int, set[int]] = {}
    for rows in cases:
        for i, row in enumerate(rows):
            if row and not (i == 0 and layout.heads(rows)):
                widths.setdefault(layout.role(i), set()).add(len(row))
    if any(_commands([rows[i] for i in layout.table(rows)]) for rows in cases):
        return None
    lists = frozenset(role for role, found in widths.items() if len(found) > 1)
    layout = Layout(shared, apart, lists, layout.multiple, _grids(layout, cases))
    common = frozenset.intersection(*(layout.facts(rows) for rows in cases))
    return Layout(shared, apart, lists, layout.multiple, layout.grid, common)


def kind_of(token: str) -> str:
    """Returns ``number`` or ``word``; empty for what is neither, which nobody here understands."""
    return "number" if NUMBER.fullmatch(token) else "word" if WORD.fullmatch(token) else ""


def counts(rows: Rows, i: int, j: int) -> bool:
    """Whether a token may be a count of what follows it: lines, or tokens or characters of the next line."""
    row = rows[i]
    if not INTEGER.fullmatch(row[j]) or len(row[j]) > 9:
        return False
    left = len(rows) - i - 1
    follow = rows[i + 1] if left else []
    known = {len(row) - j - 1, len(row) - 1 if not left else -1}
    if left:
        known |= {left - 1, left, left + 1, len(follow), len(follow) + 1}
    if i == 0:
        known.add(sum(map(len, rows[1:])))
    if len(follow) == 1:
        known.add(len(follow[0]))
    return int(row[j]) in known


def _multiple(cases: Sequence[Rows]) -> bool:
    several = [rows for rows in cases if len(rows) > 1]
    if not several or not all(len(rows[0]) == 1 and INTEGER.fullmatch(rows[0][0]) for rows in several):
        return False
    told = [(int(rows[0][0][:9]), len(rows) - 1) for rows in several]
    return all(count > 0 and left % count == 0 for count, left in told) and len({b // a for a, b in told}) == 1


def _commands(rows: Rows) -> bool:
    """Whether the first token of a line says what comes after it, as that of a command does."""
    widths: dict[str, set[int]] = {}
    for row in rows:
        widths.setdefault(row[0], set()).add(len(row))
    several = len({len(row) for row in rows}) > 1
    return several and 2 * len(widths) <= len(rows) and all(len(found) == 1 for found in widths.values())


def _grids(layout: Layout, cases: Sequence[Rows]) -> bool:
    tables = [[rows[i] for i in layout.table(rows)] for rows in cases]
    grids = [[row[0] for row in table] for table in tables if len(table) > 1]
    if not grids or any(len(row) != 1 for table in tables for row in table):
        return False
    if any(len({len(row) for row in grid}) != 1 or len(grid[0]) < 2 for grid in grids):
        return False
    characters = {character for grid in grids for row in grid for character in row}
    if all(map(str.isalnum, characters)) and len(characters) > MOST_CHARACTERS:
        return False
    numbers = all(map(str.isdigit, characters)) and not any(row[0] == "0" for grid in grids for row in grid)
    return not numbers


def _facts(layout: Layout, rows: Rows) -> Iterator[Fact]:
    if len(rows) > 1:
        yield "first line", tuple(rows[0])
        yield "last line", tuple(rows[-1])
    table = [rows[i] for i in layout.table(rows)]
    sequences: dict[Fact, list[list[str]]] = {}
    for i, row in enumerate(rows):
        if row and layout.role(i) in layout.lists:
            sequences.setdefault(("line", layout.role(i)), []).append(row)
    width = len(table[0]) if table else 0
    if table and all(len(row) == width for row in table):
        columns = [list(column) for column in zip(*table, strict=True)]
        sequences |= {("column", c): [column] for c, column in enumerate(columns[:MOST_COLUMNS])}
        yield from _table_facts([_values(column) for column in columns])
    for name, found in sequences.items():
        values = [_values(row) for row in found]
        for what, holds in SEQUENCES.items():
            if all(map(holds, values)):
                yield what, name
        for end in (0, -1):
            if len({row[end] for row in found}) == 1:
                yield "end", name, end, found[0][end]
    if layout.grid and table:
        lines = [row[0] for row in table]
        for side, border in enumerate((lines[0], lines[-1], [line[0] for line in lines], [line[-1] for line in lines])):
            if len(set(border)) == 1:
                yield "border", side, border[0]


def _values(tokens: Sequence[str]) -> list[Any]:
    """Returns numbers where all are, else the tokens."""
    if all(map(INTEGER.fullmatch, tokens)) and all(len(token) < 4000 for token in tokens):
        return list(map(int, tokens))
    return list(map(float, tokens)) if all(map(NUMBER.fullmatch, tokens)) else list(tokens)


def _numeric(values: Sequence[Any]) -> bool:
    return all(type(value) is not str for value in values)


SEQUENCES: dict[str, Callable[[list[Any]], bool]] = {
    "ascending": lambda v: all(a <= b for a, b in pairwise(v)),
    "descending": lambda v: all(a >= b for a, b in pairwise(v)),
    "distinct": lambda v: len(set(v)) == len(v),
    "neighbours differ": lambda v: all(a != b for a, b in pairwise(v)),
    "palindrome": lambda v: v == v[::-1],
    "never overdrawn": lambda v: _numeric(v) and all(total >= 0 for total in accumulate(v)),
    "below its place": lambda v: _numeric(v) and all(value <= i for i, value in enumerate(v)),
    "at most its place": lambda v: _numeric(v) and all(value <= i for i, value in enumerate(v, 1)),
    "at least its place": lambda v: _numeric(v) and all(value >= i for i, value in enumerate(v)),
}
"""What may hold for a list, or for a column from top to bottom."""


def _table_facts(columns: list[list[Any]]) -> Iterator[Fact]:
    rows = list(zip(*columns, strict=True))
    if len(set(rows)) == len(rows):
        yield ("rows differ",)
    if len({tuple(sorted(map(str, row))) for row in rows}) == len(rows):
        yield ("rows differ in any order",)
    if all(a <= b for a, b in pairwise(rows)):
        yield ("rows ascend",)
    if len(rows) == len(columns):
        if rows == list(map(tuple, columns)):
            yield ("symmetric",)
        if len({row[i] for i, row in enumerate(rows)}) == 1:
            yield "diagonal", rows[0][0]
    near = columns[:MOST_COLUMNS]
    for (i, a), (j, b) in combinations(enumerate(near), 2):
        if _numeric(a) != _numeric(b):
            continue
        pairs = list(zip(a, b, strict=True))
        for name, holds in (("<=", _at_most), (">=", _at_least), ("!=", _unequal)):
            if all(holds(x, y) for x, y in pairs):
                yield "columns", i, j, name
        if j == i + 1:
            yield from (("graph", i, what) for what in _graph(pairs))


def _at_most(a: Any, b: Any) -> bool:
    return bool(a <= b)


def _at_least(a: Any, b: Any) -> bool:
    return bool(a >= b)


def _unequal(a: Any, b: Any) -> bool:
    return bool(a != b)


def _graph(pairs: Sequence[tuple[Any, Any]]) -> Iterator[str]:
    """Yields what holds for pairs as edges: one component, a forest, no directed cycle, nothing pointed at twice."""
    parent: dict[Any, Any] = {end: end for pair in pairs for end in pair}

    def root(end: Any) -> Any:
        while parent[end] != end:
            parent[end] = end = parent[parent[end]]
        return end

    joined = 0
    for a, b in pairs:
        if (x := root(a)) != (y := root(b)):
            parent[x] = y
            joined += 1
    if joined >= len(parent) - 1:
        yield "connected"
    if joined == len(pairs):
        yield "forest"
    pointed = dict.fromkeys(parent, 0)
    onward: dict[Any, list[Any]] = {end: [] for end in parent}
    for a, b in pairs:
        pointed[b] += 1
        onward[a].append(b)
    free = [end for end, count in pointed.items() if not count]
    seen = 0
    while free:
        seen += 1
        for end in onward[free.pop()]:
            pointed[end] -= 1
            if not pointed[end]:
                free.append(end)
    if seen == len(parent):
        yield "no cycle"
