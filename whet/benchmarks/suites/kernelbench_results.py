"""KernelBench's own files of results: eval_results.json, and the baseline's times beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from whet.benchmarks.results import Row
from whet.benchmarks.suites.base import Figure, Score
from whet.benchmarks.suites.grouping import grouped, own_of
from whet.core.errors import UsageError
from whet.evaluators.scores.common import proportion_interval, spread
from whet.evaluators.scores.kernelbench import POINTS, fast_p, geometric_mean_of_correct

RESULTS, BASELINES = "eval_results.json", "baseline_time*.json"
WRITTEN_BASELINE = "baseline_time_torch.json"
HEADLINE = 1.0
"""The p of the figure that ranks."""
LARGEST = 256 << 20
"""Bytes of a file that is read."""
KERNEL_FILE = re.compile(r"level_(\d+)_problem_\d+_sample_\d+_kernel\.py")
ONLY_CORRECT = "over right answers alone, as the suite has it: read it beside fast_0"
OVER_TEN = "speedups above 10x, which the suite flags as excessive, count as they are"


class _Entry(BaseModel):
    model_config = ConfigDict(strict=True)

    sample_id: int
    compiled: bool
    correctness: bool
    runtime: float = Field(default=-1.0, allow_inf_nan=False)


class _Baseline(BaseModel):
    mean: Annotated[float, Field(gt=0.0, allow_inf_nan=False)]


_RESULTS = TypeAdapter(dict[Annotated[str, Field(pattern=r"^\d{1,6}$")], list[_Entry]])
_BASELINES = TypeAdapter(dict[str, dict[str, _Baseline]])


def speedup_of(row: Row) -> float:
    """Returns the baseline's mean time by the answer's; 0 for one that is wrong or missing."""
    own = own_of(row)
    return float(own.figures.get("speedup", 0.0)) if own.passed else 0.0


def fast_figures(speedups: Sequence[float]) -> Iterator[Figure]:
    """Yields fast_p at the suite's thresholds, and the geometric mean over right answers."""
    n = len(speedups)
    for p in POINTS:
        around = proportion_interval(sum(one > p for one in speedups), n)
        low, high = (None, None) if around is None else around
        yield Figure(f"fast_{p:g}", fast_p(speedups, p), n, low=low, high=high, headline=p == HEADLINE)
    right = [one for one in speedups if one > 0]
    note = f"{ONLY_CORRECT}; {OVER_TEN}" if any(one > 10 for one in right) else ONLY_CORRECT
    yield Figure("geometric mean", geometric_mean_of_correct(speedups), len(right), unit="x", note=note)


def write(rows: Sequence[Row], folder: Path) -> Path:
    """Writes a run folder for each level: results, kernels and the baseline's times, and returns the folder of all."""
    levels: dict[int, list[Row]] = {}
    for of in grouped(rows).rows.values():
        for row in of:
            levels.setdefault(int(row.problem.partition("/")[0]), []).append(row)
    for level, found in levels.items():
        place = folder / f"level{level}"
        place.mkdir(parents=True, exist_ok=True)
        results: dict[str, list[dict[str, Any]]] = {}
        times: dict[str, dict[str, Any]] = {}
        for row in sorted(found, key=lambda row: (_number(row), row.sample)):
            results.setdefault(str(_number(row)), []).append(_entry(row))
            figures = own_of(row).figures
            if "baseline" in figures:
                times.setdefault(figures["file"], {**figures["baseline"], **_where(row)})
            kernel = place / f"level_{level}_problem_{_number(row)}_sample_{row.sample}_kernel.py"
            kernel.write_text(row.answer, encoding="utf-8", newline="")
        (place / RESULTS).write_text(json.dumps(results, indent=4) + "\n", encoding="utf-8")
        (place / WRITTEN_BASELINE).write_text(json.dumps({f"level{level}": times}, indent=4) + "\n", encoding="utf-8")
    return folder


def _number(row: Row) -> int:
    return int(row.problem.partition("/")[2])


def _where(row: Row) -> dict[str, str]:
    return {"hardware": row.machine.gpu or row.machine.processor, "device": str(own_of(row).figures.get("device", ""))}


def _entry(row: Row) -> dict[str, Any]:
    own = own_of(row)
    figures = own.figures
    known = {name: figures[name] for name in ("max_difference", "avg_difference") if name in figures}
    if "trials" in figures:
        known["correctness_trials"] = f"({figures['right']} / {figures['trials']})"
    if not own.passed:
        known["runtime_error" if figures.get("compiled") else "compilation_error"] = own.reason
    stats = {**figures["runtime"], **_where(row)} if "runtime" in figures else {}
    return {
        "sample_id": row.sample,
        "compiled": bool(figures.get("compiled")),
        "correctness": own.passed,
        "metadata": {**_where(row), **known},
        "runtime": stats.get("mean", -1.0),
        "runtime_stats": stats,
    }


def scored(file: Path) -> Score | None:
    """Returns the score of an eval_results.json, by its first samples and the baseline beside it; None for other files.

    Raises:
        UsageError: it, or the baseline's times, cannot be read.
    """
    if file.suffix != ".json" or file.stat().st_size > LARGEST:
        return None
    try:
        document = json.loads(file.read_bytes())
    except (ValueError, RecursionError):
        return None
    if not _resembles(document):
        return None
    results: dict[str, list[_Entry]] = _valid(_RESULTS, document, file)
    level, baseline = _baseline(file)
    runtimes = {int(number): _first(file, number, entries) for number, entries in results.items()}
    speedups: list[float] = []
    for name, mean in baseline.items():
        runtime = runtimes.get(_leading(name), -1.0)
        speedups.append(mean / runtime if runtime > 0 else 0.0)
    unknown = set(runtimes) - {_leading(name) for name in baseline}
    excluded = {f"{level}/{number}": "the baseline has no time of it" for number in sorted(unknown)}
    return Score(tuple(fast_figures(speedups)), spread(speedups), speedups.count(0.0), excluded)


def _resembles(document: Any) -> bool:
    if not isinstance(document, dict) or not document:
        return False
    first = next(iter(document.values()))
    return (
        isinstance(first, list)
        and bool(first)
        and isinstance(first[0], dict)
        and {"sample_id", "correctness"} <= set(first[0])
    )


def _valid(adapter: TypeAdapter[Any], document: Any, file: Path) -> Any:
    try:
        return adapter.validate_python(document)
    except ValidationError as error:
        first = error.errors()[0]
        raise UsageError(f"{file}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def _first(file: Path, number: str, entries: Sequence[_Entry]) -> float:
    """Returns the runtime of sample 0, in milliseconds; -1 for one that is wrong or missing."""
    found = [entry for entry in entries if entry.sample_id == 0]
    if len(found) > 1:
        raise UsageError(f"{file}: problem {number} has several samples 0")
    return found[0].runtime if found and found[0].correctness else -1.0


def _leading(name: str) -> int:
    number = name.partition("_")[0]
    return int(number) if number.isdecimal() and len(number) < 7 else -1


def _baseline(file: Path) -> tuple[str, Mapping[str, float]]:
    """Returns the level of a run, and its baseline's mean times in milliseconds by problem file."""
    beside = sorted(file.parent.glob(BASELINES))
    if len(beside) != 1:
        there = "none" if not beside else ", ".join(path.name for path in beside)
        raise UsageError(f"{file} is scored by one {BASELINES} that lies beside it; there is {there}")
    try:
        document = json.loads(beside[0].read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{beside[0]} cannot be read: {error}") from None
    levels: dict[str, dict[str, _Baseline]] = _valid(_BASELINES, document, beside[0])
    kernels = {found[1] for path in file.parent.glob("level_*") if (found := KERNEL_FILE.fullmatch(path.name))}
    named = {f"level{number}" for number in kernels} or {part for part in (file.parent.name,) if part in levels}
    candidates = named & set(levels) or (set(levels) if len(levels) == 1 else set())
    if len(candidates) != 1:
        raise UsageError(f"{file} does not say which level it is of; put it into a folder named for it, such as level1")
    level = candidates.pop()
    return level.removeprefix("level"), {name: one.mean for name, one in levels[level].items()}
