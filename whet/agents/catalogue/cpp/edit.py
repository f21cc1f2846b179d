"""What all edits of C and C++ files share."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from whet.agents.catalogue.base import Label, Proposal
from whet.agents.catalogue.cpp.source import CppSource, read
from whet.agents.models.base import Brief


class Splice(NamedTuple):
    """New text for the part of a file between two offsets."""

    start: int
    end: int
    text: str


class Change(NamedTuple):
    """One change of a file: the costly line, what is spliced in, and the reason."""

    line: int
    splices: list[Splice]
    why: str


class CppEdit(ABC):
    """An `Edit` that works on the tokens of a C or C++ file."""

    name: str
    languages: tuple[str, ...] = ("cpp",)
    label: Label
    summary: str
    needs: str
    unsafe: str

    @abstractmethod
    def changes(self, source: CppSource) -> Iterator[Change]:
        """Yields one change a place."""

    def propose(self, brief: Brief) -> Iterator[Proposal]:
        """Yields one proposal a place; none for a text that cannot be read."""
        source = read(brief)
        if source is not None:
            for change in self.changes(source):
                code = spliced(source.text, change.splices)
                yield Proposal(code, self.name, self.label, change.line, change.why)


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """Returns a text with new parts; of several at one place, the first comes first."""
    parts: list[str] = []
    done = 0
    for splice in sorted(splices, key=lambda each: each.start):
        parts += [text[done : splice.start], splice.text]
        done = splice.end
    return "".join([*parts, text[done:]])


def include(source: CppSource, header: str) -> list[Splice]:
    """Returns what includes a standard header, where the file lacks it."""
    if source.includes(header, "bits/stdc++.h"):
        return []
    first = next((each for each in source.directives if re.match(r"#\s*include", each.text)), None)
    start = first.start if first else 0
    return [Splice(start, start, f"#include <{header}>{newline(source)}")]


def newline(source: CppSource) -> str:
    """Returns the line ending of a file."""
    return "\r\n" if "\r\n" in source.text else "\n"


def indentation(source: CppSource, index: int) -> str:
    """Returns the blanks before a token, if it is the first of its line."""
    start = source.tokens[index].start
    begin = source.text.rfind("\n", 0, start) + 1
    before = source.text[begin:start]
    return before if not before.strip() else ""


def before_statement(source: CppSource, index: int, end: int, text: str) -> list[Splice]:
    """Returns what puts a statement before the one that begins at ``index``.

    Args:
        source: the file.
        index: the statement's first token.
        end: the index behind its last one.
        text: the new statement.
    """
    start = source.tokens[index].start
    if source.word(index - 1) in ("{", "}", ";"):
        return [Splice(start, start, f"{text}{newline(source)}{indentation(source, index)}")]
    close = source.tokens[end - 1].end
    return [Splice(start, start, f"{{ {text} "), Splice(close, close, " }")]
