"""Scores of suites as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from whet.benchmarks.runner.standings import Standing, Standings
from whet.benchmarks.suites.base import Figure
from whet.core.text import count, one_line

HEADS = ("model", "strategy", "budget", "score", "95 % interval", "n", "median", "quartiles", "worst", "failed", "whet")
MOST_EXCLUDED = 20
"""Excluded problems that are listed; all of them stand in the JSON document."""


def table(found: Standings) -> Iterator[str]:
    """Yields the lines of a table for each suite and kind of machine, with what has to be known beside it."""
    for (suite, machine), group in groupby(found.standings, lambda one: (one.suite, one.machine)):
        standings = list(group)
        yield f"{suite}: {standings[0].headline.name}" + (f", on {one_line(machine)}" if machine else "")
        yield from _aligned([HEADS, *map(_cells, standings)])
        for standing in standings:
            yield from _more(standing)
        yield ""
    for warning in found.warnings:
        yield f"warning: {one_line(warning)}"


def _cells(standing: Standing) -> tuple[str, ...]:
    figure, score = standing.headline, standing.score
    worst, low, median, high, _ = score.spread or (float("nan"),) * 5
    names = (one_line(name, 40) or "-" for name in (standing.model, standing.strategy, standing.budget))
    return (
        *names,
        _value(figure),
        _interval(figure),
        str(figure.n),
        *((f"{median:.3g}", f"{low:.3g} to {high:.3g}", f"{worst:.3g}") if score.spread else ("-",) * 3),
        str(score.failed),
        "-" if standing.verdict is None else _value(standing.verdict),
    )


def _more(standing: Standing) -> Iterator[str]:
    name, score = one_line(standing.model, 40), standing.score
    for figure in score.figures:
        if not figure.headline:
            around = f" ({_interval(figure)})" if figure.low is not None else ""
            yield f"  {name}: {one_line(figure.name)} {_value(figure)}{around}, n = {figure.n}"
    for figure in score.figures:
        if figure.note:
            yield f"  {name}: {one_line(figure.name)}: {one_line(figure.note)}"
    if standing.usd or standing.tokens:
        yield f"  {name}: {standing.usd:.4f} USD, {count(standing.tokens, 'token')}"
    if standing.unproved:
        yield f"  {name}: {count(standing.unproved, 'row')} of {standing.rows} without evidence"
    for id, why in list(score.excluded.items())[:MOST_EXCLUDED]:
        yield f"  {name}: {one_line(id, 60)} is excluded: {one_line(why, 200)}"
    if len(score.excluded) > MOST_EXCLUDED:
        yield f"  {name}: {count(len(score.excluded) - MOST_EXCLUDED, 'more problem')} excluded; --json lists them"


def _value(figure: Figure) -> str:
    if figure.value != figure.value:
        return "-"
    return f"{figure.value:.4g}{_unit(figure.unit)}"


def _interval(figure: Figure) -> str:
    if figure.low is None or figure.high is None:
        return "-"
    return f"{figure.low:.4g} to {figure.high:.4g}{_unit(figure.unit)}"


def _unit(unit: str) -> str:
    return unit if unit in ("", "x") else f" {unit}"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
