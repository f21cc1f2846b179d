"""Which modules a task's processes will import: what a warm worker had better have imported before."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import PurePosixPath

from whet.core.task import Kind, Task
from whet.evaluators.finding import Fault
from whet.evaluators.screen import parse


def preloads(task: Task) -> tuple[str, ...]:
    """Returns what the task's own files import at their top, neither the standard library's nor the task's own.

    An import that stands in a function happens in the call, so it is left there.
    """
    if task.kind is not Kind.FUNCTION:
        return ()
    sources = [task.source, *(text for path, text in task.support.items() if path.endswith(".py"))]
    own = {part.removesuffix(".py") for path in (task.filename, *task.support) for part in PurePosixPath(path).parts}
    found = {name for source in sources for name in _at_the_top(source)}
    return tuple(sorted(name for name in found if name.partition(".")[0] not in own | sys.stdlib_module_names))


def imported(*trees: ast.AST) -> Iterator[str]:
    """Yields what is imported anywhere in some syntax trees, with what may be modules of packages."""
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names if alias.name != "*")


def looked_up(*trees: ast.AST) -> Iterator[str]:
    """Yields the full names of what some syntax trees look up in what they import: ``numpy.random.default_rng``."""
    for tree in trees:
        known = dict(_bound(tree))
        for node in ast.walk(tree):
            path: list[str] = []
            place: ast.AST = node
            while isinstance(place, ast.Attribute):
                path.insert(0, place.attr)
                place = place.value
            if path and isinstance(place, ast.Name) and place.id in known:
                yield ".".join((known[place.id], *path))


def _bound(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yields the names that imports give, each with the full name of what it stands for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.asname, alias.name) for alias in node.names if alias.asname)
            yield from ((top := alias.name.partition(".")[0], top) for alias in node.names if not alias.asname)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)


def _at_the_top(source: str) -> Iterator[str]:
    module = parse(source)
    if not isinstance(module, Fault):
        inner = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        yield from imported(*(statement for statement in module.body if not isinstance(statement, inner)))
