"""A Python file as a tree: what stands where, what repeats, and how parts are replaced."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TypeAlias

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from whet.agents.models.base import Brief
from whet.core.trees import parse_python

Scope: TypeAlias = cst.FunctionDef | cst.Module

_COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)
_LONGEST_CONDITION = 1000  # the parser of libcst recurses over "a and b and ...", and kills the process when deep
_CALLS_AT_ONCE = frozenset({"sorted", "sort", "min", "max", "map", "filter"})


class PythonSource:
    """A parsed file, with the functions that an edit may change.

    Attributes:
        module: the tree.
        scopes: the functions in reach of the target, or for a program the top level and all functions.
    """

    def __init__(self, module: cst.Module, lines: dict[cst.CSTNode, int], symbol: str | None) -> None:
        self.module = module
        self._lines = lines
        self._children: dict[cst.CSTNode, list[cst.CSTNode]] = {}
        self._parents: dict[cst.CSTNode, cst.CSTNode] = {}
        pending: list[cst.CSTNode] = [module]
        while pending:
            node = pending.pop()
            children = list(node.children)
            self._children[node] = children
            self._parents.update((child, node) for child in children)
            pending.extend(children)
        self._names: dict[tuple[cst.CSTNode, bool], dict[str, list[cst.Name]]] = {}
        self.scopes = self._all_scopes() if symbol is None else self._reach(symbol)

    def line(self, node: cst.CSTNode) -> int:
        """Returns the line that a node begins on, counted from 1."""
        return self._lines[node]

    def code(self, node: cst.CSTNode) -> str:
        """Returns the text of a node."""
        return self.module.code_for_node(node)

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """Returns the node around a node; None for the module."""
        return self._parents.get(node)

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Yields the nodes around a node, innermost first."""
        above = self._parents.get(node)
        while above is not None:
            yield above
            above = self._parents.get(above)

    def walk(self, node: cst.CSTNode, *, nested: bool = True) -> Iterator[cst.CSTNode]:
        """Yields a node and all below it, in the order of the text.

        Without ``nested``, inner functions and classes are yielded, and not entered.
        """
        pending = [node]
        while pending:
            here = pending.pop()
            yield here
            if nested or here is node or not isinstance(here, cst.FunctionDef | cst.ClassDef):
                pending.extend(reversed(self._children[here]))

    def names(self, node: cst.CSTNode, *, nested: bool = True) -> Mapping[str, list[cst.Name]]:
        """Returns all words below a node, by their text; see `walk` for ``nested``."""
        known = self._names.get((node, nested))
        if known is None:
            known = self._names[node, nested] = {}
            for each in self.walk(node, nested=nested):
                if isinstance(each, cst.Name):
                    known.setdefault(each.value, []).append(each)
        return known

    def fresh(self, wish: str) -> str:
        """Returns a name like ``wish`` that the file does not use."""
        name = wish
        count = 2
        while name in self.names(self.module):
            name = f"{wish}_{count}"
            count += 1
        return name

    def scope_of(self, node: cst.CSTNode) -> Scope:
        """Returns the innermost function around a node, or the module."""
        for above in self.ancestors(node):
            if isinstance(above, cst.FunctionDef):
                return above
        return self.module

    def statement_of(self, node: cst.CSTNode) -> cst.CSTNode:
        """Returns the innermost statement around (or at) a node that has a block of lines to itself."""
        here = node
        for above in self.ancestors(node):
            if isinstance(above, cst.IndentedBlock | cst.Module):
                return here
            here = above
        return here

    def has_line(self, node: cst.CSTNode) -> bool:
        """Whether the statement around a node stands alone on its line."""
        statement = self.statement_of(node)
        return isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1

    def block(self, statement: cst.CSTNode) -> list[cst.CSTNode]:
        """Returns the statements of the block that a statement stands in; empty for a one-line suite."""
        above = self._parents.get(statement)
        return list(above.body) if isinstance(above, cst.IndentedBlock | cst.Module) else []

    def repetitions(self, node: cst.CSTNode) -> list[cst.CSTNode]:
        """Returns the loops, comprehensions and key functions that repeat a node, innermost first."""
        found: list[cst.CSTNode] = []
        here = node
        for above in self.ancestors(node):
            if isinstance(above, cst.FunctionDef | cst.ClassDef):
                break
            if isinstance(above, cst.For | cst.While):
                repeated = here is above.body or (isinstance(above, cst.While) and here is above.test)
            elif isinstance(above, _COMPREHENSIONS):
                repeated = here is not above.for_in or not self._in_first_iterable(node, above.for_in)
            elif isinstance(above, cst.Lambda):
                if not self._is_called_at_once(above):
                    break
                repeated = here is above.body
            else:
                repeated = False
            if repeated:
                found.append(above)
            here = above
        return found

    def is_tried(self, node: cst.CSTNode) -> bool:
        """Whether a ``try`` stands around a node, within its function."""
        for above in self.ancestors(node):
            if isinstance(above, cst.FunctionDef):
                return False
            if isinstance(above, cst.Try):
                return True
        return False

    def _in_first_iterable(self, node: cst.CSTNode, clause: cst.CompFor) -> bool:
        return clause.iter is node or clause.iter in self.ancestors(node)

    def _is_called_at_once(self, function: cst.Lambda) -> bool:
        argument = self._parents.get(function)
        call = self._parents.get(argument) if isinstance(argument, cst.Arg) else None
        return isinstance(call, cst.Call) and last_name(call.func) in _CALLS_AT_ONCE

    def _all_scopes(self) -> tuple[Scope, ...]:
        return (self.module, *(n for n in self.walk(self.module) if isinstance(n, cst.FunctionDef)))

    def _reach(self, symbol: str) -> tuple[Scope, ...]:
        target = self._find(symbol)
        if target is None:
            return ()
        by_name: dict[str, list[cst.CSTNode]] = {}
        for node in self.walk(self.module):
            if isinstance(node, cst.FunctionDef | cst.ClassDef):
                by_name.setdefault(node.name.value, []).append(node)
        reached: dict[cst.CSTNode, None] = {}
        pending: list[cst.CSTNode] = [target]
        while pending:
            definition = pending.pop(0)
            if definition in reached:
                continue
            reached[definition] = None
            for node in self.walk(definition):
                if isinstance(node, cst.FunctionDef | cst.ClassDef):
                    pending.append(node)
                elif isinstance(node, cst.Name):
                    pending.extend(by_name.get(node.value, ()))
        return tuple(node for node in reached if isinstance(node, cst.FunctionDef))

    def _find(self, symbol: str) -> cst.FunctionDef | None:
        block: list[cst.CSTNode] = list(self.module.body)
        *classes, name = symbol.split(".")
        for outer in classes:
            found = [n for n in block if isinstance(n, cst.ClassDef) and n.name.value == outer]
            if not found:
                return None
            block = list(found[-1].body.body)
        functions = [n for n in block if isinstance(n, cst.FunctionDef) and n.name.value == name]
        return functions[-1] if functions else None


def last_name(node: cst.CSTNode) -> str:
    """Returns ``f`` for the expressions ``f`` and ``a.b.f``, and an empty string for others."""
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return node.value if isinstance(node, cst.Name) else ""


def read(brief: Brief) -> PythonSource | None:
    """Returns the tree of a brief's source, or None where it does not parse."""
    return _read(brief.source, brief.symbol if brief.kind == "function" else None)


@lru_cache(maxsize=4)
def _read(text: str, symbol: str | None) -> PythonSource | None:
    try:
        tree = parse_python(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    if any(isinstance(node, ast.BoolOp) and len(node.values) > _LONGEST_CONDITION for node in ast.walk(tree)):
        return None
    try:
        wrapper = MetadataWrapper(cst.parse_module(text))
        positions = wrapper.resolve(PositionProvider)
    except (cst.ParserSyntaxError, RecursionError):
        return None
    lines = {node: where.start.line for node, where in positions.items()}
    return PythonSource(wrapper.module, lines, symbol)
