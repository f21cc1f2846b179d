"""The front of several metrics, as a report draws it: the first metric along the page, the second up it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from whet.benchmarks.pages.scale import Scale
from whet.cli.report.charts import FIRST, HEIGHT, LAST, TOP, Line
from whet.cli.report.story import CandidateStory, Story
from whet.core.front import BASELINE, ORIGINAL, Figure


@dataclass(frozen=True, slots=True)
class Row:
    """One text that was measured in all metrics.

    Attributes:
        number: of the candidate; 0 for the original.
        origin: who made it.
        metrics: its figures by the metric's name.
        stays: whether it stands on the front.
        kind: how it is drawn.
    """

    number: int
    origin: str
    metrics: Mapping[str, Figure]
    stays: bool
    kind: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A text in the drawing: its place, and its two intervals."""

    row: Row
    x: float
    y: float
    spans: tuple[Line, Line]


@dataclass(frozen=True, slots=True)
class Scatter:
    """The drawing.

    Attributes:
        across: name of the metric along the page.
        up: name of the one up it.
        marks: the texts.
        columns: the marked values across, with their place in percent.
        lines: those up, with their place in pixels.
    """

    across: str
    up: str
    marks: tuple[Mark, ...]
    columns: tuple[tuple[float, float], ...]
    lines: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Front:
    """What a report shows of several metrics.

    Attributes:
        names: of the metrics, in the order in which they were asked for.
        rows: those on the front first, each part best first.
        scatter: of the first two metrics.
        scale: the axis on which all intervals are drawn.
    """

    names: tuple[str, ...]
    rows: tuple[Row, ...]
    scatter: Scatter
    scale: Scale


def front_of(told: Story) -> Front | None:
    """Returns the front of a run that is over and was asked for several metrics; None of any other."""
    found = told.result.get("front") if told.result is not None else None
    if not found:
        return None
    names, stays = tuple(found[0]["metrics"]), {one["candidate"] for one in found}
    original = Row(
        0, "the original", dict.fromkeys(names, ORIGINAL), any(one["origin"] == BASELINE for one in found), "timed"
    )
    rows = [original, *(row for trial in told.trials if (row := _row(trial, names, trial.id in stays)))]
    rows.sort(key=lambda row: (not row.stays, -row.metrics[names[0]].low))
    return Front(names, tuple(rows), _scatter(rows, names[0], names[1]), Scale.over(_ends(rows, *names)))


def _row(trial: CandidateStory, names: tuple[str, ...], stays: bool) -> Row | None:
    if trial.last is None or trial.kind == "wrong":
        return None
    known = {one.speedup.metric: Figure.of(one) for one in (trial.last, *trial.last.beside)}
    if not known.keys() >= set(names):
        return None
    kind = trial.kind if trial.kind == "winner" else "better" if stays else "timed"
    return Row(trial.number, trial.origin, {name: known[name] for name in names}, stays, kind)


def _scatter(rows: list[Row], across: str, up: str) -> Scatter:
    wide, high = (Scale.over(_ends(rows, name)) for name in (across, up))

    def x(ratio: float) -> float:
        return round(FIRST + (LAST - FIRST) * wide.share(ratio), 2)

    def y(ratio: float) -> float:
        return round(TOP + (1 - high.share(ratio)) * HEIGHT, 1)

    def mark(row: Row) -> Mark:
        one, other = row.metrics[across], row.metrics[up]
        spans = (
            Line(x(one.low), y(other.ratio), x(one.high), y(other.ratio)),
            Line(x(one.ratio), y(other.low), x(one.ratio), y(other.high)),
        )
        return Mark(row, x(one.ratio), y(other.ratio), spans)

    return Scatter(
        across,
        up,
        tuple(map(mark, rows)),
        tuple((tick, x(tick)) for tick in wide.ticks),
        tuple((tick, y(tick)) for tick in high.ticks),
    )


def _ends(rows: list[Row], *names: str) -> Iterator[float]:
    for figure in (row.metrics[name] for row in rows for name in names):
        yield from (figure.low, figure.high)
