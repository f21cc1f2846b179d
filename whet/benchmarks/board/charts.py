"""Where things stand in the drawings of a leaderboard: score against cost, fast_p, distributions of speedups.

Curves are paths in a square of `SIDE`, which the page stretches; dots and words have places in percent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import quantiles

from whet.benchmarks.board.answers import MOST, AnswerKind
from whet.benchmarks.board.entries import OWN, Entry, Leaderboard, speedup
from whet.benchmarks.pages.scale import Scale

SIDE = 1000
"""Units of a side of the square: places are rounded to a thousandth of it. More make finer curves and longer paths."""
BINS = 40
"""Bars of a distribution. More are narrower and hold fewer answers each; `SIDE` // `BINS` has to exceed the gap of 3
units."""
AT = (0.0, 1.0, 1.5, 2.0, 5.0, 10.0)
"""Speedups at which fast_p stands in a table."""
FREE = 0.1
"""Share of the axis of cost that is left for what cost nothing; the rest is logarithmic."""
ROOM = 1.5
"""Beyond the cheapest and the dearest, as a factor."""
MARKS = 5  # steps that the values of an axis span at most; more mark it more finely, and stand closer together
NEAR = 4.0
"""Percent between two dots whose numbers would cover each other."""


@dataclass(frozen=True, slots=True)
class Curve:
    """fast_p of one entry.

    Attributes:
        entry: whose.
        path: for the attribute ``d``.
        values: at each of `AT`.
        n: problems in the denominator.
    """

    entry: Entry
    path: str
    values: tuple[float, ...]
    n: int


@dataclass(frozen=True, slots=True)
class Spread:
    """How the speedups of one entry are distributed over its timed right answers.

    Attributes:
        entry: whose.
        path: of the bars.
        five: minimum, quartiles and maximum.
        n: of them.
    """

    entry: Entry
    path: str
    five: tuple[float, ...]
    n: int


@dataclass(frozen=True, slots=True)
class Dot:
    """One entry of the drawing of score against cost: places in percent, from the left and from the top.

    Attributes:
        entry: whose.
        x: of its cost.
        y: of its score.
        low: of the lower end of the score's interval, if it has one.
        high: of the upper end.
        below: whether its number stands below it, for another dot is near.
    """

    entry: Entry
    x: float
    y: float
    low: float | None
    high: float | None
    below: bool = False


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing with its marked values, and their places in percent."""

    curves: tuple[Curve, ...] = ()
    spreads: tuple[Spread, ...] = ()
    dots: tuple[Dot, ...] = ()
    across: tuple[tuple[float, float], ...] = ()
    up: tuple[tuple[float, float], ...] = ()
    one: float = 0.0


def fast_p(standing: Leaderboard) -> Drawing:
    """Draws the share of problems answered right and more than p times as fast, over p.

    fast_p = (1/N) sum over the N problems that count of the share of samples with a right answer and a speedup > p,
    which with one sample a problem is KernelBench's.
    """
    own = standing.speedups == OWN
    found = [(entry, *_weights(entry, own=own)) for entry in standing.entries]
    scale = Scale.over(ratio for _, weights, _ in found for ratio, _ in weights)
    curves = tuple(
        Curve(entry, _steps(weights, scale), tuple(_above(entry, weights, p) for p in AT), n)
        for entry, weights, n in found
        if n
    )
    return Drawing(
        curves=curves,
        across=tuple((tick, scale.percent(tick)) for tick in scale.ticks),
        up=tuple((share / 4, 100 - 25.0 * share) for share in range(5)),
        one=scale.percent(1.0),
    )


def spreads(standing: Leaderboard) -> Drawing:
    """Draws how many of each entry's right answers have which speedup; bars of each entry have their own height."""
    own = standing.speedups == OWN
    found = [
        (entry, sorted(ratio for answer in entry.answers if (ratio := speedup(answer, own=own)) is not None))
        for entry in standing.entries
    ]
    scale = Scale.over(ratio for _, ratios in found for ratio in ratios)
    return Drawing(
        spreads=tuple(
            Spread(entry, _bars(ratios, scale), _five(ratios), len(ratios)) for entry, ratios in found if ratios
        ),
        across=tuple((tick, scale.percent(tick)) for tick in scale.ticks),
        one=scale.percent(1.0),
    )


def score_against_cost(standing: Leaderboard) -> Drawing:
    """Draws each entry's headline figure over what its models cost; entries of an unknown price are left out."""
    priced = [entry for entry in standing.entries if entry.cost.usd_complete and _drawable(entry.headline.value)]
    costs = [entry.cost.usd for entry in priced if entry.cost.usd > 0]
    if not costs:
        return Drawing()
    scale = Scale(min(costs) / ROOM, max(costs) * ROOM)
    ends = [
        value
        for entry in priced
        for value in (entry.headline.value, entry.headline.low, entry.headline.high)
        if value is not None and _drawable(value)
    ]
    ticks = _round_values(min(0.0, *ends), max(ends))

    def across(cost: float) -> float:
        return round(100 * (FREE + (1 - FREE) * scale.share(cost)), 2) if cost > 0 else 0.0

    def down(value: float | None) -> float | None:
        if value is None or not _drawable(value):
            return None
        return round(100 * (1 - (value - ticks[0]) / (ticks[-1] - ticks[0])), 2)

    dots: list[Dot] = []
    for entry in priced:
        figure = entry.headline
        x, y = across(entry.cost.usd), down(figure.value) or 0.0
        near = any(abs(dot.x - x) < NEAR and abs(dot.y - y) < 2 * NEAR for dot in dots)
        dots.append(Dot(entry, x, y, down(figure.low), down(figure.high), below=near))
    return Drawing(
        dots=tuple(dots),
        across=((0.0, 0.0), *((tick, across(tick)) for tick in scale.ticks)),
        up=tuple((tick, down(tick) or 0.0) for tick in ticks),
    )


def _drawable(value: float) -> bool:
    return math.isfinite(value) and abs(value) <= MOST


def _weights(entry: Entry, *, own: bool) -> tuple[list[tuple[float, float]], int]:
    """Returns (speedup, share of its problem's samples) of all timed right answers, ascending, and the problems."""
    counted = [outcome for outcome in entry.outcomes.values() if not outcome.excluded]
    weights = [
        (ratio, 1.0 / (len(outcome.answers) * len(counted)))
        for outcome in counted
        for answer in outcome.answers
        if (ratio := speedup(answer, own=own)) is not None
    ]
    return sorted(weights), len(counted)


def _above(entry: Entry, weights: Sequence[tuple[float, float]], p: float) -> float:
    if p == 0.0:
        counted = [outcome for outcome in entry.outcomes.values() if not outcome.excluded]
        return math.fsum(
            sum(answer.kind is AnswerKind.RIGHT for answer in outcome.answers) / len(outcome.answers)
            for outcome in counted
        ) / len(counted)
    return math.fsum(weight for ratio, weight in weights if ratio > p)


def _steps(weights: Sequence[tuple[float, float]], scale: Scale) -> str:
    left = math.fsum(weight for _, weight in weights)
    parts, at = [f"M0 {_down(left)}"], 0
    for ratio, weight in weights:
        left -= weight
        x = round(SIDE * scale.share(ratio))
        if x == at and len(parts) > 1:
            parts[-1] = f"V{_down(left)}"
        else:
            parts += [f"H{x}", f"V{_down(left)}"]
        at = x
    return "".join([*parts, f"H{SIDE}"])


def _down(share: float) -> int:
    return round(SIDE * (1 - share))


def _bars(ratios: Sequence[float], scale: Scale) -> str:
    counts = [0] * BINS
    for ratio in ratios:
        counts[min(BINS - 1, int(BINS * scale.share(ratio)))] += 1
    wide, most = SIDE // BINS, max(counts)
    tall = [round(SIDE * number / most) for number in counts]
    return "".join(f"M{at * wide} {SIDE}v-{up}h{wide - 3}v{up}z" for at, up in enumerate(tall) if up)


def _five(ratios: Sequence[float]) -> tuple[float, ...]:
    inner = quantiles(ratios, n=4, method="inclusive") if len(ratios) > 1 else [ratios[0]] * 3
    return (ratios[0], *inner, ratios[-1])


def _round_values(low: float, high: float) -> list[float]:
    """Returns round values from at most the lowest to at least the highest."""
    span = (high - low) or abs(high) or 1.0
    unit = 10.0 ** math.floor(math.log10(span / MARKS))
    step = next(step * unit for step in (1, 2, 5, 10) if span / (step * unit) <= MARKS)
    first, last = math.floor(low / step), math.ceil((low + span) / step)
    return [float(f"{number * step:.6g}") for number in range(first, last + 1)]
