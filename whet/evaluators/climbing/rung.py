"""What a rung before measuring is, and the candidate that climbs it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from whet.core.candidate import Candidate
from whet.evaluators.assembly.routines import ProofBeside
from whet.evaluators.batches import Batch
from whet.evaluators.finding import Finding, Passed
from whet.evaluators.pairs import Side
from whet.evaluators.rungs import Check


@dataclass(slots=True)
class Climber:
    """A candidate on its way up.

    Attributes:
        candidate: it.
        batch: whose inputs it meets.
        side: its process, once it is built.
        proof: what looks for one beside other rungs; None where nobody asks.
        watched: what its calls under a watch of registers and memory came to; None for what has no contract.
    """

    candidate: Candidate
    batch: Batch
    side: Side | None = None
    watched: Passed | None = None
    proof: ProofBeside | None = None

    @property
    def built(self) -> Side:
        """Its process."""
        assert self.side is not None, "a candidate that does not build is not run"
        return self.side

    def close(self) -> None:
        """Ends its process, and what looks for a proof."""
        if self.proof is not None:
            self.proof.close()
        if self.side is not None:
            self.side.close()


class RungCheck(Protocol):
    """The work of one rung, for all candidates of a task. Safe for several threads.

    What it needs, as the validated baseline, is given to it when it is made. Where it stands among the others is said
    in `whet.core.rungs` alone.
    """

    @property
    def name(self) -> str:
        """Of the rung."""

    def climb(self, climber: Climber) -> Finding | None:
        """Returns what is found of a candidate that passed the rungs before.

        None says that there is nothing to check with.

        Raises:
            RungEndedError: something settled it early.
        """


def checks_of(rungs: Iterable[RungCheck], climber: Climber) -> dict[str, Check]:
    """Returns the work of rungs for one candidate, by name; see `whet.evaluators.rungs.climbed`."""
    return {rung.name: partial(rung.climb, climber) for rung in rungs}
