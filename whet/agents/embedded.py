"""Kernels that a Python text holds: C++ and CUDA as strings, Triton as functions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from whet.core.trees import parse_python

CUDA = re.compile(r"\b__(global|device)__\b")
CPP = re.compile(r'^\s*#\s*include\b|^\s*extern "C"', re.MULTILINE)
TRITON = re.compile(r"^\s*(import|from) triton\b", re.MULTILINE)
HOLDERS = ("triton", "__global__", "__device__", "include", "extern")
"""Words without one of which a text holds no kernel, however its strings are written."""
QUOTES = re.compile(r'"{3}|\'{3}')
SHORTEST = 40
"""Characters of a string that may hold a kernel."""


@dataclass(frozen=True, slots=True)
class Part:
    """A text in one language, its lines numbered as in the text that holds it.

    Attributes:
        language: cpp, cuda or triton, or that of a text as a whole.
        text: blank lines stand for what is in front of it.
    """

    language: str
    text: str


def embedded(language: str, source: str) -> tuple[Part, ...]:
    """Returns the kernels that a Python text holds; none of one in another language, or of one that does not parse."""
    if language != "python" or not any(word in source for word in HOLDERS):
        return ()
    try:
        nodes = list(ast.walk(parse_python(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last: a text nested too deeply
        return ()
    triton = (Part("triton", source),) if TRITON.search(source) else ()
    return (*triton, *_strings(source, nodes))


def _strings(source: str, nodes: list[ast.AST]) -> Iterator[Part]:
    lines = source.split("\n")
    for node in nodes:
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or len(node.value) < SHORTEST:
            continue
        if CUDA.search(node.value) or CPP.search(node.value):
            # By its lines rather than its value: escaped line ends would shift the numbers.
            inner = lines[node.lineno - 1 : node.end_lineno]
            inner[0] = QUOTES.split(inner[0])[-1] if len(inner) > 1 else node.value
            inner[-1] = QUOTES.split(inner[-1])[0]
            language = "cuda" if CUDA.search(node.value) else "cpp"
            yield Part(language, "\n" * (node.lineno - 1) + "\n".join(inner))
