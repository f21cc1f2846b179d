"""What a pull request changes: functions whose lines it touches, and the lines that reviews may point at."""

from __future__ import annotations

import ast
import fnmatch
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from whet.bot.checkout import Checkout, git
from whet.bot.request import TARGET
from whet.core.errors import UsageError
from whet.core.trees import parse_python

HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LEFT_ALONE = ("test", "tests", "testing", "vendor", "_vendor", "third_party", "extern", "docs", "build")
GENERATED = re.compile(r"_pb2(?:_grpc)?\.py$|^(?:test_.*|.*_test|conftest|setup)\.py$")
LARGEST = 1 << 20
"""Bytes of a Python file whose functions are looked for. The file is a stranger's, and parsing takes time and memory in
proportion: a larger value allows more of both, a smaller one leaves the functions of long files untried."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a module, or a method of a class there.

    Attributes:
        path: of its file, within the repository.
        symbol: its dotted name.
        start: its first line, decorators included.
        end: its last line.
        weight: how deep its loops are nested, summed: where there is nothing to repeat, there is little to gain.
    """

    path: str
    symbol: str
    start: int
    end: int
    weight: int

    @property
    def target(self) -> str:
        """As after ``whet optimize``."""
        return f"{self.path}::{self.symbol}"


def touched(checkout: Checkout, ignore: Sequence[str] = ()) -> list[Function]:
    """Returns the Python functions that a pull request changes, those with the deepest loops first.

    Args:
        checkout: of it.
        ignore: globs of paths that are left alone. Tests, vendored and generated files are so anyway.
    """
    names = git(checkout.store, "diff", "--name-only", "-z", "--diff-filter=AMR", checkout.base, checkout.head)
    found = []
    for path in names.split("\0"):
        if _of_interest(path, ignore):
            lines = changed_lines(checkout, path, context=0)
            found += [
                function
                for function in functions(checkout.tree, path)
                if any(start <= function.end and function.start <= end for start, end in lines)
            ]
    return sorted(found, key=lambda one: -one.weight)


def that_matter(chosen: Sequence[Function], shares: Mapping[str, float], least: float) -> list[Function]:
    """Returns the functions that there is something to gain in, the most promising first.

    Args:
        chosen: of which.
        shares: of a command's time that functions take with all that they call, by target; empty where that is not
            known: then those with a loop matter.
        least: share that matters.
    """
    if not shares:
        return [one for one in chosen if one.weight]
    found = [one for one in chosen if shares.get(one.target, 0.0) >= least]
    return sorted(found, key=lambda one: -shares[one.target])


def named(checkout: Checkout, target: str) -> list[Function]:
    """Returns the functions that a command names, by file or by file and function.

    Raises:
        UsageError: there are none of that name.
    """
    path, _, symbol = target.partition("::")
    found = [one for one in functions(checkout.tree, path) if symbol in ("", one.symbol)]
    if not found:
        raise UsageError(f"the head has no Python function {target}")
    return sorted(found, key=lambda one: -one.weight)


def changed_lines(checkout: Checkout, path: str, context: int = 3) -> list[tuple[int, int]]:
    """Returns the ranges of lines of the head that a diff shows, counted from 1."""
    diff = git(checkout.store, "diff", f"-U{context}", checkout.base, checkout.head, "--", path)
    ranges = [(int(start), int(count or 1)) for start, count in HUNK.findall(diff)]
    return [(start, start + count - 1) for start, count in ranges if count]


def functions(tree: Path, path: str) -> Iterator[Function]:
    """Yields the functions of a file and the methods of its classes; none where it cannot be read as Python."""
    file = tree / path
    inside = tree.resolve() in file.resolve().parents
    if not TARGET.fullmatch(path) or not inside or not file.is_file() or file.stat().st_size > LARGEST:
        return
    try:
        module = parse_python(file.read_bytes())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in module.body:
        if isinstance(node, ast.FunctionDef):
            yield _described(path, node.name, node)
        elif isinstance(node, ast.ClassDef):
            yield from (
                _described(path, f"{node.name}.{inner.name}", inner)
                for inner in node.body
                if isinstance(inner, ast.FunctionDef)
            )


def _described(path: str, symbol: str, node: ast.FunctionDef) -> Function:
    start = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return Function(path, symbol, start, node.end_lineno or node.lineno, _weight(node))


def _weight(function: ast.AST) -> int:
    """Returns a sum over its loops of how deep they stand in others; nesting costs no stack."""
    weight = 0
    waiting = [(function, 1)]
    while waiting:
        node, depth = waiting.pop()
        for child in ast.iter_child_nodes(node):
            loop = isinstance(child, LOOPS)
            weight += depth if loop else 0
            waiting.append((child, depth + loop))
    return weight


def _of_interest(path: str, ignore: Sequence[str]) -> bool:
    *folders, name = path.split("/")
    if not name.endswith(".py") or not TARGET.fullmatch(path) or GENERATED.search(name):
        return False
    return not set(folders) & set(LEFT_ALONE) and not any(fnmatch.fnmatch(path, glob) for glob in ignore)
