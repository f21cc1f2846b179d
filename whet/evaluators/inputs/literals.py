"""Calls of a target with literal arguments, as its tests write them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from whet.core.trees import parse_python
from whet.evaluators.inputs.constructors import constructor_arguments
from whet.evaluators.inputs.type_hints import initializer
from whet.sandbox.inside.codec import CodecError, encode

MOST_FILES = 40
"""Test files of a target, and likewise files beside it, that are read and parsed. More hold more calls, and delay the
start of a run."""
MOST_CALLS = 64
"""Distinct calls that are taken from the tests, the first ones found. Each is an input of the differential rung, and
takes a call of both sides; with fewer, values that only a test names are missing."""
LARGEST = 1 << 20
"""Bytes of a test file that is read."""
LONGEST_CALLERS = 8000
"""Characters."""
NO_CALLERS = {"best", "workload"}
"""Beside a target, these may hold the best answer known, and its inputs."""
PATTERNS = ("test_*.py", "*_test.py")


def literal_calls(path: Path, symbol: str) -> tuple[bytes, ...]:
    """Returns the encoded arguments of calls of a function in the tests beside it; none of a method.

    Args:
        path: the target's file; tests lie in its folder, or in a folder ``tests`` there or above.
        symbol: the function.
    """
    if "." in symbol:
        return ()
    found: dict[bytes, None] = {}
    for file in _test_files(path):
        for args, kwargs in calls_in(file.read_text("utf-8", "replace"), symbol):
            try:
                found[encode({"args": args, "kwargs": kwargs} if kwargs else args)] = None
            except CodecError:
                continue
    return tuple(found)[:MOST_CALLS]


def literal_inits(path: Path, symbol: str, source: str) -> tuple[bytes, ...]:
    """Returns the encoded arguments of calls of the constructor of a method's class; none of a function.

    Args:
        path: the target's file.
        symbol: the method.
        source: text of the file.
    """
    owner = symbol.rpartition(".")[0]
    module = _parsed(source)
    if not owner or module is None:
        return ()
    init = initializer(module, owner)
    found: dict[bytes, None] = {}
    for file in _test_files(path):
        for args, kwargs in calls_in(file.read_text("utf-8", "replace"), owner.rpartition(".")[2]):
            try:
                given = constructor_arguments(args, kwargs, init)
                found |= {} if given is None else {encode(given): None}
            except CodecError:
                continue
    return tuple(found)[:MOST_CALLS]


def _parsed(source: str) -> ast.Module | None:
    try:
        return parse_python(source)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _test_files(path: Path) -> list[Path]:
    folders = [path.parent, *(parent / "tests" for parent in list(path.parents)[:3])]
    files = [
        file for folder in folders if folder.is_dir() for pattern in PATTERNS for file in sorted(folder.glob(pattern))
    ]
    return [file for file in dict.fromkeys(files) if file.is_file() and file.stat().st_size <= LARGEST][:MOST_FILES]


def callers(path: Path, symbol: str) -> str:
    """Returns the functions that call a function or method, in its tests first, then in the files beside it."""
    name = symbol.rpartition(".")[2]
    beside = [file for file in sorted(path.parent.glob("*.py")) if file != path and file.stem not in NO_CALLERS]
    found: dict[str, None] = {}
    for file in dict.fromkeys([*_test_files(path), *beside[:MOST_FILES]]):
        text = file.read_text("utf-8", "replace") if file.stat().st_size <= LARGEST else ""
        found |= dict.fromkeys(_functions_that_call(text, name)) if name in text else {}
    return "\n\n".join(found)[:LONGEST_CALLERS]


def _functions_that_call(text: str, name: str) -> Iterator[str]:
    try:
        module = parse_python(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef) and any(
            isinstance(call, ast.Call) and getattr(call.func, "id", getattr(call.func, "attr", None)) == name
            for call in ast.walk(node)
        ):
            yield ast.get_source_segment(text, node) or ""


def calls_in(text: str, symbol: str) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Yields positional and named arguments of the calls of a function whose arguments are all known.

    They are literals, or parameters of a test that pytest's ``parametrize`` gives rows of literals.
    """
    if symbol not in text:
        return
    try:
        module = parse_python(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef):
            for row in [{}, *_rows(node)]:
                yield from _calls(node, symbol, row)
    outside = ast.Module([node for node in module.body if not isinstance(node, ast.FunctionDef | ast.ClassDef)], [])
    yield from _calls(outside, symbol, {})


def _calls(scope: ast.AST, symbol: str, known: Mapping[str, Any]) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    for node in ast.walk(scope):
        if not isinstance(node, ast.Call) or getattr(node.func, "id", getattr(node.func, "attr", None)) != symbol:
            continue
        try:
            args = tuple(_value(arg, known) for arg in node.args)
            kwargs = {word.arg: _value(word.value, known) for word in node.keywords if word.arg is not None}
        except (ValueError, TypeError, KeyError, SyntaxError, MemoryError, RecursionError):
            continue
        if len(kwargs) == len(node.keywords):
            yield args, kwargs


def _value(node: ast.expr, known: Mapping[str, Any]) -> Any:
    return known[node.id] if isinstance(node, ast.Name) else ast.literal_eval(node)


def _rows(test: ast.FunctionDef) -> Iterator[dict[str, Any]]:
    """Yields what ``pytest.mark.parametrize`` gives a test, row by row."""
    for mark in test.decorator_list:
        if not isinstance(mark, ast.Call) or getattr(mark.func, "attr", "") != "parametrize" or len(mark.args) < 2:
            continue
        try:
            named = ast.literal_eval(mark.args[0])
            rows = getattr(mark.args[1], "elts", [])
        except (ValueError, SyntaxError):
            continue
        names = [name.strip() for name in named.split(",")] if isinstance(named, str) else list(named)
        for row in rows:
            cells = getattr(row, "elts", [row]) if len(names) > 1 else [row]
            known = {}
            for name, cell in zip(names, cells, strict=False):
                try:
                    known[name] = ast.literal_eval(cell)
                except (ValueError, SyntaxError, TypeError):
                    continue
            yield known
