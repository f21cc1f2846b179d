"""Whet's own slow targets, one folder each: data for demonstrations and measurements, never imported."""

from __future__ import annotations

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
