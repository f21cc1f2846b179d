"""Python's syntax trees, one text at a time."""

from __future__ import annotations

import ast
import threading

_LOCK = threading.Lock()


def parse_python(source: str | bytes, *, type_comments: bool = False) -> ast.Module:
    """Returns what `ast.parse` does.

    CPython 3.11 keeps one count of the depth for all threads: two that parse at a time may end in a ``SystemError``
    ("AST constructor recursion depth mismatch").

    Args:
        source: the text.
        type_comments: whether they are kept.

    Raises:
        SyntaxError: it is no Python.
        ValueError: it holds a NUL.
        RecursionError: it is nested too deeply, as is MemoryError.
    """
    with _LOCK:
        return ast.parse(source, type_comments=type_comments)


def depth(tree: ast.AST) -> int:
    """Returns how many nodes of a tree hold each other at most; nesting costs no stack."""
    deepest, level = 0, [tree]
    while level:
        deepest += 1
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return deepest


def parse_expression(source: str) -> ast.expr:
    """Returns the tree of an expression; see `parse_python`."""
    with _LOCK:
        return ast.parse(source, mode="eval").body


def expression_of(source: str) -> ast.expr | None:
    """Returns the tree of an expression; None of what is none."""
    try:
        return parse_expression(source)
    except SyntaxError:
        return None


def last_name(node: ast.AST) -> str:
    """Returns the last part of a dotted name; empty for anything else."""
    return getattr(node, "attr", getattr(node, "id", "")) or ""
