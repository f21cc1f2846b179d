"""Whet's own slow targets, one folder each: data for demonstrations and measurements, never imported."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from whet.core.errors import UsageError, nearest

_HERE = Path(__file__).parent
_HELD_OUT = _HERE.parent / "held_out"
_HPC = _HERE / "hpc"


@dataclass(frozen=True, slots=True)
class Note:
    """What ``task.md`` says of a task in the lines under its title.

    Attributes:
        field: what such code is written for.
        reach: ``local`` where edits at single places bring most of the gain, ``beyond`` where it takes another algorithm
            or data layout.
        best: speedup of the best version known.
    """

    field: str
    reach: str
    best: str


def task_names() -> tuple[str, ...]:
    """Returns the names of all tasks, sorted."""
    return _names(_HERE)


def held_out_names() -> tuple[str, ...]:
    """Returns the names of the tasks that no edit of the catalogue was written for, sorted."""
    return _names(_HELD_OUT)


def hpc_names() -> tuple[str, ...]:
    """Returns the names of the kernels of scientific computing, sorted; those in C++ end in ``-native``."""
    return _names(_HPC)


def task_folder(name: str) -> Path:
    """Returns the folder of a task of any of these groups.

    Raises:
        UsageError: there is none of this name; names the nearest.
    """
    groups = {_HERE: task_names(), _HELD_OUT: held_out_names(), _HPC: hpc_names()}
    for group, names in groups.items():
        if name in names:
            return group / name
    raise UsageError(f"no task '{name}'{nearest(name, [one for names in groups.values() for one in names])}")


def task_note(name: str) -> Note:
    """Returns what is known of a task."""
    lines = (task_folder(name) / "task.md").read_text(encoding="utf-8").split("\n\n")[1].splitlines()
    return Note(**dict(line.split(": ", 1) for line in lines))


def excuses(name: str) -> dict[str, str]:
    """Returns the reasons why mutants of a task cannot be told from it, by the mutants' ids."""
    return reasons(task_folder(name))


def reasons(folder: Path) -> dict[str, str]:
    """Returns the same for the task in a folder."""
    file = folder / "excused.toml"
    if not file.is_file():
        return {}
    table: dict[str, str] = tomllib.loads(file.read_text(encoding="utf-8"))["mutants"]
    return table


def _names(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(path.parent.name for path in folder.glob("*/whet.toml")))
