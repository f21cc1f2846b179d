"""Hints in Python source that speak of a mistake rather than of a trick."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from whet.evaluators.hints.base import HintMatch
from whet.evaluators.syntax.python import Module
from whet.evaluators.syntax.scopes import Scope

KNOWN = frozenset(dir(builtins))
BINDERS = frozenset({"exec", "globals", "locals", "vars"})
RECEIVERS = frozenset({"self", "cls"})
CHANGERS = frozenset(
    {"append", "clear", "extend", "insert", "pop", "popitem", "popleft", "remove", "reverse", "sort", "update"}
)


def faults(module: Module) -> Iterator[HintMatch]:
    """Yields what most likely goes wrong when the code is run."""
    yield from _unknown(module)
    stored = {
        (id(scope), node.id)
        for node, scope in module.nodes
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }
    for node, scope in module.nodes:
        name = _changed(node)
        # What was bound anew may be a copy.
        if name is not None and _is_argument(name, scope) and (id(scope), name) not in stored:
            yield HintMatch("argument_change", name, getattr(node, "lineno", 1), module.line(node))


def _unknown(module: Module) -> Iterator[HintMatch]:
    """Yields names that nothing binds; none where anything may be bound in ways that no text shows."""
    captured: set[str | None] = set()
    for node, _ in module.nodes:
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            return
        if isinstance(node, ast.Name) and node.id in BINDERS:
            return
        if isinstance(node, ast.MatchAs | ast.MatchStar):
            captured.add(node.name)
        elif isinstance(node, ast.MatchMapping):
            captured.add(node.rest)
        elif isinstance(node, ast.Global):
            captured.update(node.names)
    for node, scope in module.nodes:
        if (
            isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Load)
            and node.id not in KNOWN
            and node.id not in captured
            and not node.id.startswith("__")
            and scope.owner(node.id) is None
        ):
            yield HintMatch("unknown_name", node.id, node.lineno, module.line(node))


def _changed(node: ast.AST) -> str | None:
    """Returns the name of what a node changes in place."""
    whole: ast.expr | None = None
    if isinstance(node, ast.Subscript | ast.Attribute) and not isinstance(node.ctx, ast.Load):
        whole = node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGERS:
        whole = node.func.value
    return whole.id if isinstance(whole, ast.Name) else None


def _is_argument(name: str, scope: Scope) -> bool:
    owner = scope.owner(name)
    return owner is scope and name in scope.parameters and name not in RECEIVERS
