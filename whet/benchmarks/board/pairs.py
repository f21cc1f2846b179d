"""Two entries on the problems that both of them answered, and on those alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from statistics import fmean, stdev

from whet.benchmarks.board.entries import Entry, Leaderboard, ProblemKey, headline, score
from whet.benchmarks.suites.base import Figure

CONFIDENCE = 0.95  # share of the interval of a ratio, which the page's caption states too; a higher one widens it


@dataclass(frozen=True, slots=True)
class EntryComparison:
    """What two entries come to on their common problems.

    Attributes:
        a: the one.
        b: the other.
        common: problems that count for both, in the same revision of their data.
        figures: the headline figure of each on those; None without any.
        both: problems that both answered right, with any sample.
        only_a: that only the one answered right.
        only_b: that only the other answered right.
        ratio: geometric mean of a's speedup / b's over the problems where both have one; None where there is none.
        low: of its 95 % interval over problems; None for fewer than two.
        high: of it.
        timed: those problems.
    """

    a: Entry
    b: Entry
    common: tuple[ProblemKey, ...]
    figures: tuple[Figure, Figure] | None
    both: int
    only_a: int
    only_b: int
    ratio: float | None
    low: float | None
    high: float | None
    timed: int

    @property
    def caution(self) -> str:
        """What speaks against comparing them; empty where nothing does."""
        return "" if self.a.machine == self.b.machine else "measured on different machines: no ranking"


def pairs(standing: Leaderboard) -> Iterator[EntryComparison]:
    """Yields all pairs of entries of a suite."""

    @cache
    def figure(number: int, common: frozenset[ProblemKey]) -> Figure:
        entry = standing.entries[number - 1]
        if common == frozenset(entry.outcomes):
            return entry.headline
        rows = (one for problem, outcome in entry.outcomes.items() if problem in common for one in outcome.answers)
        return headline(score(standing.suite, rows))

    for a, b in combinations(standing.entries, 2):
        yield _pair(a, b, figure)


def _pair(a: Entry, b: Entry, figure: Callable[[int, frozenset[ProblemKey]], Figure]) -> EntryComparison:
    shared = [problem for problem in a.outcomes if problem in b.outcomes]
    common = tuple(problem for problem in shared if not (a.outcomes[problem].excluded or b.outcomes[problem].excluded))
    right = [(a.outcomes[problem].right > 0, b.outcomes[problem].right > 0) for problem in common]
    logs = [
        math.log(ours / theirs)
        for problem in common
        if (ours := a.outcomes[problem].speedup) is not None and (theirs := b.outcomes[problem].speedup) is not None
    ]
    low, high = _interval(logs)
    problems = frozenset(common)
    return EntryComparison(
        a=a,
        b=b,
        common=common,
        figures=(figure(a.number, problems), figure(b.number, problems)) if common else None,
        both=right.count((True, True)),
        only_a=right.count((True, False)),
        only_b=right.count((False, True)),
        ratio=math.exp(fmean(logs)) if logs else None,
        low=low,
        high=high,
        timed=len(logs),
    )


def _interval(logs: list[float]) -> tuple[float | None, float | None]:
    """Returns Student's interval of a mean of logarithms, as ratios."""
    if len(logs) < 2:
        return None, None
    from scipy.special import stdtrit

    half = float(stdtrit(len(logs) - 1, (1 + CONFIDENCE) / 2)) * stdev(logs) / math.sqrt(len(logs))
    return math.exp(fmean(logs) - half), math.exp(fmean(logs) + half)
