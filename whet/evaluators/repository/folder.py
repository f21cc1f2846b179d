"""Which folder is a repository, rather than the folder of one task."""

from __future__ import annotations

from pathlib import Path

from whet.core.config import read_toml
from whet.evaluators.kernels.robust import is_robust
from whet.evaluators.task_file import FILENAME


def is_repository(target: str) -> bool:
    """Whether a target is a folder that describes no task.

    Raises:
        UsageError: its whet.toml cannot be read.
    """
    folder = Path(target).expanduser()
    if not folder.is_dir() or is_robust(folder):
        return False
    return not (folder / FILENAME).is_file() or "task" not in read_toml(folder / FILENAME)
