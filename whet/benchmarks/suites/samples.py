"""What scores share: figures over problems, from their rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from whet.benchmarks.results import Row
from whet.benchmarks.suites.base import Figure
from whet.evaluators.scores.common import bootstrap, mean

Value = TypeVar("Value")


def told(row: Row, name: str, otherwise: float) -> float:
    """Returns a number of a row's own figures; ``otherwise`` where it is wrong or has none."""
    value = row.own.figures.get(name) if row.own is not None and row.own.passed else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else otherwise


def draws(samples: int, wanted: Sequence[int]) -> tuple[int, ...]:
    """Returns the k of best-of-k figures: those wanted for which every problem has as many samples."""
    return tuple(k for k in wanted if k <= samples)


def mean_figure(
    name: str,
    values: Sequence[float],
    unit: str = "",
    note: str = "",
    better: str = "higher",
    headline: bool = False,
) -> Figure:
    """Returns the mean over problems with its bootstrap interval."""
    ends = bootstrap(values)
    low, high = ends if ends is not None else (None, None)
    return Figure(name, mean(values), len(values), better, low, high, note, unit, headline)


def per_problem(kept: Mapping[str, Sequence[Row]], value: Callable[[Sequence[Row]], Value]) -> list[Value]:
    """Returns a value for each problem, from its rows."""
    return [value(rows) for rows in kept.values()]
