"""Whet's own slow targets, one folder each: data for demonstrations and measurements, never imported."""

from __future__ import annotations

import tomllib
from pathlib import Path

from whet.core.errors import UsageError, nearest

_HERE = Path(__file__).parent


def task_names() -> tuple[str, ...]:
    """Returns the names of all tasks, sorted."""
    return tuple(sorted(path.parent.name for path in _HERE.glob("*/whet.toml")))


def task_folder(name: str) -> Path:
    """Returns the folder of a task.

    Raises:
        UsageError: there is none of this name; names the nearest.
    """
    if name not in task_names():
        raise UsageError(f"no task '{name}'{nearest(name, task_names())}")
    return _HERE / name


def excuses(name: str) -> dict[str, str]:
    """Returns the reasons why mutants of a task cannot be told from it, by the mutants' ids."""
    file = task_folder(name) / "excused.toml"
    if not file.is_file():
        return {}
    table: dict[str, str] = tomllib.loads(file.read_text(encoding="utf-8"))["mutants"]
    return table
