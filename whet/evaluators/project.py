"""The project that a target belongs to: where it begins, and what a clean copy of it holds."""

from __future__ import annotations

import os
from pathlib import Path

from whet.core.errors import UsageError
from whet.core.task import MIB

MOST_BYTES = 64 * MIB
SKIPPED = {"__pycache__", "node_modules", "venv", "build", "dist", "site-packages"}


def project_root(path: Path) -> Path:
    """Returns the folder that a test command is meant for.

    The current folder where the target lies below it, else the target's project, else the target's own folder.
    """
    here = Path.cwd()
    if path.is_relative_to(here) and here not in (Path("/"), Path.home()):
        return here
    marks = (".git", "pyproject.toml", "setup.py", "setup.cfg")
    return next((parent for parent in path.parents if any((parent / mark).exists() for mark in marks)), path.parent)


def project_files(root: Path) -> dict[str, bytes]:
    """Reads a project's files, without hidden folders, caches and links.

    Raises:
        UsageError: there is too much of it.
    """
    files: dict[str, bytes] = {}
    total = 0
    for folder, names, leaves in os.walk(root):
        names[:] = [name for name in names if name not in SKIPPED and not name.startswith(".")]
        for leaf in leaves:
            path = Path(folder, leaf)
            if path.is_symlink() or not path.is_file() or leaf.endswith(".pyc"):
                continue
            total += path.stat().st_size
            if total > MOST_BYTES:
                raise UsageError(
                    f"{root} holds more than {MOST_BYTES // MIB} MiB; run --tests from the project's own folder"
                )
            files[path.relative_to(root).as_posix()] = path.read_bytes()
    return files
