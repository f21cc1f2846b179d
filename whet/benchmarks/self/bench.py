"""``whet bench self bench``: what the harness of suites costs beside the ladder, scoring and a leaderboard."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from whet.benchmarks.board.build import build
from whet.benchmarks.results import Machine, Own, Row
from whet.benchmarks.runner.answers import UNCHANGED, AnswerSources
from whet.benchmarks.runner.plan import chosen, read_suite
from whet.benchmarks.runner.request import BenchRequest
from whet.benchmarks.runner.rows import line_of, read_rows
from whet.benchmarks.runner.run import opened
from whet.benchmarks.runner.standings import scored
from whet.benchmarks.suites.registry import suite_named
from whet.core.options import Options
from whet.core.result import SCHEMA, Cost

SUITE = "whetbench"
IDS = ("dedup-events", "tidy-text", "word-counts")
OVERHEAD_GOAL = 0.03
"""Of the ladder's own time."""
PROBLEMS, SAMPLES = 250, 400
"""Problems, and samples of each: the 100,000 rows that `SCORING_GOAL` is for. More take longer, so that goal would
change with them."""
SCORING_GOAL = 5.0
"""Seconds for all of those rows."""
MODELS = 10
"""Entries of a leaderboard over as many problems."""
BUILDING_GOAL = 20.0
"""Seconds."""
WEIGHT_GOAL = 500.0
"""Kilobytes of the heaviest page of a suite's index."""


def report() -> Iterator[str]:
    """Yields the lines of the report while it measures."""
    wall, ladder = overhead(IDS, Options())
    yield f"{len(IDS)} answers: {wall:.2f} s by whet bench run, {ladder:.2f} s of it in the ladder"
    yield f"  overhead at most {wall / ladder - 1:.1%}; goal {OVERHEAD_GOAL:.0%}"
    seconds = scoring(PROBLEMS, SAMPLES)
    yield f"{PROBLEMS * SAMPLES} rows read and scored in {seconds:.2f} s; goal {SCORING_GOAL:g} s"
    seconds, weight = building(PROBLEMS, MODELS)
    yield f"leaderboard of {PROBLEMS} problems x {MODELS} entries built in {seconds:.2f} s; goal {BUILDING_GOAL:g} s"
    yield f"  its index: {weight:.0f} KB; goal {WEIGHT_GOAL:g} KB"


def overhead(ids: Sequence[str], options: Options) -> tuple[float, float]:
    """Runs unchanged answers through the harness.

    Returns:
        the seconds of all of it, and those that the ladder says it took, from its opening to its verdict. What lies
        between is an upper bound of what the harness adds: reading a task and closing the ladder are in it too.
    """
    suite = suite_named(SUITE)
    with tempfile.TemporaryDirectory(prefix="whet-self-") as folder:
        place = Path(folder)
        start = time.perf_counter()
        problems = chosen(read_suite(suite, None).problems, ids)
        asked = BenchRequest(suite, AnswerSources(UNCHANGED, {}), options)
        with opened(asked, problems, 1, place / "rows.jsonl", place / "state") as run:
            for done in run.work():
                if done.error:
                    raise ValueError(done.error)
        wall = time.perf_counter() - start
        rows = read_rows(place / "rows.jsonl").rows
        return wall, sum(row.result["seconds"] for row in rows if row.result is not None)


def scoring(problems: int, samples: int) -> float:
    """Returns the seconds that it takes to read and score as many rows from a file."""
    with tempfile.TemporaryDirectory(prefix="whet-self-") as folder:
        file = Path(folder) / "rows.jsonl"
        with file.open("wb") as out:
            out.writelines(line_of(made_row(id, sample)) for id in range(problems) for sample in range(samples))
        start = time.perf_counter()
        found = scored([file])
        seconds = time.perf_counter() - start
        assert sum(one.rows for one in found.standings) == problems * samples, "a row that was written is not read"
        return seconds


def building(problems: int, models: int) -> tuple[float, float]:
    """Returns the seconds that it takes to build a leaderboard, and the kilobytes of the heaviest page of its index."""
    with tempfile.TemporaryDirectory(prefix="whet-self-") as folder:
        file, site = Path(folder) / "rows.jsonl", Path(folder) / "site"
        names = [f"model {number}" for number in range(models)]
        with file.open("wb") as out:
            out.writelines(line_of(made_row(id, 0, name)) for id in range(problems) for name in names)
        start = time.perf_counter()
        found = build([file], site)
        seconds = time.perf_counter() - start
        assert (found.entries, found.problems) == (models, problems), "a row that was written is not shown"
        pages = (found.index, site / SUITE / found.index.name)
        return seconds, max(page.stat().st_size for page in pages) / 1000


def made_row(problem: int, sample: int, model: str = "made up") -> Row:
    """Returns a row with a verdict, as a run leaves them."""
    ratio = 0.5 + (problem * 7919 + sample * 104729) % 1000 / 250
    improved = ratio > 1
    workloads = [{"name": str(size), "ratio": ratio, "low": ratio, "high": ratio} for size in (1000, 10000)]
    speedup = {
        **dict.fromkeys(("ratio", "low", "high"), ratio),
        "confidence": 0.99,
        "metric": "time",
        "processes": 20,
        "samples": 400,
        "baseline": "the original",
        "workloads": workloads,
    }
    passed = {"status": "passed", "reason": None, "detail": "", "seconds": 0.1}
    rungs = [{"name": name, **passed} for name in ("screen", "build", "measure", "confirm")]
    candidate = {"id": "0" * 64, "origin": model, "labels": ["algorithm"], "diff": "-    slow()\n+    fast()\n" * 10}
    result = {
        "schema": SCHEMA,
        "run": "20261122-000000-000000",
        "status": "improved" if improved else "no_improvement",
        "message": "faster, and confirmed",
        "speedup": speedup,
        "candidate": candidate,
        "rungs": rungs,
    }
    figures = {"speedup": max(ratio, 1.0), "improved": improved}
    return Row(
        suite=SUITE,
        data="0" * 64,
        problem=f"problem-{problem}",
        sample=sample,
        model=model,
        strategy="auto",
        budget="8 rounds of 4",
        language="python",
        answer="def f():\n    fast()\n" * 10,
        own=Own(True, "", figures, "x", "clock"),
        result=result,
        evidence="0" * 64,
        excluded="",
        machine=Machine("a processor", 2, "", "bubblewrap", "a system", "1.0"),
        cost=Cost(),
        seconds=20.0,
        when="2026-11-22T00:00:00+00:00",
    )
