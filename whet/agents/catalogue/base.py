"""What an entry of the catalogue is: a known performance edit, and what it proposes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from whet.agents.models.base import Brief
from whet.core.label import Label as Label


@dataclass(frozen=True, slots=True)
class Proposal:
    """One edit applied at one place.

    Attributes:
        source: the whole new text of the file.
        edit: the name of the edit.
        label: what kind of change it is.
        line: the line of the old text whose cost the edit takes away, counted from 1.
        why: the reason in a line, for people and for the Judge.
        calls: lines that pay the cost too, as they call what is changed.
    """

    source: str
    edit: str
    label: str
    line: int
    why: str
    calls: tuple[int, ...] = ()


class Edit(Protocol):
    """A known performance edit.

    Attributes:
        name: as reports and origins show it.
        languages: those of the files that it can change.
        label: what kind of change it is.
        summary: what it changes, in a line.
        needs: what must stand in the file for it to apply.
        unsafe: when the new file may behave otherwise than the old one.
        assumes: what it may need of arguments that the old file does not: names of
            `whet.evaluators.needs.vocabulary`. All of those are attacked, whoever made a rewrite.
    """

    name: str
    languages: tuple[str, ...]
    label: Label
    summary: str
    needs: str
    unsafe: str
    assumes: tuple[str, ...]

    def propose(self, brief: Brief) -> Iterator[Proposal]:
        """Yields one proposal a place; none for a text that cannot be read."""
