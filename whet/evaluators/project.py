"""The project that a target belongs to: where it begins, and what a clean copy of it holds."""

from __future__ import annotations

import os
import re
from pathlib import Path

from whet.core.errors import UsageError
from whet.core.task import MIB, Task
from whet.evaluators.task_file import FILENAME

BEST, ANSWERS = "best", "answers"
MARKS = (".git", "pyproject.toml", "setup.py", "setup.cfg")
"""What lies in the top folder of a project."""
MOST_BYTES = 64 * MIB
"""Bytes of a project's files: all are held in memory and copied into a sandbox, for its tests once for each candidate.
A larger limit makes each copy slower; a smaller one refuses larger projects."""
SKIPPED = {"__pycache__", "node_modules", "venv", "build", "dist", "site-packages"}
SECRETS = re.compile(r"\.env(\..*)?|\.envrc|\.netrc|\.npmrc|\.pypirc|\.git-credentials|id_(rsa|ecdsa|ed25519)|.*\.pem")
"""Files that are made to hold keys and passwords: no candidate may read them."""


def project_root(path: Path) -> Path:
    """Returns the folder that a test command is meant for.

    The current folder where the target lies below it, else the target's project, else the target's own folder.
    """
    here = Path.cwd()
    if path.is_relative_to(here) and here not in (Path("/"), Path.home()):
        return here
    return next((parent for parent in path.parents if any((parent / mark).exists() for mark in MARKS)), path.parent)


def project_top(folder: Path) -> Path:
    """Returns the top folder of the project that a folder is in; the folder itself where nothing tells."""
    real = folder.resolve()
    return next((top for top in (real, *real.parents) if any((top / mark).exists() for mark in MARKS)), real)


def import_root(task: Task, project: Path) -> str:
    """Returns where the package of a target is imported from, below its project; empty where it is in none."""
    packaged = (task.path.parent / "__init__.py").is_file() and task.root.is_relative_to(project)
    return task.root.relative_to(project).as_posix() if packaged else ""


def project_files(root: Path) -> dict[str, bytes]:
    """Reads a project's files, without hidden folders, caches and links.

    Left out too are what holds keys by its name, and ``best.*`` and the folder ``answers`` beside a ``whet.toml``: no
    candidate may see the best answers known to a task.

    Raises:
        UsageError: there is too much of it.
    """
    files: dict[str, bytes] = {}
    total = 0
    for folder, names, leaves in os.walk(root):
        skipped = {*SKIPPED, ANSWERS} if FILENAME in leaves else SKIPPED
        names[:] = [name for name in names if name not in skipped and not name.startswith(".")]
        for leaf in leaves:
            path = Path(folder, leaf)
            # A worktree's .git is a file, which leads to the repository.
            if path.is_symlink() or not path.is_file() or leaf.endswith(".pyc") or leaf == ".git":
                continue
            if (path.stem == BEST and FILENAME in leaves) or SECRETS.fullmatch(leaf):
                continue
            total += path.stat().st_size
            if total > MOST_BYTES:
                raise UsageError(
                    f"{root} holds more than {MOST_BYTES // MIB} MiB; run --tests from the project's own folder"
                )
            files[path.relative_to(root).as_posix()] = path.read_bytes()
    return files
