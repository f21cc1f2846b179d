"""A version that somebody knows to be good: a mark to end at. It is timed like a candidate, and shown to no model."""

from __future__ import annotations

from dataclasses import dataclass

from whet.agents.evaluations import Evaluations
from whet.core.candidate import Candidate
from whet.prompts import times

ORIGIN = "known best"
REACHED = 0.95
"""Share of its speedup from which nothing is left to gain that is known of, as of a roofline. On a noisy machine, where
little can be told from anything, a version that comes to less is not yet as good."""


@dataclass(frozen=True, slots=True)
class KnownBest:
    """The best known version of a run's target.

    Attributes:
        evaluations: of the run.
        id: of its text.
    """

    evaluations: Evaluations
    id: str

    @staticmethod
    def of(evaluations: Evaluations, source: str) -> KnownBest:
        """Makes a text known to the evaluations, as no candidate of the run."""
        candidate = Candidate(source, evaluations.baseline.id, ORIGIN)
        evaluations.know(candidate)
        return KnownBest(evaluations, candidate.id)

    def measure(self) -> str:
        """Takes it up the ladder, where that was not done; returns what came of it, as a line."""
        self.evaluations.announce([self.id])
        if self.evaluations.check(self.id).correct:
            self.evaluations.measure(self.id)
        verdict = self.evaluations.verdict(self.id)
        if verdict is None or not verdict.improved or verdict.measurement is None:
            return "the known best was not shown to be any better; it ends nothing"
        return f"the known best comes to {times(verdict.measurement.speedup.ratio)}"

    def reached(self, best: str) -> str:
        """Returns why a version comes up to it, by the ratios that both were measured at; empty where it does not.

        Args:
            best: id of a candidate that was shown better than the original.
        """
        known, found = (self.evaluations.verdict(id) for id in (self.id, best))
        if known is None or not known.improved or found is None:
            return ""
        assert known.measurement is not None, "it was measured"
        assert found.measurement is not None, "it was measured"
        ratio, goal = found.measurement.speedup.ratio, known.measurement.speedup.ratio
        if ratio < REACHED * goal:
            return ""
        return f"the best version comes up to the known best: {times(ratio)} against {times(goal)}"
