"""What stands in for the ladder where a candidate cannot run on this machine as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from whet.core.candidate import Candidate
from whet.core.profile import Profile
from whet.core.verdict import Rung
from whet.evaluators.rungs import Check


class Apart(Protocol):
    """Judges candidates as far as that goes without what they need. Safe for several threads."""

    def judges(self, candidate: Candidate) -> bool:
        """Whether a candidate is one of those."""

    def checks(self, candidate: Candidate, seed: int) -> Mapping[str, Check]:
        """Returns the rungs before measuring that it has, by name.

        Args:
            candidate: one that it judges.
            seed: of the inputs of its batch.
        """

    def untimed(self, name: str) -> Rung:
        """Returns the rung of a measurement that cannot be made."""

    def profile(self, candidate: Candidate) -> Profile:
        """Returns what is known of its costs in place of hot lines."""

    def close(self) -> None:
        """Ends what it opened."""
