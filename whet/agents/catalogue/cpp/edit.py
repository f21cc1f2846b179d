"""What all edits of C and C++ files share."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from whet.agents.catalogue.base import Label, Proposal
from whet.agents.catalogue.cpp.source import CppSource, Region, read
from whet.agents.models.base import Brief


class Splice(NamedTuple):
    """New text for the part of a file between two offsets."""

    start: int
    end: int
    text: str


class Replacement(NamedTuple):
    """One change of a file: the costly line, what is spliced in, the reason, and lines that call what is changed."""

    line: int
    splices: list[Splice]
    why: str
    calls: tuple[int, ...] = ()


class CppEdit(ABC):
    """An `Edit` that works on the tokens of a C or C++ file."""

    name: str
    languages: tuple[str, ...] = ("cpp",)
    label: Label
    summary: str
    needs: str
    unsafe: str
    assumes: tuple[str, ...] = ()

    @abstractmethod
    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change a place."""

    def propose(self, brief: Brief) -> Iterator[Proposal]:
        """Yields one proposal a place; none for a text that cannot be read."""
        source = read(brief)
        if source is not None:
            for change in self.changes(source):
                code = spliced(source.text, change.splices)
                yield Proposal(code, self.name, self.label, change.line, change.why, change.calls)


class FunctionEdit(CppEdit):
    """A `CppEdit` of functions that have a contract: programs are left alone.

    What it promises holds for arrays of numbers in a hot function, and is seldom worth a round elsewhere.
    """

    languages: tuple[str, ...] = ("c", "cpp")
    label = Label.VECTORISATION

    def propose(self, brief: Brief) -> Iterator[Proposal]:
        """Yields one proposal a place; none for a program."""
        if brief.symbol is not None:
            yield from super().propose(brief)


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


def whole(source: CppSource, region: Region, text: str) -> Splice:
    """Returns what puts a text in the place of some tokens."""
    return Splice(source.tokens[region.first].start, source.tokens[region.end - 1].end, text)


def statement_start(source: CppSource, index: int) -> int:
    """Returns the index at which the statement around a token begins; the brackets it stands in are left."""
    here = index
    while here > 0:
        before = source.word(here - 1)
        if before in (";", "}", "else", "do") or (before == "{" and not _is_list(source, here - 1)):
            return here
        if before == ")" and source.word(source.partner[here - 1] - 1) in ("if", "for", "while", "switch"):
            return here
        here = source.partner[here - 1] if before in (")", "]") else here - 1
    return 0


def _is_list(source: CppSource, brace: int) -> bool:
    """Whether an opening brace begins a list of values."""
    return source.word(brace - 1) in ("=", "(", ",", "return", "{")


def before_all(source: CppSource) -> int | None:
    """Returns the offset before the first line of code that no directive leaves to chance; None where there is none."""
    first = source.tokens[0].start if source.tokens else 0
    last = max((each.start for each in source.directives if re.match(r"#\s*include", each.text)), default=0)
    conditional = any(re.match(r"#\s*(if|el)", each.text) for each in source.directives if each.start < first)
    return None if last > first or conditional else source.text.rfind("\n", 0, first) + 1
