"""What the agents see of the evaluators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from whet.core.candidate import Candidate
from whet.core.circumstances import Circumstances
from whet.core.evidence import Provenance
from whet.core.helpers import Helpers
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

    def circumstances(self) -> Circumstances:
        """Returns where its candidates run, and on what."""

    def profile(self, candidate: Candidate) -> Profile:
        """Returns the hot lines of a right candidate or of the baseline."""

    def announce(self, candidates: Sequence[Candidate]) -> None:
        """Says which candidates are checked next, before any of them is.

        They meet the same inputs, which are drawn only now that all of them exist; the same candidates announced
        again, as a resumed run does, meet the same again. Whatever is built from a verdict on one of them (a prompt
        that quotes a counterexample) must come after the check of the last: it shows what the others still meet.
        A candidate that nobody announced meets inputs of its own.
        """

    def check(self, candidate: Candidate) -> Verdict:
        """Climbs the rungs before measuring. Several threads may call it at once."""

    def helpers(self, candidate: Candidate, verdict: Verdict) -> Helpers:
        """Returns which function of a candidate that `check` found wrong is the lowest wrong one, as far as that can be
        told; it changes no verdict. It shows inputs of the kind that others still meet: see `announce`.
        """

    def measure(self, candidate: Candidate, verdict: Verdict, *, looks: int | None = None) -> Verdict:
        """Adds the measure rung to the verdict of a candidate that `check` found right.

        Args:
            candidate: what is measured.
            verdict: of `check`; or of this, which was undecided after fewer looks: its turns count.
            looks: after how many looks it may end undecided (`Measurement.undecided`); None for the whole of it.
        """

    def confirm(self, candidate: Candidate, verdict: Verdict) -> Verdict:
        """Adds the confirm rung: fresh processes, unseen inputs and sizes."""

    def close(self) -> None:
        """Ends all processes and removes all files that it made."""


class Verifier(Evaluator, Protocol):
    """Judges a rewrite that somebody asked about, too."""

    def screen(self, candidate: Candidate) -> Verdict:
        """Climbs the rungs that need no validated baseline; may come before `validate`.

        Returns:
            a verdict that is final where it failed, and has no rungs where nothing can be told so early.

        Raises:
            BaselineError: candidate and baseline cannot be built, or loaded.
        """

    def measure_alone(self, candidate: Candidate, verdict: Verdict) -> Verdict:
        """Adds the measure rung as `measure` does, for a rewrite that has no rivals: it is not cut short."""
