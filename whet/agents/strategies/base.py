"""What a strategy sees, and what it decides."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate that was right and measured faster: baseline / candidate, the interval, and the candidate's round."""

    id: str
    ratio: float
    low: float
    high: float
    round: int


@dataclass(frozen=True, slots=True)
class Tried:
    """What became of a candidate, whatever that was.

    Attributes:
        id: its id.
        parent: id of the version that it was made from.
        round: number of the round that brought it.
        source: its text.
        labels: the kinds of change that its author claims.
        correct: whether it was right.
        improved: whether it was measured faster than the original.
        low: lower end of its speedup's interval; None where it was not timed.
        ratios: its speedup by workload.
    """

    id: str
    parent: str
    round: int
    source: str
    labels: tuple[str, ...]
    correct: bool
    improved: bool
    low: float | None
    ratios: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchState:
    """What a run has reached.

    Attributes:
        baseline: id of the original text.
        improved: all that were right and measured faster, best first: by the lower end of the interval, so
            that a wide interval earns nothing.
        tried: all candidates, in the order of their rounds.
    """

    baseline: str
    improved: tuple[Scored, ...] = ()
    tried: tuple[Tried, ...] = ()

    @property
    def best(self) -> str:
        """Id of the best improved candidate, else of the baseline."""
        return self.improved[0].id if self.improved else self.baseline


@dataclass(frozen=True, slots=True)
class Aim:
    """What one answer of a round is asked for.

    Attributes:
        parent: id of the version to build upon.
        partner: id of another version, whose merits the answer shall join with the parent's.
        focus: which of the parent's hot lines to work on, 0 for the hottest, instead of what the Judge asks for. After
            the last one comes the hottest again; where there is none, the Judge's directive takes its place.
        directed: whether the question holds the Judge's directive, which is about the best version.
    """

    parent: str
    partner: str | None = None
    focus: int | None = None
    directed: bool = True


class Strategy(Protocol):
    """Chooses what the answers of a round are asked for, and whether they are told of the rounds before.

    A plan hangs on its arguments alone, so that a run that is resumed or replayed comes to the same questions.

    Attributes:
        feedback: whether what was found goes into the next round's question. Without it all rounds ask the question
            of the first, whose samples are numbered on; no Judge is asked, and only rounds and budgets end the run,
            or a model that has nothing to propose.
    """

    @property
    def feedback(self) -> bool:
        """See above."""

    def plan(self, state: SearchState, number: int, most: int) -> Sequence[Aim]:
        """Returns what the answers of a round are asked for; equal aims ask for several answers to one question.

        Args:
            state: what the rounds before have reached, without what a person rejected.
            number: of the round, from 1.
            most: answers that it may ask for. An edit of a person takes the place of the last ones.
        """


def drawn(state: SearchState, number: int) -> random.Random:
    """Returns a source of chance for one round that is the same whenever the run comes there."""
    return random.Random(hashlib.sha256(f"{state.baseline} {number}".encode()).digest())
