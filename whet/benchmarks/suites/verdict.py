"""Figures of whet's own verdict over problems, whatever the suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from whet.benchmarks.results import Row
from whet.benchmarks.suites.base import Figure
from whet.benchmarks.suites.grouping import Grouped
from whet.core.result import Status
from whet.evaluators.scores.common import Mean, bootstrap, geometric_mean, mean


def confirmed(result: Mapping[str, Any] | None) -> float:
    """Returns the speedup that a verdict confirms; 1.0 for whatever it does not."""
    if result is None or result["status"] != Status.IMPROVED or result["speedup"] is None:
        return 1.0
    return float(result["speedup"]["ratio"])


def per_problem(group: Grouped) -> list[float]:
    """Returns the geometric mean over the samples of each problem: what one answer gives, in the middle."""
    return [geometric_mean([confirmed(row.result) for row in rows]) for rows in group.rows.values()]


def speedup(group: Grouped, headline: bool = False) -> Figure:
    """Returns the geometric mean of confirmed speedups over problems, failures among them as 1.0."""
    values = per_problem(group)
    around = bootstrap(values, Mean.GEOMETRIC)
    return Figure(
        "speedup",
        geometric_mean(values),
        len(values),
        low=None if around is None else around.low,
        high=None if around is None else around.high,
        unit="x",
        headline=headline,
    )


def improved(group: Grouped) -> Figure:
    """Returns the share of answers that were shown to be faster, over problems."""
    return Figure("improved", 100 * mean(_share(rows) for rows in group.rows.values()), len(group.rows), unit="%")


def _share(rows: Sequence[Row]) -> float:
    return mean(row.result is not None and row.result["status"] == Status.IMPROVED for row in rows)
