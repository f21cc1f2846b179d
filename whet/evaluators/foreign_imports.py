"""Imports of what an interpreter has on whet's account alone: a candidate that rests on them fails elsewhere."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import metadata

from whet.core.trees import parse_python

OWN = "whet"
LET_THROUGH = ("numpy", "scipy")
"""Packages of whet that projects of numbers have too; what they are needed for is judged like any other rewrite."""
BY_CALL = ("__import__", "import_module")
"""Functions that import what they are given by its name."""
NAME = re.compile(r"[A-Za-z0-9._-]+")


def foreign_imports(source: str, files: Iterable[str]) -> list[str]:
    """Returns the packages that a Python text imports, that none of its project's does, and that whet itself needs.

    Args:
        source: of a candidate.
        files: Python texts of the project, the target's among them; what cannot be parsed counts for nothing.
    """
    new = set(_imported(source)) - sys.stdlib_module_names - {OWN, *LET_THROUGH}
    if not new:
        return []
    for text in files:
        new.difference_update(_imported(text))
    return sorted(new & own_modules()) if new else []


def _imported(source: str) -> Iterator[str]:
    try:
        tree = parse_python(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]
        elif isinstance(node, ast.Call) and (name := _called_for(node)):
            yield name


def _called_for(node: ast.Call) -> str:
    """Returns the package that ``__import__("NAME")`` or ``import_module("NAME")`` gives; empty for another call."""
    function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    first = node.args[0] if node.args else None
    if function not in BY_CALL or not isinstance(first, ast.Constant) or not isinstance(first.value, str):
        return ""
    return first.value.partition(".")[0]


@cache
def own_modules() -> frozenset[str]:
    """Returns the modules of the packages that whet requires, and that those require, extras aside."""
    required: set[str] = set()
    waiting = [OWN]
    while waiting:
        for line in _requirements(waiting.pop()):
            if "extra ==" not in line and (found := NAME.match(line)) and _plain(found[0]) not in required:
                required.add(_plain(found[0]))
                waiting.append(found[0])
    known = metadata.packages_distributions()
    return frozenset(name for name, packages in known.items() if required & set(map(_plain, packages)))


def _requirements(package: str) -> list[str]:
    try:
        return metadata.requires(package) or []
    except metadata.PackageNotFoundError:  # of another platform
        return []


def _plain(package: str) -> str:
    return re.sub(r"[-_.]+", "-", package).lower()
