"""A candidate on its way up the ladder, with the process that its rungs share."""

from __future__ import annotations

from dataclasses import dataclass

from whet.core.candidate import Candidate
from whet.evaluators.batches import Batch
from whet.evaluators.finding import Passed
from whet.evaluators.pairs import Side


@dataclass(slots=True)
class Climber:
    """A candidate on its way up.

    Attributes:
        candidate: it.
        batch: whose inputs it meets.
        side: its process, once it is built.
        watched: what its calls under a watch of registers and memory came to; None for what has no contract.
    """

    candidate: Candidate
    batch: Batch
    side: Side | None = None
    watched: Passed | None = None

    @property
    def built(self) -> Side:
        """Its process."""
        assert self.side is not None, "a candidate that does not build is not run"
        return self.side

    def close(self) -> None:
        """Ends its process."""
        if self.side is not None:
            self.side.close()
