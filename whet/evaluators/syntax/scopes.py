"""The nodes of a Python module, each with the function or class that it stands in."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(slots=True, eq=False)
class Scope:
    """A module, class or function.

    Attributes:
        node: its definition.
        parent: the scope around it, if any.
        parameters: of a function.
        bound: names that it assigns, parameters included.
        outer: names that it declares global or nonlocal.
    """

    node: ast.AST
    parent: Scope | None = None
    parameters: set[str] = field(default_factory=set)
    bound: set[str] = field(default_factory=set)
    outer: set[str] = field(default_factory=set)

    @property
    def in_function(self) -> bool:
        """Whether a call runs what stands here."""
        scope: Scope | None = self
        while scope is not None:
            if isinstance(scope.node, Function):
                return True
            scope = scope.parent
        return False

    def owner(self, name: str) -> Scope | None:
        """Returns the scope that a name means here; None for a builtin."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.bound and name not in scope.outer:
                return scope
            scope = scope.parent
        return None


def walk(tree: ast.Module) -> list[tuple[ast.AST, Scope]]:
    """Returns all nodes in the order of the text, without recursion: nesting costs no stack."""
    found: list[tuple[ast.AST, Scope]] = []
    waiting: list[tuple[ast.AST, Scope]] = [(tree, Scope(tree))]
    while waiting:
        node, scope = waiting.pop()
        found.append((node, scope))
        _bind(node, scope)
        waiting += reversed(list(_children(node, scope)))
    return found


def _children(node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, Scope]]:
    if isinstance(node, Function):
        inner = Scope(node, scope)
        args = node.args
        every = (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg)
        inner.parameters |= {arg.arg for arg in every if arg is not None}
        inner.bound |= inner.parameters
        # Decorators, defaults and annotations are evaluated outside.
        if not isinstance(node, ast.Lambda):
            yield from ((decorator, scope) for decorator in node.decorator_list)
        yield node.args, scope
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        yield from ((statement, inner) for statement in body)
    elif isinstance(node, ast.ClassDef):
        inner = Scope(node, scope)
        outside = (*node.decorator_list, *node.bases, *node.keywords)
        yield from ((child, scope) for child in outside)
        yield from ((child, inner) for child in node.body)
    else:
        yield from ((child, scope) for child in ast.iter_child_nodes(node))


def _bind(node: ast.AST, scope: Scope) -> None:
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        scope.bound.add(node.id)
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        scope.bound.add(node.name)
    elif isinstance(node, ast.Import | ast.ImportFrom):
        scope.bound |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
    elif isinstance(node, ast.Global | ast.Nonlocal):
        scope.outer |= set(node.names)
    elif isinstance(node, ast.ExceptHandler) and node.name:
        scope.bound.add(node.name)
