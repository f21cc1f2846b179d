"""The other files of a C or C++ target's own project: the headers that it includes, and the sources behind them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from whet.core.errors import UsageError
from whet.evaluators.folder import LARGEST, MOST_FILES
from whet.evaluators.given_files import read_text
from whet.evaluators.package import hidden_file
from whet.evaluators.task_file import FILENAME
from whet.sandbox.toolchains.beside import SOURCES

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
MAIN = re.compile(r"\bmain\s*\([^;{]*\)\s*\{")
BUILDS = ("CMakeLists.txt", "GNUmakefile", "makefile", "Makefile")
DEEPEST = 4
"""Folders above a source in which a build of its project is looked for, where no repository says how far it reaches."""
SOURCE_FOLDERS = ("src", "source", "lib")
FOLDERS = ("include", "src")
"""Beside a source and above it, where projects keep headers apart from sources."""


@dataclass(frozen=True, slots=True)
class NativeTree:
    """What a native target is built with.

    Attributes:
        root: folder above all of it.
        texts: path under the root -> text of each file but the target.
        missing: local headers that are not there; a build of the project's own may make them.
    """

    root: Path
    texts: dict[str, str]
    missing: tuple[str, ...] = ()


def native_tree(path: Path, source: str, program: bool, more: Iterable[Path] = ()) -> NativeTree:
    """Returns the headers that a target includes, transitively, and the sources that have a header's name.

    A program whose target has no ``main`` is built with the one source beside it that has one and leads to it.

    Args:
        path: of the target.
        source: its text.
        program: whether it is to be a program.
        more: sources that the user named.

    Raises:
        UsageError: there is too much of it, or a file cannot be read.
    """
    found = _Search(path, native_top(path.parent))
    found.follow(path, source)
    for other in more:
        found.add(other)
    if program and not has_main(source) and (main := _the_main(path)) is not None:
        found.add(main)
    files = found.files
    root = path.parent
    while not all(file.is_relative_to(root) for file in files):
        root = root.parent
    texts = {file.relative_to(root).as_posix(): text for file, text in files.items()}
    return NativeTree(root, texts, tuple(found.missing))


def native_top(folder: Path) -> Path:
    """Returns the top folder of a project: of its repository, else the outermost that has a file of a build."""
    real = folder.resolve()
    if git := next((place for place in (real, *real.parents) if (place / ".git").exists()), None):
        return git
    above = (real, *real.parents)[:DEEPEST]
    built = [place for place in above if any((place / name).is_file() for name in BUILDS)]
    return built[-1] if built else real.parent if real.name in SOURCE_FOLDERS else real


def has_main(source: str) -> bool:
    """Whether a text defines ``main``."""
    return MAIN.search(COMMENTS.sub(" ", source)) is not None


class _Search:
    """Follows includes from file to file, within a project."""

    def __init__(self, target: Path, top: Path) -> None:
        self.target = target
        self.top = top
        self.files: dict[Path, str] = {}
        self.missing: dict[str, None] = {}

    def add(self, file: Path) -> None:
        """Takes a file, and what it leads to."""
        if file == self.target or file in self.files:
            return
        self.files[file] = text = read_text(file)
        if len(self.files) > MOST_FILES or sum(map(len, self.files.values())) > LARGEST:
            raise UsageError(
                f"{self.target} includes more than {MOST_FILES} files or {LARGEST >> 20} MiB of its own project"
            )
        self.follow(file, text)

    def follow(self, file: Path, text: str) -> None:
        """Takes what a text includes, and the sources behind that."""
        for local, system in INCLUDE.findall(COMMENTS.sub(" ", text)):
            header = self._header(file, local or system)
            if header is None:
                self.missing |= dict.fromkeys([local] if local else [])
                continue
            self.add(header)
            for source in self._sources(header):
                self.add(source)

    def _header(self, file: Path, name: str) -> Path | None:
        around = [folder for folder in file.parents if folder.is_relative_to(self.top)]
        places = [file.parent, *(place for folder in around for place in (folder / "include", folder))]
        return next((found for place in places if (found := self._own(place / name)) is not None), None)

    def _sources(self, header: Path) -> Iterator[Path]:
        """Yields the source with a header's name, beside it or in the folder of sources."""
        around = [folder for folder in header.parents if folder.is_relative_to(self.top)]
        for place in (header.parent, *(folder / name for folder in around for name in FOLDERS)):
            for suffix in SOURCES:
                source = self._own(place / f"{header.stem}{suffix}")
                if source is not None and not has_main(read_text(source)):
                    yield source
                    return

    def _own(self, file: Path) -> Path | None:
        """Returns a file of the project by its real path; None where there is none, or a link leads out of it."""
        real = file.resolve()
        seen = real.is_relative_to(self.top) and real.is_file()
        return real if seen and not hidden_file(real, (real.parent / FILENAME).is_file()) else None


def _the_main(path: Path) -> Path | None:
    """Returns the one source beside a target that has a ``main`` and leads to it."""
    found = []
    for file in sorted(path.parent.iterdir()):
        if file.suffix in SOURCES and file != path and file.is_file() and not file.is_symlink():
            text = read_text(file)
            if has_main(text):
                search = _Search(file, native_top(path.parent))
                search.follow(file, text)
                found += [file] if path in search.files else []
    return found[0] if len(found) == 1 else None
