"""PIE's scores of rows, and its files of results."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whet.benchmarks.results import Row
from whet.benchmarks.suites.base import Figure, Score
from whet.benchmarks.suites.grouping import grouped
from whet.benchmarks.suites.jsonl import RowFault, fault, field, read_rows
from whet.benchmarks.suites.pie.rows import identity
from whet.benchmarks.suites.samples import mean_figure
from whet.core.errors import UsageError
from whet.evaluators.scores import common, pie

NAME = "pie-results.jsonl"
FIRST = "the first k samples count, as in PIE's scorer; wrong or slower is 1x"
MOST_SAMPLES = 1000
"""Samples of a row of results at most; one with more is refused. A larger bound admits longer rows."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """A row of PIE with its samples.

    Attributes:
        problem: its ``problem_id``, which several rows may share.
        source: time of the slow program, or its count.
        times: of the answers in their order; infinite for wrong ones.
    """

    problem: str
    source: float
    times: tuple[float, ...]


def score(rows: Sequence[Row]) -> Score:
    """Returns PIE's score of rows; see `whet.benchmarks.suites.base.Suite.score`."""
    found = grouped(rows)
    return scored([_sampled(samples) for samples in found.rows.values()], found.excluded)


def scored(rows: Sequence[Sampled], excluded: Mapping[str, str] | None = None) -> Score:
    """Returns PIE's figures. Each answer is compared with the slow program as it was measured beside it."""
    most = max((len(row.times) for row in rows), default=1)
    figures: list[Figure] = []
    for k in (k for k in (1 << power for power in range(11)) if k <= most):
        speedups = [pie.speedup(row.source, row.times, k) for row in rows]
        figures.append(_optimised(f"%OPT@{k}", speedups, pie.OPTIMISED, headline=k == 1))
        figures.append(mean_figure(f"SPEEDUP@{k}", speedups, "x", f"{FIRST}; {_apart(speedups)}"))
        figures.append(_share(f"%CORRECT@{k}", [any(map(math.isfinite, row.times[:k])) for row in rows]))
    best = [pie.speedup(row.source, row.times, most) for row in rows]
    figures += [_optimised(f"%OPT>={bar:g}x@{most}", best, bar) for bar in pie.THRESHOLDS[1:]]
    sources, times = [row.source for row in rows], [min(row.times, default=math.inf) for row in rows]
    pool = pie.best_over_submissions([row.problem for row in rows], sources, [row.times for row in rows])
    figures.append(mean_figure("SPEEDUP over all submissions", pool, "x", "the best answer to any row of a problem_id"))
    note = f"SBLLM's: below 0.9 of the time, best of {most}"
    figures.append(Figure("SBLLM OPT", pie.sbllm_percent_optimised(sources, times), len(rows), note=note, unit="%"))
    figures.append(Figure("SBLLM SP", pie.sbllm_percent_speedup(sources, times), len(rows), note="mean gain", unit="%"))
    failed = sum(not any(map(math.isfinite, row.times)) for row in rows)
    return Score(tuple(figures), common.spread(best), failed, excluded or {})


def export(rows: Sequence[Row], folder: Path) -> Path:
    """Writes the rows as PIE's evaluation does: a line a program, with the columns of each of its answers."""
    kept = grouped(rows).rows
    file = folder / NAME
    with file.open("w", encoding="utf-8") as stream:
        for name, samples in kept.items():
            sampled = _sampled(samples)
            line: dict[str, Any] = {
                **dict(zip(("src_id", "tgt_id"), name.split("-", 1), strict=False)),
                "problem_id": sampled.problem,
                "src_code_agg_runtime": sampled.source,
                "generated_answers": [row.answer for row in samples],
            }
            for number, (row, time) in enumerate(zip(samples, sampled.times, strict=True)):
                line[f"generated_answers_{number}_accuracy"] = row.own.figures.get("accuracy", 0.0) if row.own else 0.0
                line[f"generated_answers_{number}_agg_runtime"] = None if math.isinf(time) else time
            stream.write(f"{json.dumps(line)}\n")
    return file


def imported(file: Path) -> Score | None:
    """Returns the score of a file of PIE's results; None where it is none.

    Raises:
        UsageError: it is one, and a row of it cannot be read.
    """
    if not file.name.removesuffix(".gz").endswith((".jsonl", ".report")):
        return None
    faults: list[str] = []
    rows: list[Sampled] = []
    for line, row in read_rows(file, faults):
        if "src_code_agg_runtime" not in row and not rows:
            return None
        try:
            identity(row)
            rows.append(_read(row))
        except RowFault as why:
            faults.append(fault(file, line, why))
    if faults and rows:
        raise UsageError(faults[0])
    return scored(rows) if rows else None


def _sampled(samples: Sequence[Row]) -> Sampled:
    """Returns the samples of one row, whose times are scaled to one time of the slow program."""
    owns = [row.own for row in samples]
    measured = [own.figures for own in owns if own is not None and own.passed]
    source = measured[0]["source"] if measured else math.nan
    times = tuple(
        source * own.figures["answer"] / own.figures["source"] if own is not None and own.passed else math.inf
        for own in owns
    )
    named = next((str(own.figures["problem_id"]) for own in owns if own and "problem_id" in own.figures), "")
    return Sampled(named or samples[0].problem, source if measured else 1.0, times)


def _read(row: dict[str, Any]) -> Sampled:
    source = field(row, "src_code_agg_runtime", float)
    if not 0 < source < math.inf:
        raise RowFault("src_code_agg_runtime is no time")
    times: list[float] = []
    while (column := f"generated_answers_{len(times)}_accuracy") in row:
        if len(times) == MOST_SAMPLES:
            raise RowFault(f"it has more than {MOST_SAMPLES} samples")
        accuracy = field(row, column, float)
        time = row.get(f"generated_answers_{len(times)}_agg_runtime")
        right = accuracy >= 1.0 and isinstance(time, int | float) and 0 < time < math.inf
        times.append(float(time) if right and time is not None else math.inf)
    return Sampled(field(row, "problem_id", str), source, tuple(times))


def _optimised(name: str, speedups: Sequence[float], bar: float, headline: bool = False) -> Figure:
    note = f"{FIRST}; {bar:g}x is reached at {bar:g}x"
    return _share(name, [value >= bar for value in speedups], note, headline)


def _share(name: str, held: Sequence[bool], note: str = "", headline: bool = False) -> Figure:
    interval = common.proportion_interval(sum(held), len(held))
    low, high = (100.0 * interval.low, 100.0 * interval.high) if interval else (None, None)
    return Figure(name, 100.0 * common.mean(map(float, held)), len(held), "higher", low, high, note, "%", headline)


def _apart(values: Sequence[float]) -> str:
    """Returns the geometric mean, and how far one row moves the mean, in words."""
    ends = common.leave_one_out(values)
    without = f"; {ends.low:.3g} to {ends.high:.3g} without any one row" if ends else ""
    return f"geometric mean {common.geometric_mean(values):.3g}{without}"
