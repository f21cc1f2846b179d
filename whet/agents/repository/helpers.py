"""What a function calls in other files of its repository, and may be rewritten with it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from whet.core.parts import MARK, joined
from whet.core.repository import HotFunction, Survey
from whet.core.task import Task
from whet.evaluators.repository.skipped import skipped_file

MOST_FILES, MOST_CHARACTERS = 2, 40_000
"""Of the files that come along: whoever rewrites a function reads all of them."""


def with_helpers(task: Task, around: Survey, function: HotFunction, functions: Sequence[HotFunction]) -> Task:
    """Returns a task whose candidates may change the files of hot functions that the target names.

    Args:
        task: of the function.
        around: of the repository.
        function: that is to be made faster.
        functions: the hot ones of the repository, those included that are not tried by themselves.
    """
    lines = task.source.splitlines()[function.line - 1 : function.end]
    words = set(re.findall(r"\w+", "\n".join(lines)))
    shares: dict[str, float] = {}
    for other in functions:
        name = _under(task.root, around.root / other.path)
        if other.symbol is None or other.path == function.path or name not in task.support:
            continue
        if skipped_file(other.path, task.support[name], around.ignore):
            continue
        if other.symbol.rpartition(".")[2] in words:
            shares[name] = shares.get(name, 0.0) + other.own
    hottest = sorted(shares, key=lambda name: (-shares[name], name))
    chosen = [name for name in hottest if _can_come_along(task.support[name])][:MOST_FILES]
    others = {name: task.support[name] for name in chosen}
    if not others or not task.source.endswith("\n") or sum(map(len, others.values())) > MOST_CHARACTERS:
        return task
    return replace(task, source=joined(task.source, others), others=tuple(others))


def _under(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else ""


def _can_come_along(text: str) -> bool:
    """Whether a text can be told from its neighbours once it stands behind its mark."""
    return text.endswith("\n") and MARK.partition("{")[0] not in text
