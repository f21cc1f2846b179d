"""What files of results come to: a score for each model, strategy, budget and kind of machine on each suite."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whet.benchmarks.results import Row
from whet.benchmarks.runner.rows import is_rows, read_rows, uncollected
from whet.benchmarks.suites import verdict
from whet.benchmarks.suites.base import Figure, Score
from whet.benchmarks.suites.grouping import grouped
from whet.benchmarks.suites.registry import MODULES, suite_named
from whet.core.errors import UsageError
from whet.core.plain import to_plain

SCHEMA = "whet.bench.score/1"


@dataclass(frozen=True, slots=True)
class Standing:
    """The score of one model, strategy and budget on one suite and one kind of machine.

    Attributes:
        suite: its name.
        model: that answered; for a suite's own file of results the file's name.
        strategy: that it worked under.
        budget: its caps.
        machine: the kind that all its rows were measured on; empty for a suite's own file of results, which says none.
        score: by the suite's own definition.
        verdict: whet's own speedup beside it; None where whet judged nothing.
        rows: answers.
        unproved: rows with a verdict and without evidence.
        usd: what the model cost.
        tokens: that went to and fro.
    """

    suite: str
    model: str
    strategy: str
    budget: str
    machine: str
    score: Score
    verdict: Figure | None = None
    rows: int = 0
    unproved: int = 0
    usd: float = 0.0
    tokens: int = 0

    @property
    def headline(self) -> Figure:
        """The figure that it is ranked by."""
        return next(figure for figure in self.score.figures if figure.headline)


@dataclass(frozen=True, slots=True)
class Standings:
    """What files come to.

    Attributes:
        standings: by suite and kind of machine, the best of each first.
        warnings: what a reader has to know before comparing them, a line each.
    """

    standings: tuple[Standing, ...]
    warnings: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Returns the document as plain JSON data."""
        document = {"schema": SCHEMA, **to_plain(self)}
        # JSON has no NaN: a figure of nothing is null.
        plain: dict[str, Any] = json.loads(json.dumps(document), parse_constant=lambda name: None)
        return plain


def scored(files: Sequence[Path]) -> Standings:
    """Returns what files of rows, and of suites' own results, come to.

    Raises:
        UsageError: a file cannot be read, or is neither.
    """
    with uncollected():
        return _scored(files)


def _scored(files: Sequence[Path]) -> Standings:
    rows: list[Row] = []
    warnings: list[str] = []
    others: list[Standing] = []
    for file in files:
        if not file.is_file():
            raise UsageError(f"{file}: no such file")
        if is_rows(file):
            found = read_rows(file)
            rows += found.rows
            warnings += [f"{file}: {fault}; left out" for fault in found.faults]
        else:
            others.append(_imported(file))
    if len({(row.key, row.machine.kind) for row in rows}) != len(rows):
        raise UsageError("two of the files hold a row of the same answer on the same machine; give one of them")
    standings = [*standings_of(rows), *others]
    if not standings:
        raise UsageError("the files hold no rows")
    return Standings(tuple(ranked(standings)), (*warnings, *_unlike(standings), *_revisions(rows)))


def _imported(file: Path) -> Standing:
    for name in MODULES:
        score = suite_named(name).imported(file)
        if score is not None:
            return Standing(name, file.name, "", "", "", score)
    raise UsageError(f"{file} holds neither rows of whet bench run nor results of a suite that whet reads")


def standings_of(rows: Iterable[Row]) -> list[Standing]:
    """Returns the standing of each model, strategy and budget on each suite and kind of machine."""
    groups: dict[tuple[str, str, str, str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.suite, row.model, row.strategy, row.budget, row.machine.kind), []).append(row)
    return [
        Standing(
            *names,
            score=_score(names[0], of),
            verdict=verdict.speedup(grouped(of)) if any(row.result is not None for row in of) else None,
            rows=len(of),
            unproved=sum(row.result is not None and not row.evidence for row in of),
            usd=sum(row.cost.usd for row in of),
            tokens=sum(row.cost.tokens.input + row.cost.tokens.output for row in of),
        )
        for names, of in groups.items()
    ]


def _score(suite: str, rows: Sequence[Row]) -> Score:
    try:
        return suite_named(suite).score(rows)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        # What a suite's figures hold is its own affair, and a stranger may have written them.
        raise UsageError(f"the rows of {suite} hold other figures than its own rule gives: {error!r:.200}") from None


def ranked(standings: Iterable[Standing]) -> list[Standing]:
    """Returns standings by suite and kind of machine, the best of each first."""
    return sorted(standings, key=_rank)


def _rank(standing: Standing) -> tuple[str, str, bool, float]:
    figure = standing.headline
    value = figure.value if figure.better == "lower" else -figure.value
    return standing.suite, standing.machine, figure.value != figure.value, 0.0 if value != value else value


def _unlike(standings: Sequence[Standing]) -> Iterator[str]:
    for suite in sorted({standing.suite for standing in standings}):
        kinds = sorted({one.machine for one in standings if one.suite == suite and one.machine})
        if len(kinds) > 1:
            yield f"{suite}: rows of unlike machines, which are not ranked together: {'; '.join(kinds)}"


def _revisions(rows: Iterable[Row]) -> Iterator[str]:
    known: dict[tuple[str, str], str] = {}
    differing = {row.suite for row in rows if known.setdefault((row.suite, row.problem), row.data) != row.data}
    yield from (f"{suite}: rows of different revisions of the suite's data" for suite in sorted(differing))
