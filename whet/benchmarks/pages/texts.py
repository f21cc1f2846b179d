"""Texts of candidates and models, as far as a page has room for them.

Room is counted in bytes of the page, escapes included, so that no text makes a page larger than it may become.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from markupsafe import escape

from whet.core.text import count, printable, times

MARKS = {"+": "ins", "-": "del", "@": "hunk"}
TAGS = 12
"""Bytes around a line of a diff: a block has 25, and lines share blocks."""


@dataclass(frozen=True, slots=True)
class Block:
    """Lines of a diff that follow each other and are of one kind: ins, del, hunk or same."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Diff:
    """A unified diff without its two names.

    Attributes:
        blocks: as much of it as there was room for.
        added: lines, those left out too.
        removed: lines, those left out too.
        left_out: a line that says how much is not shown; empty where all is.
    """

    blocks: tuple[Block, ...]
    added: int
    removed: int
    left_out: str


def read_diff(text: str, room: int) -> Diff:
    """Reads a unified diff, and keeps whole lines as far as there is room."""
    lines = printable(text).rstrip("\n").split("\n")[2:]
    kept = bisect_right(list(accumulate(_bytes(line) + TAGS for line in lines)), room)
    left = len(lines) - kept
    return Diff(
        blocks=tuple(_blocks(lines[:kept])),
        added=sum(line.startswith("+") for line in lines),
        removed=sum(line.startswith("-") for line in lines),
        left_out=f"{count(left, 'further line')} left out" if left else "",
    )


def _blocks(lines: list[str]) -> Iterator[Block]:
    kind, held = "", list[str]()
    for line in lines:
        own = MARKS.get(line[:1], "same")
        if held and own != kind:
            yield Block(kind, "\n".join(held))
            held = []
        kind = own
        held.append(line)
    if held:
        yield Block(kind, "\n".join(held))


def cut(text: str, room: int) -> str:
    """Returns a printable text; where there is no room for all of it, with a word that says so."""
    text = printable(text).strip()
    kept = bisect_right(list(accumulate(map(_bytes, text[:room]))), room)
    return text if kept == len(text) else f"{text[:kept]}… ({count(len(text) - kept, 'further character')} left out)"


def shown_times(ratio: float) -> str:
    """Returns a ratio with the sign that a page has for it."""
    return times(ratio).replace("x", "×")


def _bytes(text: str) -> int:
    return len(str(escape(text)).encode())
