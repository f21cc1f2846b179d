"""What a mutant is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from whet.core.candidate import Candidate
from whet.core.errors import UsageError

STATE = "state"
"""The operator of faults in how a program keeps state."""
SHORT = 12
"""Characters of a mutant's id: enough to name it within one task."""


class TooDeepError(UsageError):
    """Code that is nested too deeply for faults to be made in it."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A target's file with one small fault.

    Attributes:
        operator: what kind of fault.
        line: of the target's file, counted from 1.
        candidate: the whole text of the file.
    """

    operator: str
    line: int
    candidate: Candidate

    @property
    def id(self) -> str:
        """The same for the same text, so that a reason may be kept beside it."""
        return self.candidate.id[:SHORT]


@dataclass(frozen=True, slots=True)
class Mutation:
    """A fault that could be made.

    Attributes:
        operator: what kind of fault.
        line: of the target's file, counted from 1.
        render: gives the whole text of the file with it.
    """

    operator: str
    line: int
    render: Callable[[], str]
