"""What all edits of Python files share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from whet.agents.catalogue.base import Label, Proposal
from whet.agents.catalogue.python.source import PythonSource, read
from whet.agents.models.base import Brief


class Replacement(NamedTuple):
    """One change of a file: the costly node of the old tree, the new text, and the reason."""

    at: cst.CSTNode
    code: str
    why: str


class PythonEdit(ABC):
    """An `Edit` that works on the tree of a Python file."""

    name: str
    languages: tuple[str, ...] = ("python",)
    label: Label
    summary: str
    needs: str
    unsafe: str
    assumes: tuple[str, ...]

    @abstractmethod
    def changes(self, source: PythonSource) -> Iterator[Replacement]:
        """Yields one change a place, within the functions in reach."""

    def propose(self, brief: Brief) -> Iterator[Proposal]:
        """Yields one proposal a place; none for a text that cannot be read."""
        source = read(brief)
        if source is not None:
            for change in self.changes(source):
                yield Proposal(change.code, self.name, self.label, source.line(change.at), change.why)
