"""Rows of a benchmark that nobody ran, and a suite that scores them: what the leaderboard's tests are made of."""

from __future__ import annotations

import json
import math
import random
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from whet.benchmarks.results import SCHEMA, Machine, Own, Row
from whet.benchmarks.suites.base import Figure, Origin, Score
from whet.core.plain import to_plain
from whet.core.result import Cost, Tokens

HERE = Machine("Example 9000", 8, "", "bubblewrap", "Debian 12", "1.0")
THERE = Machine("Other 3", 4, "H200", "docker", "Debian 12", "1.0")
DIFF = "--- a\n+++ b\n@@ -1,3 +1,3 @@\n def f(xs):\n-    return sorted(xs)\n+    xs.sort()\n     return xs\n"
MODELS = ("catalogue", "known-best", "unchanged", "openai:one", "openai:two", "anthropic:three", "answers:a.jsonl")


class Drawn:
    """A suite whose rule is written in the rows: right answers, and the mean of ``figures.speedup`` over problems."""

    title, status = "Problems that were drawn", "format only"
    origin = Origin("our own making", "Apache-2.0", {})

    def __init__(self, name: str = "drawn") -> None:
        self.name = name

    def score(self, rows: Sequence[Row]) -> Score:
        found: defaultdict[str, list[float]] = defaultdict(list)
        excluded = {row.problem: row.excluded for row in rows if row.excluded}
        for row in rows:
            passed = row.own is not None and row.own.passed
            found[row.problem].append(float(row.own.figures.get("speedup", 1.0)) if passed else 0.0)
        values = [sum(one) / len(one) for id, one in found.items() if id not in excluded]
        n = len(values)
        mean = sum(values) / n if n else math.nan
        right = sum(value > 0 for value in values)
        return Score(
            (
                Figure("mean speedup", mean, n, low=mean * 0.9, high=mean * 1.1, unit="x", headline=True),
                Figure("right", 100 * right / n if n else math.nan, n, unit="%", note="as the rows say"),
            ),
            failed=n - right,
            excluded=excluded,
        )


def told(ratio: float | None, status: str = "improved", reason: str | None = None, **fields: Any) -> dict[str, Any]:
    """Returns a document ``whet.result/1``."""
    rungs = [{"name": "build", "status": "passed", "reason": None, "detail": "", "seconds": 0.5}]
    if reason:
        detail = "expected [1, 2], got [2, 1]"
        rungs.append({"name": "differential", "status": "failed", "reason": reason, "detail": detail, "seconds": 0.1})
    figures = {"ratio": ratio, "low": ratio * 0.96, "high": ratio * 1.05} if ratio else None
    return {
        "schema": "whet.result/1",
        "run": "r1",
        "task": {"name": "t", "language": "python", "target": "t.py::f"},
        "status": status,
        "speedup": figures
        and {
            **figures,
            "confidence": 0.99,
            "metric": "time",
            "processes": 10,
            "samples": 40,
            "aa_ratio": [0.99, 1.01],
            "baseline": "the original",
            "workloads": [],
        },
        "candidate": {
            "id": "0" * 64,
            "parent": None,
            "origin": "openai:one",
            "labels": ["algorithm", "vectorisation"] if ratio else [],
            "diff": DIFF,
            "claimed": [],
        },
        "rungs": rungs,
        "candidates": {"proposed": 1, "distinct": 1, "correct": 1, "rejected": {}},
        "cost": {"usd": 0.0, "usd_complete": True, "calls": 0, "tokens": {"input": 0, "cached": 0, "output": 0}},
        "seconds": 3.0,
        "message": "",
        **fields,
    }


def row(problem: str = "p1", model: str = "openai:one", speedup: float | None = 2.0, **fields: Any) -> Row:
    """Returns a row: right with a speedup by the suite's own figures; with None a wrong answer."""
    right = speedup is not None
    given: dict[str, Any] = {
        "suite": "drawn",
        "data": "d1",
        "problem": problem,
        "sample": 0,
        "model": model,
        "strategy": "",
        "budget": "",
        "language": "python",
        "answer": "def f(xs):\n    return xs\n",
        "own": Own(right, "" if right else "wrong on case 3", {"speedup": speedup} if right else {}, "s", "clock"),
        "result": told(speedup) if right else told(None, "rejected", "wrong_output"),
        "evidence": "",
        "excluded": "",
        "machine": HERE,
        "cost": Cost(0.01, True, 2, Tokens(3000, 500, 800)),
        "seconds": 12.5,
        "when": "2026-11-20T10:00:00+00:00",
    }
    return Row(**{**given, **fields})


def many(problems: int, models: int, suite: str = "drawn") -> list[Row]:
    """Returns rows of several models over many problems: right and wrong ones, cheats, two machines, costs."""
    rng = random.Random(9)
    rows = []
    for number in range(models):
        name = MODELS[number % len(MODELS)] + (f"-{number}" if number >= len(MODELS) else "")
        free = name.startswith(("catalogue", "known", "unch", "answers"))
        cost = Cost(0.0 if free else 0.002 * 3**number, True, 0 if free else 4, Tokens(0 if free else 9000, 0, 1200))
        for problem in range(problems):
            fate = rng.random()
            speedup = None if fate < 0.05 * number else math.exp(rng.gauss(0.15 * (number + 1), 0.5))
            extra: dict[str, Any] = {}
            if number == 3 and fate < 0.02:
                extra = {"result": told(None, "rejected", "cheating"), "own": Own(True, "", {"speedup": 90.0})}
            rows.append(
                row(
                    f"level{problem % 3 + 1}/{problem}",
                    name,
                    speedup,
                    suite=suite,
                    cost=cost,
                    strategy="" if free else ("refine", "best-of")[number % 2],
                    budget="" if free else "1 USD, 8 rounds",
                    machine=THERE if number == 5 else HERE,
                    answer="def f(xs):\n" + f"    step({number}, {problem})\n" * 30,
                    **extra,
                )
            )
    return rows


def lines(rows: Sequence[Row]) -> str:
    """Returns rows as a file of them holds them."""
    return "".join(json.dumps({"schema": SCHEMA, **to_plain(row)}) + "\n" for row in rows)


def written(rows: Sequence[Row], path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(lines(rows), encoding="utf-8")
    return path
