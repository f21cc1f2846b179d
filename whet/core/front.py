"""The Pareto front of several metrics: what is left when all that is shown to be worse is put aside."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from whet.core.measurement import Measurement, Outcome
from whet.core.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Figure:
    """One metric of one text: baseline / candidate, with its interval.

    Attributes:
        ratio: 1 for the baseline itself.
        low: lower end of the interval.
        high: upper end of the interval.
        resolution: the smallest ratio that could be told from 1.
        disturbed: whether the machine was never quiet, so that nothing is believed.
        processes: fresh processes a side; 0 for the baseline itself, as all below.
        samples: a side.
    """

    ratio: float
    low: float
    high: float
    resolution: float
    disturbed: bool
    processes: int
    samples: int

    @classmethod
    def of(cls, found: Measurement) -> Figure:
        """Returns what a measurement shows."""
        one = found.speedup
        return cls(one.ratio, one.low, one.high, found.resolution, found.disturbed, one.processes, one.samples)

    def beats(self, other: Figure) -> bool:
        """Whether it is shown to be better: the intervals lie apart, by more than either resolution."""
        if self.disturbed or other.disturbed:
            return False
        return self.low > other.high and self.ratio / other.ratio > max(self.resolution, other.resolution)


BASELINE = "baseline"
"""The origin of the original."""
ORIGINAL = Figure(1.0, 1.0, 1.0, 1.0, False, 0, 0)
"""The baseline beside itself."""


@dataclass(frozen=True, slots=True)
class FrontRow:
    """A text on the front.

    Attributes:
        candidate: its id.
        origin: who made it; `BASELINE` for the original.
        confirmed: whether it was shown better in the first metric twice, the second time on unseen inputs; the figures
            are those of the last time.
        metrics: what it came to, by the metric's name, in the order in which they were asked for.
    """

    candidate: str
    origin: str
    confirmed: bool
    metrics: Mapping[str, Figure]

    def dominates(self, other: FrontRow) -> bool:
        """Whether it is shown better in a metric, shown worse in none, and better on the whole.

        Without the last, three texts whose intervals overlap could put each other out in a circle.
        """
        pairs = [(mine, other.metrics[name]) for name, mine in self.metrics.items()]
        shown = any(mine.beats(theirs) for mine, theirs in pairs)
        worse = any(theirs.beats(mine) for mine, theirs in pairs)
        return shown and not worse and sum(math.log(mine.ratio / theirs.ratio) for mine, theirs in pairs) > 0.0


def front(baseline: str, judged: Iterable[tuple[Verdict, str]], metrics: Sequence[str]) -> tuple[FrontRow, ...]:
    """Returns the texts that no other is shown to be better than, best first; none where one metric decides alone.

    The baseline is among those compared, and each right candidate that is shown better in one of the metrics, not shown
    worse in the first, and keeps all limits.

    Args:
        baseline: id of the original.
        judged: last verdicts, each with who made the text.
        metrics: that were asked for; the first decides.
    """
    if len(metrics) < 2:
        return ()
    rows = [FrontRow(baseline, BASELINE, False, dict.fromkeys(metrics, ORIGINAL))]
    for verdict, origin in judged:
        figures = _figures(verdict, metrics)
        if figures:
            rows.append(FrontRow(verdict.candidate, origin, verdict.confirmed, figures))
    left = [row for row in rows if not any(other.dominates(row) for other in rows)]
    return tuple(sorted(left, key=lambda row: -row.metrics[metrics[0]].low))


def _figures(verdict: Verdict, metrics: Sequence[str]) -> dict[str, Figure]:
    """Returns the figures of a candidate for the front; none of one that is no such candidate."""
    found = verdict.measurement
    if found is None or not verdict.correct or found.outcome is Outcome.SLOWER or found.unkept:
        return {}
    known = {one.speedup.metric: one for one in (found, *found.beside)}
    if not any(known[name].faster for name in metrics):
        return {}
    return {name: Figure.of(known[name]) for name in metrics}
