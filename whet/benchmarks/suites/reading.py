"""Problems from a file of rows, one a row; what cannot be used is told by its line, and the others count."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from whet.benchmarks.suites.base import Problem, Reading
from whet.benchmarks.suites.jsonl import Ids, RowFault, fault, read_rows
from whet.core.errors import UsageError


def read_problems(file: Path, problem_of: Callable[[dict[str, Any]], Problem]) -> Reading:
    """Reads the problems of a file of rows.

    Args:
        file: JSON Lines or one JSON array.
        problem_of: makes a problem of a row, or raises `RowFault`.

    Raises:
        UsageError: no row of it can be used.
    """
    faults: list[str] = []
    problems: list[Problem] = []
    ids = Ids()
    for line, row in read_rows(file, faults):
        try:
            problem = problem_of(row)
            ids.take(problem.id, line)
            problems.append(problem)
        except RowFault as why:
            faults.append(fault(file, line, why))
    if not problems:
        raise UsageError(f"{file} holds no problem that can be used: {faults[0] if faults else 'it is empty'}")
    return Reading(tuple(problems), tuple(faults))
