"""ParEval's scores of rows, and its files of results."""

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
from whet.benchmarks.suites.pareval.rows import MODELS
from whet.benchmarks.suites.samples import mean_figure
from whet.core.errors import UsageError
from whet.evaluators.scores import common, pareval

NAME = "pareval-results.json"
DRAWS = (1, 5, 10, 20)  # k of the figures; one above 1 is shown where each problem has as many samples
LEAST = 1e-8
"""Seconds below which the suite takes no time."""
EXPECTED = "expected best of k; wrong samples are 0"
ALL = "all runs of a sample right, and its text uses the model, which the published script leaves out"


@dataclass(frozen=True, slots=True)
class Sample:
    """One answer.

    Attributes:
        built: whether it was compiled.
        right: whether all its runs were right and its text uses the model.
        runs: in the suite's own form.
        sequential: least seconds of the sequential program; NaN where nothing ran.
    """

    built: bool
    right: bool
    runs: Sequence[Mapping[str, Any]]
    sequential: float

    def time(self, resources: int) -> float:
        """Returns the seconds on so many threads, ranks or their product; infinite where it is wrong."""
        found = [run["runtime"] for run in self.runs if used(run) == resources and run["is_valid"]]
        return max(LEAST, found[0]) if self.right and found else math.inf


@dataclass(frozen=True, slots=True)
class Sampled:
    """The samples of one prompt."""

    model: str
    samples: tuple[Sample, ...]

    @property
    def sequential(self) -> float:
        """T*: the least seconds of the sequential program; 1 where it never ran."""
        return min((one.sequential for one in self.samples if one.sequential > 0.0), default=1.0)


def used(run: Mapping[str, Any]) -> int:
    """Returns the threads, ranks or their product of a run."""
    return math.prod(int(run[key]) for key in ("num_procs", "num_threads") if key in run)


def score(rows: Sequence[Row]) -> Score:
    """See `whet.benchmarks.suites.base.Suite.score`."""
    found = grouped(rows)
    return scored({name: _sampled(name, samples) for name, samples in found.rows.items()}, found.excluded)


def scored(problems: Mapping[str, Sampled], excluded: Mapping[str, str] | None = None) -> Score:
    """Returns ParEval's figures, over all prompts and for each model of parallelism."""
    everything = list(problems.values())
    figures = _figures("", everything, headline=True)
    models = [model for model in MODELS if any(one.model == model for one in everything)]
    for model in models:
        of_model = [one for one in everything if one.model == model]
        figures += _figures(f"{model} ", of_model)
        figures.append(_as_coded(model, of_model))
    speedups = [
        max((one.sequential / sample.time(_most(one)) for sample in one.samples), default=0.0) for one in everything
    ]
    failed = sum(not any(sample.right for sample in one.samples) for one in everything)
    return Score(tuple(figures), common.spread(speedups), failed, excluded or {})


def _most(one: Sampled) -> int:
    return max((used(run) for sample in one.samples for run in sample.runs), default=1)


def _figures(before: str, problems: Sequence[Sampled], headline: bool = False) -> list[Figure]:
    least = min((len(one.samples) for one in problems), default=0)
    most = max(map(_most, problems), default=1)
    where = f"n up to {most} here: as many as there are cores" if most > 1 else ""
    figures: list[Figure] = []
    for k in (k for k in DRAWS if k <= least or k == 1):
        built = [_share(one, k, "built") for one in problems]
        right = [_share(one, k, "right") for one in problems]
        times = [(one.sequential, [sample.time(_most(one)) for sample in one.samples]) for one in problems]
        speedups = [pareval.speedup_at_k([one], k) for one in times]
        shares = [pareval.efficiency_at_k([each], _most(one), k) for one, each in zip(problems, times, strict=True)]
        note = "; ".join(word for word in (EXPECTED, where, _apart(speedups)) if word)
        figures.append(mean_figure(f"{before}speedup_n@{k}", speedups, "x", note, headline=headline and k == 1))
        figures.append(mean_figure(f"{before}efficiency_n@{k}", shares, "", EXPECTED))
        figures.append(mean_figure(f"{before}pass@{k}", right, "", ALL))
        figures.append(mean_figure(f"{before}build@{k}", built, "", "by samples; the published script counts runs"))
    return figures


def _share(one: Sampled, k: int, what: str) -> float:
    return common.pass_at_k(len(one.samples), sum(getattr(sample, what) for sample in one.samples), k)


def _as_coded(model: str, problems: Sequence[Sampled]) -> Figure:
    """Returns what the published script makes of the same samples, to explain its figures."""
    values = []
    for one in problems:
        times = [time for sample in one.samples if math.isfinite(time := sample.time(_most(one)))]
        if times:
            values.append(pareval.speedup_as_coded(one.sequential, times, 1))
    note = "the published script's: prompts without a right sample, and wrong samples, are left out of the mean"
    return Figure(f"{model} speedup@1 as coded", common.mean(values), len(values), note=note, unit="x")


def _apart(values: Sequence[float]) -> str:
    ends = common.leave_one_out(values)
    without = f"; {ends.low:.3g} to {ends.high:.3g} without any one prompt" if ends else ""
    return f"geometric mean of those above 0: {common.geometric_mean([v for v in values if v > 0]):.3g}{without}"


def _sampled(name: str, rows: Sequence[Row]) -> Sampled:
    samples = []
    for row in rows:
        told = row.own.figures if row.own is not None else {}
        passed = row.own is not None and row.own.passed
        samples.append(
            Sample(
                bool(told.get("built")), passed, tuple(told.get("runs", ())), float(told.get("sequential", math.nan))
            )
        )
    return Sampled(name.rpartition("/")[2], tuple(samples))


def export(rows: Sequence[Row], folder: Path) -> Path:
    """Writes rows as ``drivers/run-all.py`` does: prompts with ``outputs``."""
    kept = grouped(rows).rows
    written = []
    for problem, samples in kept.items():
        name, _, model = problem.rpartition("/")
        kind = next((row.own.figures["problem_type"] for row in samples if row.own), "")
        written.append({
            "problem_type": kind, "language": "cpp", "name": name, "parallelism_model": model,
            "outputs": [_output(row) for row in samples],
        })  # fmt: skip
    file = folder / NAME
    file.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    return file


def _output(row: Row) -> dict[str, Any]:
    told = row.own.figures if row.own is not None else {}
    runs = told.get("runs", []) if told.get("built") else None
    return {
        "generated_output": row.answer,
        "source_write_success": True,
        "did_build": bool(told.get("built")),
        "is_source_valid": bool(told.get("source_valid")),
        "did_any_run": any(run["did_run"] for run in runs or ()),
        "did_all_run": runs is not None and all(run["did_run"] for run in runs),
        "are_any_valid": any(run["is_valid"] for run in runs or ()),
        "are_all_valid": runs is not None and all(run["is_valid"] for run in runs),
        "best_sequential_runtime": told.get("sequential"),
        "runs": runs and [{key: run[key] for key in run if key != "best_sequential_runtime"} for run in runs],
    }  # fmt: skip


def imported(file: Path) -> Score | None:
    """Returns the score of a file of ``drivers/run-all.py``; None where it is none.

    Raises:
        UsageError: it is one, and a prompt of it cannot be read.
    """
    if not file.name.removesuffix(".gz").endswith(".json"):
        return None
    faults: list[str] = []
    problems: dict[str, Sampled] = {}
    try:
        for place, row in read_rows(file, faults):
            if not {"parallelism_model", "outputs"} <= row.keys():
                return None
            try:
                model = field(row, "parallelism_model", str)
                samples = tuple(_read(one) for one in field(row, "outputs", list))
                if samples:
                    problems[f"{field(row, 'name', str)}/{model}"] = Sampled(model, samples)
            except RowFault as why:
                faults.append(fault(file, place, why))
    except UsageError:
        if not problems:
            return None
        raise
    if faults and problems:
        raise UsageError(faults[0])
    return scored(problems) if problems else None


def _read(output: Any) -> Sample:
    if not isinstance(output, dict):
        raise RowFault("an output that is not judged yet")
    built = field(output, "did_build", bool)
    runs = output.get("runs") or []
    if not isinstance(runs, list) or not all(map(_proper, runs)):
        raise RowFault("runs are no runs of run-all.py")
    right = built and bool(runs) and all(run["is_valid"] for run in runs) and output.get("is_source_valid") is True
    best = output.get("best_sequential_runtime")
    sequential = float(best) if isinstance(best, int | float) and not isinstance(best, bool) else math.nan
    return Sample(built, right, runs, sequential)


def _proper(run: Any) -> bool:
    if not isinstance(run, dict) or "is_valid" not in run:
        return False
    counts = [run[key] for key in ("num_procs", "num_threads") if key in run]
    timed = not run["is_valid"] or (isinstance(run.get("runtime"), int | float) and run["runtime"] >= 0)
    return timed and all(type(one) is int and one > 0 for one in counts)
