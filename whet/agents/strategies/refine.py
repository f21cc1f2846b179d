"""Refine: always build upon the best so far."""

from __future__ import annotations

from whet.agents.strategies.base import Standing


class Refine:
    """The parent is the best so far; a slower, broken or unproven child is never built upon."""

    def parent(self, standing: Standing) -> str:
        """Returns the id of the best improved candidate, else of the baseline."""
        return standing.improved[0].id if standing.improved else standing.baseline
