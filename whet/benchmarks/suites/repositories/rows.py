"""Rows of tasks in repositories, with the checkouts that the user prepared; predictions in and out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from whet.benchmarks.results import Row
from whet.benchmarks.suites.base import Problem, Reading
from whet.benchmarks.suites.jsonl import Ids, RowFault, digest, fault, field, read_rows, shown
from whet.core.errors import UsageError

CHECKOUTS = "checkouts"
NAME = re.compile(r"[A-Za-z0-9][\w.+-]*")
PREDICTIONS = "predictions.jsonl"
NO_CHECKOUT = f"no folder {CHECKOUTS}/INSTANCE_ID beside the rows; prepare it at the base commit"


def read(root: Path, suite: str, fields: Callable[[dict[str, Any]], Mapping[str, Any]]) -> Reading:
    """Reads rows of ``*.jsonl`` and ``*.json`` directly under a folder, whose ``checkouts`` holds the repositories.

    Args:
        root: the folder.
        suite: its name, for messages.
        fields: what the suite needs of a row: ``expert``, the expert's patch, and what its rule takes. Raises
            `RowFault`.

    Raises:
        UsageError: there are no rows, or none that can be used.
    """
    files = sorted(file for ending in ("*.jsonl", "*.json") for file in root.glob(ending) if file.name != PREDICTIONS)
    if not files:
        raise UsageError(f"no rows (*.jsonl) under {root}; see whet bench fetch-help {suite}")
    faults: list[str] = []
    problems: list[Problem] = []
    ids = Ids()
    for file in files:
        for line, row in read_rows(file, faults):
            try:
                problem = _problem(root, row, fields)
                ids.take(problem.id, line)
                problems.append(problem)
            except RowFault as why:
                faults.append(fault(file, line, why))
    if not problems:
        raise UsageError(f"{root} holds no row that can be used: {faults[0] if faults else 'its files are empty'}")
    return Reading(tuple(problems), tuple(faults))


def _problem(root: Path, row: dict[str, Any], fields: Callable[[dict[str, Any]], Mapping[str, Any]]) -> Problem:
    name, repository = field(row, "instance_id", str), field(row, "repo", str)
    if not NAME.fullmatch(name):
        raise RowFault(f"the id {shown(name)} is no name of a folder")
    data = {"repo": repository, "base_commit": field(row, "base_commit", str), **fields(row)}
    checkout = root / CHECKOUTS / name
    inside = (root / CHECKOUTS).resolve()
    if not checkout.is_dir():
        raise RowFault(f"{name}: {NO_CHECKOUT}")
    if not checkout.resolve().is_relative_to(inside):
        raise RowFault(f"{name}: its checkout leads out of {CHECKOUTS}")
    script = root / CHECKOUTS / f"{name}.sh"
    given = {
        **data,
        "checkout": str(checkout.resolve()),
        "rebuild": script.read_text(encoding="utf-8") if script.is_file() else "",
    }
    expert = str(data["expert"]) or None
    return Problem(name, f"{repository}: {name}", "diff", "", expert, given, digest(data), repository)


def texts(row: dict[str, Any], name: str) -> list[str]:
    """Returns a list of texts, which some releases hold as a text of JSON.

    Raises:
        RowFault: it is none.
    """
    value = row.get(name)
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise RowFault(f"field '{name}' is no list") from None
    if not isinstance(value, list) or not all(isinstance(one, str) and "\0" not in one for one in value):
        raise RowFault(f"field '{name}' is no list of texts")
    return list(value)


def answers(file: Path) -> dict[tuple[str, int], str]:
    """Returns predictions: ``instance_id`` and ``model_patch`` a row; several of one id are its samples.

    Raises:
        UsageError: they cannot be read.
    """
    faults: list[str] = []
    found: dict[tuple[str, int], str] = {}
    seen: dict[str, int] = {}
    for line, row in read_rows(file, faults):
        try:
            name, patch = field(row, "instance_id", str), row.get("model_patch")
            if patch is not None and not isinstance(patch, str):
                raise RowFault("field 'model_patch' is no text")
            found[name, seen.get(name, 0)] = patch or ""
            seen[name] = seen.get(name, 0) + 1
        except RowFault as why:
            faults.append(fault(file, line, why))
    if faults:
        raise UsageError(faults[0])
    return found


def export(rows: Sequence[Row], folder: Path) -> Path:
    """Writes the answers of rows as predictions, which the suites' own harnesses read."""
    file = folder / PREDICTIONS
    with file.open("w", encoding="utf-8") as stream:
        for row in rows:
            if not row.excluded:
                line = {"instance_id": row.problem, "model_name_or_path": row.model, "model_patch": row.answer}
                stream.write(f"{json.dumps(line)}\n")
    return file
