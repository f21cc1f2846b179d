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


def parse_expression(source: str) -> ast.expr:
    """Returns the tree of an expression; see `parse_python`."""
    with _LOCK:
        return ast.parse(source, mode="eval").body
