"""The other files of a Python target's own tree that it needs to load: what it imports, and the data beside that."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from whet.core.errors import UsageError
from whet.evaluators.finding import Fault
from whet.evaluators.given_files import read_text
from whet.evaluators.package import hidden_file
from whet.evaluators.project import project_top
from whet.evaluators.screen import parse
from whet.evaluators.task_file import FILENAME

MOST_SUPPORT = 500
"""Files that a target imports from its own project: each candidate is staged with all of them. Above it only the
nearest files of a package are read, and a target in no package is refused; a larger limit reads and copies more."""
MOST_NEAR, MOST_NEAR_TEXT = 40, 1 << 19
"""Files, and characters in them, of a package that is seen whole: what is read of it says what the target is about."""
BY_NAME = frozenset({"import_module", "__import__", "find_spec"})
"""Calls that import what a text names, which may have been made up when it ran."""
DATA = frozenset({".json", ".txt", ".csv", ".tsv", ".toml", ".yaml", ".yml", ".ini", ".xml"})
LARGEST_DATA = 1 << 20
"""Bytes of a text beside the code of a package that is taken along."""


def module_root(path: Path) -> Path:
    """Returns the folder that the target's package, if it is in one, is imported from."""
    root = path.parent
    while (root / "__init__.py").is_file() and root.parent != root:
        root = root.parent
    return root


@dataclass(frozen=True, slots=True)
class Texts:
    """Files of a target's own tree, as texts.

    Attributes:
        texts: path under the root -> text.
        complete: whether they are all that the target imports of its own tree.
    """

    texts: dict[str, str]
    complete: bool


def supporting_texts(path: Path, root: Path, source: str, seen_whole: bool = False) -> Texts:
    """Returns the other files that a target needs to load: what it imports, transitively, the nearest first.

    Of a package in a tree with more files than can be taken along, or one that is seen whole, the nearest are taken.

    Args:
        path: of the target.
        root: the folder that it is imported from; see `module_root`.
        source: its text.
        seen_whole: whether all of its package is seen in any case: it is installed.

    Raises:
        UsageError: there are too many, or one cannot be read.
    """
    packaged = (path.parent / "__init__.py").is_file()
    own = (root / path.relative_to(root).parts[0]).resolve() if seen_whole else project_top(root)
    found: dict[str, str] = {}
    waiting = deque([(path, source), *((init, read_text(init)) for init in _packages(path, root))])
    known = {file for file, _ in waiting}
    while waiting:
        here, text = waiting.popleft()
        if here != path:
            found[here.relative_to(root).as_posix()] = text
        for file in _imported(here, root, text):
            for needed in (file, *_packages(file, root)):
                if needed not in known and needed.resolve().is_relative_to(own):
                    known.add(needed)
                    waiting.append((needed, read_text(needed)))
        if seen_whole and (len(known) > MOST_NEAR or sum(map(len, found.values())) > MOST_NEAR_TEXT):
            return Texts(found | _inits(waiting, root), complete=False)
        if len(found) > MOST_SUPPORT:
            if not packaged:
                raise UsageError(f"{path} imports more than {MOST_SUPPORT} files of its own project")
            return supporting_texts(path, root, source, seen_whole=True)
    return Texts(found | _data({path, *(root / name for name in found)}, root), complete=True)


def _inits(waiting: Iterable[tuple[Path, str]], root: Path) -> dict[str, str]:
    """Returns the texts of packages that wait: their names make those of the modules in them."""
    return {file.relative_to(root).as_posix(): text for file, text in waiting if file.name == "__init__.py"}


def _data(files: set[Path], root: Path) -> dict[str, str]:
    """Returns the texts that lie in the packages of some files, which may read them when they are loaded."""
    folders = {file.parent for file in files if (file.parent / "__init__.py").is_file()}
    texts: dict[str, str] = {}
    for file in sorted(file for folder in folders for file in folder.iterdir() if file.suffix in DATA):
        if file.is_symlink() or hidden_file(file, (file.parent / FILENAME).is_file()):
            continue
        with suppress(OSError, UnicodeDecodeError):
            if file.stat().st_size <= LARGEST_DATA:
                texts[file.relative_to(root).as_posix()] = file.read_bytes().decode("utf-8")
    return texts


def _packages(path: Path, root: Path) -> list[Path]:
    folders = [parent for parent in path.parents if parent.is_relative_to(root)]
    inits = [folder / "__init__.py" for folder in folders if (folder / "__init__.py").is_file()]
    return [init for init in inits if init != path]


def _imported(path: Path, root: Path, source: str) -> Iterator[Path]:
    module = parse(source)
    if isinstance(module, Fault):
        return
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _files(root, path.parent, alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            parts = node.module.split(".") if node.module else []
            if node.level:
                base = path.parents[node.level - 1]
                starts = [base] if base.is_relative_to(root) else []
            else:
                starts = [root, path.parent]
            for start in starts:
                yield from _files(start, start, parts)
                for alias in node.names:
                    yield from _files(start, start, [*parts, alias.name])
        elif isinstance(node, ast.Call) and _name(node.func) in BY_NAME:
            yield from _whole_package(path, root)


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _whole_package(path: Path, root: Path) -> list[Path]:
    """Returns all modules of the package that a file is in: nothing tells which of them it imports by a made name."""
    top = root / path.relative_to(root).parts[0]
    return sorted(top.rglob("*.py")) if top.is_dir() else []


def _files(root: Path, beside: Path, parts: list[str]) -> Iterator[Path]:
    for start in dict.fromkeys((root, beside)):
        for end in range(1, len(parts) + 1):
            place = start.joinpath(*parts[:end])
            for file in (place.with_name(place.name + ".py"), place / "__init__.py"):
                if file.is_file():
                    yield file
