"""``[tool.whet]`` of a repository: read from the base branch, and from nowhere else.

The tables are taken out of the trees that are worked on: what a pull request writes there, such as another model's
address or other prices, reaches nothing.
"""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from whet.core.errors import UsageError
from whet.evaluators.repository.ranking import MIN_SHARE

FILES = ("pyproject.toml", "whet.toml")
LARGEST = 1 << 20
"""Bytes of a configuration file of the pull request that is parsed; a larger one is left out of the tree. A larger
value lets a stranger's file take more time and memory; a smaller one loses configurations that other tools need."""
HEADER = re.compile(r"\s*\[\[?\s*(?P<name>[^\]]+?)\s*\]")
OURS = re.compile(r"""["']?tool["']?\s*\.\s*["']?whet["']?(\s*\.|$)""")


class Project(BaseModel):
    """What the bot takes from ``[tool.whet]``; keys for other commands are left to them.

    Attributes:
        tests: the test command.
        run: a command whose calls of a function become its inputs.
        ignore: globs of paths that are left alone.
        top: functions of one pull request that are looked at, at most the operator's.
        min_speedup: the smallest ratio that counts.
        min_share: of the command's time: functions that take less do not matter.
        model: who proposes; under the Action alone, where the keys are the repository's own.
    """

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    tests: str | None = None
    run: str | None = None
    ignore: tuple[str, ...] = ()
    top: int | None = Field(default=None, ge=0)
    min_speedup: float | None = Field(default=None, alias="min-speedup", ge=1.0)
    min_share: float = Field(default=MIN_SHARE, alias="min-share", ge=0.0, le=1.0)
    model: str | None = None


def read_project(texts: dict[str, str]) -> Project:
    """Returns the settings of a repository.

    Args:
        texts: what stands in `FILES` on the base branch, for those that are there.

    Raises:
        UsageError: a file is no TOML, or a value cannot be used.
    """
    merged: dict[str, Any] = {}
    for name in FILES:
        try:
            merged |= tomllib.loads(texts.get(name, "")).get("tool", {}).get("whet", {})
        except (tomllib.TOMLDecodeError, AttributeError, TypeError) as error:
            raise UsageError(f"{name} of the base branch cannot be used: {error}") from None
    try:
        return Project.model_validate(merged)
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"]))
        raise UsageError(f"[tool.whet] of the base branch: {where}: {fault['msg'].lower()}") from None


def neutralise(tree: Path) -> None:
    """Takes ``[tool.whet]`` out of every file of a tree that whet would read."""
    for folder, _, names in os.walk(tree):
        for name in set(names) & set(FILES):
            path = Path(folder, name)
            kept = _without(path)
            path.unlink()
            if kept is not None:
                path.write_text(kept, encoding="utf-8")


def _without(path: Path) -> str | None:
    """Returns a file's text without the table, or None where only leaving the file out is safe."""
    try:
        if path.is_symlink() or path.stat().st_size > LARGEST:
            return None
        text = path.read_text(encoding="utf-8")
        kept, ours = [], False
        for line in text.splitlines(keepends=True):
            if header := HEADER.match(line):
                ours = OURS.match(header["name"]) is not None
            if not ours:
                kept.append(line)
        text = "".join(kept)
        left = tomllib.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return None
    # Written in another way, such as `tool.whet = {}`.
    return text if "whet" not in left.get("tool", {}) else None
