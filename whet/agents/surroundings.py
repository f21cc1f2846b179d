"""What each line of a source text stands in: loops, and functions that call themselves."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from whet.core.trees import parse_python
from whet.evaluators.syntax import native

if TYPE_CHECKING:
    from tree_sitter import Node

LOOPS = (ast.For, ast.AsyncFor, ast.While)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
TELLING = frozenset((*LOOPS, *COMPREHENSIONS, ast.FunctionDef, ast.AsyncFunctionDef, ast.Call))
HOLDING = frozenset(
    kind for group in ast.AST.__subclasses__() for kind in (group, *group.__subclasses__()) if kind._fields
) - {ast.Name, ast.Constant}
"""Kinds of nodes that may hold one of those."""

PYTHON = ("python", "triton")
NATIVE = {"cuda": "cpp"}
"""What a language is read as where it has no grammar of its own."""

Lines = tuple[int, int]
"""The first and the last line of something, counted from 1."""


@dataclass(slots=True)
class Surroundings:
    """The loops, functions and calls of a source text.

    A function that a loop calls counts as a loop itself: what is slow often stands in a helper.

    Attributes:
        loops: with their heads; a comprehension is one loop a ``for``.
        functions: names, without what they belong to, and lines.
        calls: names of what is called, and in which line.
    """

    loops: list[Lines] = field(default_factory=list)
    functions: list[tuple[str, Lines]] = field(default_factory=list)
    calls: set[tuple[str, int]] = field(default_factory=set)
    recursive: list[Lines] = field(init=False, default_factory=list)

    def depth(self, line: int) -> int:
        """Returns how many loops a line stands in."""
        # Asked for each sign of each line, so in one expression.
        return len([first for first, last in self.loops if first <= line <= last])

    def in_recursion(self, line: int) -> bool:
        """Whether a line stands in a function that calls itself."""
        return any(_holds(lines, line) for lines in self.recursive)

    def follow_calls(self) -> None:
        """Finds the functions that call themselves, and those that loops call, directly or through others."""
        by_name: dict[str, list[int]] = {}
        for name, line in self.calls:
            by_name.setdefault(name, []).append(line)
        waiting: list[tuple[Lines, list[int]]] = []
        for name, lines in self.functions:
            called = by_name.get(name, [])
            outside = [line for line in called if not _holds(lines, line)]
            if len(outside) < len(called):
                self.recursive.append(lines)
            waiting.append((lines, outside))
        while found := [each for each in waiting if any(map(self.depth, each[1]))]:
            self.loops.extend(lines for lines, _ in found)
            waiting = [each for each in waiting if each not in found]


# Patterns, and the words that are searched for, are found in the same versions.
@lru_cache(maxsize=16)
def surroundings(language: str, source: str) -> Surroundings:
    """Returns what the lines of a source text stand in; nothing is known of one that cannot be read."""
    found = _python(source) if language in PYTHON else _native(NATIVE.get(language, language), source)
    found.follow_calls()
    return found


def _holds(lines: Lines, line: int) -> bool:
    return lines[0] <= line <= lines[1]


def _python(source: str) -> Surroundings:
    found = Surroundings()
    try:
        tree = parse_python(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last: a text nested too deeply
        return found
    for node in _telling(tree):
        if isinstance(node, LOOPS):
            found.loops.append(_lines(node))
        elif isinstance(node, COMPREHENSIONS):
            found.loops.extend([_lines(node)] * len(node.generators))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.functions.append((node.name, _lines(node)))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found.calls.add((node.func.id, node.lineno))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            found.calls.add((node.func.attr, node.lineno))
    return found


def _telling(tree: ast.AST) -> Iterator[ast.AST]:
    """Yields the nodes that say something; `ast.walk` would take as long as the parser."""
    waiting = [tree]
    for node in waiting:  # which grows
        if type(node) in TELLING:
            yield node
        for name in node._fields:
            value: Any = getattr(node, name, None)
            if type(value) is list:
                waiting += [inner for inner in value if type(inner) in HOLDING]
            elif type(value) in HOLDING:
                waiting.append(value)


def _lines(node: ast.stmt | ast.expr) -> Lines:
    return node.lineno, node.end_lineno or node.lineno


def _native(language: str, source: str) -> Surroundings:
    found = Surroundings()
    if (parsed := native.Source.parse(language, source)) is None:
        return found
    for place in parsed.walk():
        node = place.node
        if node.type in native.LOOPS:
            found.loops.append(_rows(node))
        elif node.type == "function_definition":
            found.functions.append((_name(parsed, node, "declarator"), _rows(node)))
        elif node.type == "call_expression":
            found.calls.add((_name(parsed, node, "function"), _rows(node)[0]))
    return found


def _rows(node: Node) -> Lines:
    return node.start_point[0] + 1, node.end_point[0] + 1


def _name(parsed: native.Source, node: Node, way: str) -> str:
    """Returns the last word of what is declared or called, without what it belongs to."""
    inner: Node | None = node
    while inner is not None and (further := native.child(inner, way)) is not None:
        inner = further
    words = re.findall(r"\w+", parsed.text(inner))
    return words[-1] if words else ""
