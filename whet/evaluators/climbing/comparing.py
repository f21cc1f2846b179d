"""Compares candidates with a validated baseline, on inputs that follow from a seed."""

from __future__ import annotations

from contextlib import closing

from whet.core.candidate import Candidate
from whet.evaluators.artifacts import Builder
from whet.evaluators.baseline import Baseline
from whet.evaluators.comparison import compared
from whet.evaluators.examination import Examination
from whet.evaluators.finding import Inconclusive, Passed
from whet.evaluators.hidden_state import Elsewhere
from whet.evaluators.inputs.source import InputSource
from whet.evaluators.oracle import Oracle
from whet.evaluators.pairs import Side

Compared = Passed | Inconclusive


class Comparing:
    """Safe for several threads. A candidate that differs ends its rung, by a `RungEndedError`."""

    def __init__(
        self, builder: Builder, source: InputSource, oracle: Oracle, baseline: Baseline, explain: bool
    ) -> None:
        """Runs nothing yet.

        Args:
            builder: builds the candidates.
            source: draws the inputs.
            oracle: compares two outcomes.
            baseline: that they are compared with.
            explain: whether the smallest input that shows a fault is looked for.
        """
        self._builder = builder
        self._source = source
        self._oracle = oracle
        self._baseline = baseline
        self._explain = explain

    def examination(self, seed: int, hash_seed: int) -> Examination:
        """Returns what the baseline makes of the inputs of a seed; to be closed."""
        baseline = self._baseline
        return Examination(baseline.artifact, self._source, seed, hash_seed, baseline.limit, baseline.costs)

    def compared(self, examination: Examination, theirs: Side, elsewhere: Elsewhere | None) -> Compared:
        """See `whet.evaluators.comparison.compared`."""
        task, strengthened = self._builder.task, self._baseline.strengthened
        return compared(task, examination, theirs, self._oracle, elsewhere, self._explain, strengthened)

    def alone(self, candidate: Candidate, seed: int, hash_seed: int) -> Compared:
        """Compares a candidate that builds, on inputs that no other meets.

        They come again in a process that is no fork.
        """
        examination = self.examination(seed, hash_seed)
        theirs = Side(self._builder.built(candidate.source), hash_seed)
        with closing(examination), closing(theirs):
            return self.compared(examination, theirs, None)
