"""Refine: always build upon the best so far."""

from __future__ import annotations

from collections.abc import Sequence

from whet.agents.strategies.base import Aim, SearchState


class Refine:
    """The parent is the best so far; a slower, broken or unproven child is never built upon."""

    feedback = True

    def plan(self, state: SearchState, number: int, most: int) -> Sequence[Aim]:
        """Returns the best improved candidate, else the baseline, as the parent of all answers."""
        return [Aim(state.best)] * most
