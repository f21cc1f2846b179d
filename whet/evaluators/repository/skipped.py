"""Which code of a repository is left alone, and why."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import PurePosixPath

from whet.evaluators.repository.definitions import Definition

VENDORED = {
    "_vendor",
    "_vendored",
    "vendor",
    "vendored",
    "third_party",
    "thirdparty",
    "3rdparty",
    "extern",
    "externals",
}
TESTS = {"test", "tests", "testing", "conftest.py"}
TEST_FILE = re.compile(r"test_.*\.py|.*_test\.(py|c|cc|cpp|cxx)|test.*\.(c|cc|cpp|cxx)|conftest\.py")
GENERATED_FILE = re.compile(
    r".*_pb2(_grpc)?\.py|.*\.pb\.(cc|h)|_?version\.py|(parsetab|lextab|yacctab)\.py|.*_lextab\.py"
)
GENERATED_MARK = re.compile(
    r"(?i)\b(auto[- ]?generated|(generated|created) (automatically |by |from |with |using )|do not (edit|modify))\b"
)
HEAD_LINES = 12
"""In which generators say that they made a file."""
UNCALLABLE = {
    **dict.fromkeys(("property", "cached_property", "setter", "getter", "deleter"), "it is read, not called"),
    **dict.fromkeys(("contextmanager", "asynccontextmanager"), "what it returns cannot be compared"),
    **dict.fromkeys(("register", "singledispatch", "singledispatchmethod", "overload"), "one name stands for several"),
    **dict.fromkeys(("jit", "njit", "vectorize", "guvectorize"), "it is compiled already"),
}
"""Decorator -> why what it makes is no target."""


def skipped_file(path: str, text: str, ignore: Sequence[str]) -> str:
    """Returns why a file is left alone; empty where it is not.

    Args:
        path: from the repository's root.
        text: its content.
        ignore: globs of the configuration.
    """
    parts = PurePosixPath(path).parts
    if glob := next((glob for glob in ignore if matches(path, glob)), ""):
        return f"ignored by the configuration ({glob})"
    if vendored := VENDORED.intersection(parts[:-1]):
        return f"vendored: below {min(vendored)}"
    if TESTS.intersection(parts[:-1]) or TEST_FILE.fullmatch(parts[-1]):
        return "a part of the tests"
    if GENERATED_FILE.fullmatch(parts[-1]):
        return "generated: by its name"
    head = text.splitlines()[:HEAD_LINES]
    if mark := next((found[0] for line in head if (found := GENERATED_MARK.search(line))), ""):
        return f"generated: it says '{mark.strip()}'"
    return ""


def matches(path: str, glob: str) -> bool:
    """Whether a glob of the configuration names a file: by its path from the root, or by a folder above it."""
    glob = glob.removeprefix("./").rstrip("/")
    return any(fnmatch(str(part), glob) for part in (PurePosixPath(path), *PurePosixPath(path).parents))


def skipped_function(definition: Definition) -> str:
    """Returns why a function cannot be a target; empty where it can."""
    if isinstance(definition.node, ast.AsyncFunctionDef):
        return "async, which cannot be timed yet"
    for mark in definition.node.decorator_list:
        name = _last_name(mark.func if isinstance(mark, ast.Call) else mark)
        if name in UNCALLABLE:
            return f"@{name}: {UNCALLABLE[name]}"
    return ""


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
