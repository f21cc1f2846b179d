"""Where things stand in the curve of the best.

Places along the page are percentages, so that a drawing widens with its column while its text keeps its size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from whet.benchmarks.pages.scale import Scale

HEIGHT, TOP = 180.0, 14.0
"""Of the curve's field, in pixels."""
FIRST, LAST = 9.0, 98.0
"""Where the curve begins and ends; labels stand before it."""


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line: across in percent, down in pixels."""

    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True)
class Dot:
    """One candidate of the curve; ``y`` is None for one that was not timed."""

    number: int
    x: float
    y: float | None
    kind: str


@dataclass(frozen=True, slots=True)
class Curve:
    """The best so far over the candidates.

    Attributes:
        lines: the steps.
        dots: the candidates.
        ticks: the marked values, with their height.
    """

    lines: tuple[Line, ...]
    dots: tuple[Dot, ...]
    ticks: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Point:
    """What the curve shows of a candidate: its ratio, None where it was not timed; ``kind`` is how it is drawn."""

    number: int
    ratio: float | None
    counts: bool
    kind: str


def curve(points: Sequence[Point]) -> Curve:
    """Draws the best so far: it begins at the baseline, and rises with each candidate that counts and is better."""
    scale = Scale.over(point.ratio for point in points if point.ratio is not None)

    def height(ratio: float) -> float:
        return round(TOP + (1 - scale.share(ratio)) * HEIGHT, 1)

    best, since = 1.0, FIRST
    lines, dots = [], []
    for place, point in enumerate(points):
        x = round(FIRST + (LAST - FIRST) * (place + 1) / (len(points) + 1), 2)
        dots.append(Dot(point.number, x, None if point.ratio is None else height(point.ratio), point.kind))
        if point.counts and point.ratio is not None and point.ratio > best:
            lines += [Line(since, height(best), x, height(best)), Line(x, height(best), x, height(point.ratio))]
            best, since = point.ratio, x
    lines.append(Line(since, height(best), LAST, height(best)))
    return Curve(tuple(lines), tuple(dots), tuple((tick, height(tick)) for tick in scale.ticks))
