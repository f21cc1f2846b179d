"""Where the time goes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HotLine:
    """A line of the target's file and its share of the whole, 0 to 1."""

    line: int
    share: float
    text: str


@dataclass(frozen=True, slots=True)
class Profile:
    """Hot lines of one source text, hottest first.

    Attributes:
        lines: the hot lines; empty where nothing could be measured.
        source: what measured it: ``line timer`` (wall time) or ``callgrind`` (instructions).
        note: why there is nothing, or what else a reader should know.
    """

    lines: tuple[HotLine, ...]
    source: str
    note: str = ""
