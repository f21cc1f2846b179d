"""Best-of: independent samples of the original, and the best of them."""

from __future__ import annotations

from collections.abc import Sequence

from whet.agents.strategies.base import Aim, SearchState


class BestOf:
    """Every candidate is a sample of its own of one question: nothing that was found feeds back."""

    feedback = False

    def plan(self, state: SearchState, number: int, most: int) -> Sequence[Aim]:
        """Returns the baseline as the parent of all answers."""
        return [Aim(state.baseline)] * most
