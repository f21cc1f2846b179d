"""What a strategy sees, and what it decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate that was right and measured faster: baseline / candidate, with its interval."""

    id: str
    ratio: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Standing:
    """What a run has reached.

    Attributes:
        baseline: id of the original text.
        improved: all that were right and measured faster, best first: by the lower end of the interval, so
            that a wide interval earns nothing.
    """

    baseline: str
    improved: tuple[Scored, ...] = ()


class Strategy(Protocol):
    """Chooses what the next round builds upon."""

    def parent(self, standing: Standing) -> str:
        """Returns the id of the candidate, or of the baseline, that the next round starts from."""
