"""The functions that a Python file defines, found by the line at which the interpreter says that they begin."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from whet.evaluators.finding import Fault
from whet.evaluators.screen import parse

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Definition:
    """A function at the top of a module, or a method of a class there.

    Attributes:
        symbol: ``function`` or ``Class.method``.
        line: the first line, decorators included, as code objects have it.
        end: the last line.
        node: its tree.
    """

    symbol: str
    line: int
    end: int
    node: Function


@dataclass(frozen=True, slots=True)
class Definitions:
    """The functions of one file.

    Attributes:
        all: in the file's order.
    """

    all: tuple[Definition, ...]

    @classmethod
    def of(cls, text: str) -> Definitions:
        """Reads a file's text; one that does not parse defines nothing."""
        module = parse(text)
        return cls(() if isinstance(module, Fault) else tuple(_defined(module.body, "")))

    def around(self, line: int) -> Definition | None:
        """Returns the function that a line lies in."""
        return next((each for each in self.all if each.line <= line <= each.end), None)


def _defined(body: list[ast.stmt], owner: str) -> Iterator[Definition]:
    for node in body:
        if isinstance(node, Function):
            line = min([node.lineno, *(mark.lineno for mark in node.decorator_list)])
            yield Definition(f"{owner}{node.name}", line, node.end_lineno or node.lineno, node)
        elif isinstance(node, ast.ClassDef) and not owner:
            yield from _defined(node.body, f"{node.name}.")
