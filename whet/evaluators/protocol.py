"""What the agents see of the evaluators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from whet.core.candidate import Candidate
from whet.core.evidence import Provenance
from whet.core.profile import Profile
from whet.core.task import Task
from whet.core.verdict import Verdict


class Evaluator(Protocol):
    """Judges candidates of one task. Failures of a candidate are in its verdict, never raised."""

    @property
    def task(self) -> Task:
        """The task whose candidates it judges."""

    def validate(self) -> None:
        """Checks the baseline and its oracle; must come first.

        Raises:
            BaselineError: no verdict could rest on this baseline.
        """

    def provenance(self, keep: Callable[[str], str]) -> Provenance | None:
        """Returns what its verdicts rest on beside the texts; None where they rest on nothing that could be repeated.

        Args:
            keep: stores a text and returns its SHA-256.
        """

    def profile(self, candidate: Candidate) -> Profile:
        """Returns the hot lines of a right candidate or of the baseline."""

    def check(self, candidate: Candidate) -> Verdict:
        """Climbs the rungs before measuring. Several threads may call it at once."""

    def measure(self, candidate: Candidate, verdict: Verdict) -> Verdict:
        """Adds the measure rung to the verdict of a candidate that `check` found right."""

    def confirm(self, candidate: Candidate, verdict: Verdict) -> Verdict:
        """Adds the confirm rung: fresh processes, unseen inputs and sizes."""

    def close(self) -> None:
        """Ends all processes and removes all files that it made."""
