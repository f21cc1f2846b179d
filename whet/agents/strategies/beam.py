"""Beam: the best few versions, each worked on at its hottest few places."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, islice

from whet.agents.strategies.base import Aim, SearchState

PARENTS = 2
"""Versions that a round builds upon."""
PLACES = 2
"""Hot lines of each that it works on."""


class Beam:
    """Top versions times top bottlenecks. What the Judge asks for takes the place of the best one's hottest line."""

    feedback = True

    def plan(self, state: SearchState, number: int, most: int) -> Sequence[Aim]:
        """Returns a question for each pair of version and place, the best first; then further answers to the same."""
        parents = [scored.id for scored in state.improved[:PARENTS]] or [state.baseline]
        pairs = [Aim(parent, focus=place, directed=False) for parent in parents for place in range(PLACES)]
        return list(islice(cycle([Aim(state.best), *pairs[1:]]), most))
