"""Reads a Python module: what its names mean, and what its constant expressions come to."""

from __future__ import annotations

import ast
from functools import cached_property

from whet.evaluators.syntax.constants import DEEPEST, Folder
from whet.evaluators.syntax.scopes import Scope, walk

LONGEST = 1 << 18
"""Characters of the longest text that is read; parsing longer ones takes seconds."""
NAMESPACES = ("sys.modules", "globals()", "locals()", "__builtins__", "builtins.__dict__")


class Module:
    """A module that was parsed.

    Attributes:
        nodes: all nodes in the order of the text, each with its scope.
        modules: the names that imports bind -> the dotted names of what they import.
        assigned: the names that are assigned once in the whole text, with what.
        lines: of the text.
    """

    def __init__(self, source: str, tree: ast.Module) -> None:
        self.lines = source.split("\n")
        self.nodes = walk(tree)
        self.tree = tree
        self.modules = _imports(tree)
        self.assigned = _assigned(self.nodes)
        self._folder = Folder(self.assigned, self.dotted)
        self._named: dict[ast.expr, str] = {}

    @cached_property
    def module(self) -> Scope:
        """The outermost scope."""
        return self.nodes[0][1]

    @cached_property
    def bound(self) -> set[str]:
        """All names that are bound anywhere."""
        return {name for scope in {scope for _, scope in self.nodes} for name in scope.bound}

    def line(self, node: ast.AST) -> str:
        """Returns the line that a node begins in."""
        number: int = getattr(node, "lineno", 1)
        return self.lines[number - 1].strip() if number <= len(self.lines) else ""

    def text(self, node: ast.expr, depth: int = 0) -> str | None:
        """Returns the string that an expression comes to, where it is constant."""
        return self._folder.text(node, depth)

    def dotted(self, node: ast.expr, depth: int = 0) -> str:
        """Returns what an expression names, through imports, assignments, ``getattr`` and built strings.

        ``time.sleep`` where that is known, ``*.sleep`` for an attribute of something unknown, ``open`` for a builtin,
        and an empty text for anything else.
        """
        if depth > DEEPEST:
            return ""
        if node not in self._named:
            self._named[node] = self._dotted(node, depth)
        return self._named[node]

    def _dotted(self, node: ast.expr, depth: int) -> str:
        match node:
            case ast.Name(id=name):
                if name in self.modules:
                    return self.modules[name]
                if name in self.assigned and not isinstance(self.assigned[name], ast.Constant):
                    return self.dotted(self.assigned[name], depth + 1)
                return "" if name in self.bound else name
            case ast.Attribute(value=value, attr=attr):
                return self._attribute(self.dotted(value, depth + 1), attr)
            case ast.Subscript(value=value, slice=key):
                whole = self.dotted(value, depth + 1)
                found = self.text(key, depth + 1) if whole else None
                if found is None:
                    return ""
                if whole in NAMESPACES:
                    return found
                return f"{whole.removesuffix('.__dict__')}.{found}" if whole.endswith(".__dict__") else ""
            case ast.Call(func=func, args=args):
                return self._called(self.dotted(func, depth + 1), args, depth + 1)
        return ""

    def _attribute(self, whole: str, attr: str) -> str:
        if whole in ("builtins", "__builtins__"):
            return attr
        return f"{whole or '*'}.{attr}"

    def _called(self, function: str, args: list[ast.expr], depth: int) -> str:
        text = self.text(args[-1], depth) if args else None
        if function in ("__import__", "importlib.import_module") and text:
            return self.text(args[0], depth) or ""
        if function == "getattr" and len(args) >= 2:
            name = self.text(args[1], depth)
            return self._attribute(self.dotted(args[0], depth), name) if name else ""
        if function == "vars" and args:
            return f"{self.dotted(args[0], depth)}.__dict__"
        return f"{function}()" if function else ""


def _imports(tree: ast.Module) -> dict[str, str]:
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module or ''}.{alias.name}".lstrip(".")
    return found


def _assigned(nodes: list[tuple[ast.AST, Scope]]) -> dict[str, ast.expr]:
    """Returns the names that are stored to exactly once, by a plain assignment."""
    stores: dict[str, int] = {}
    values: dict[str, ast.expr] = {}
    for node, _ in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            stores[node.id] = stores.get(node.id, 0) + 1
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            values[node.targets[0].id] = node.value
        elif isinstance(node, ast.arg):
            stores[node.arg] = 2
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            stores[node.name] = 2
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            stores[node.target.id] = 2
    return {name: value for name, value in values.items() if stores.get(name) == 1}
