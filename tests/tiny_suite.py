"""A suite of small functions for tests of the harness; its own rule looks for a word."""

from __future__ import annotations

import os
import time
from pathlib import Path

from whet.benchmarks.results import Own
from whet.benchmarks.suites.base import Figure, Origin, Problem, Reading, Score, Unusable
from whet.benchmarks.suites.grouping import grouped, passed
from whet.core.errors import UsageError

SLOW = "def total(numbers):\n    return sum([n for n in numbers])\n"
FAST = "def total(numbers):\n    return sum(numbers)\n"
WRONG = "def total(numbers):\n    return 0\n"
WORKLOAD = "sizes = [10, 100]\ndef make_input(size, rng):\n    return ([rng.random() for _ in range(size)],)\n"


class TinySuite:
    """Problems ``p0``, ``p1`` and so on, each a function in a file."""

    name = "tiny"
    title = "small functions"
    status = "format only"
    origin = Origin("made up", "none", {})

    def __init__(self, problems=3, journal=None, seconds=0.0, unusable=(), needs=None) -> None:
        self.count = problems
        self.journal = journal
        self.seconds = seconds
        self.unusable = unusable
        self.needs = needs or {}

    def problem(self, number: int) -> Problem:
        id = f"p{number}"
        best = FAST if number % 2 == 0 else None
        return Problem(
            id, id, "python", SLOW, best, {}, f"digest of {id}", "even" if best else "odd", self.needs.get(id, "")
        )

    def read(self, root: Path) -> Reading:
        return Reading(tuple(map(self.problem, range(self.count))))

    def write_target(self, problem: Problem, folder: Path) -> str:
        if problem.id == "p666":
            raise UsageError("this one cannot be written")
        (folder / "total.py").write_text(problem.unchanged)
        (folder / "workload.py").write_text(WORKLOAD)
        return f"{folder / 'total.py'}::total"

    def judge(self, problem: Problem, answer: str, lab) -> Own:
        if self.journal is not None:
            with Path(self.journal).open("a") as file:
                file.write(f"{os.getpid()} {problem.id}\n")
        time.sleep(self.seconds)
        if problem.id in self.unusable:
            raise Unusable("its reference \x1b[31mfails")
        return Own("sum(" in answer, "" if "sum(" in answer else "no sum", {"length": len(answer)})

    def score(self, rows) -> Score:
        group = grouped(rows)
        right = sum(any(map(passed, of)) for of in group.rows.values())
        figures = (Figure("right", right, len(group.rows), headline=True),)
        return Score(figures, (), group.failed, group.excluded)

    def export(self, rows, folder: Path) -> Path | None:
        return None

    def imported(self, file: Path) -> Score | None:
        return None
