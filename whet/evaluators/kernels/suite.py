"""Problems of a local checkout of KernelBench, by level and number."""

from __future__ import annotations

import re
from pathlib import Path

from whet.core.errors import UsageError

PREFIX = "kernelbench:"
FORM = "kernelbench:LEVEL/ID with --root DIR, a checkout of KernelBench, such as kernelbench:1/19"


def find_problem(target: str, root: Path | None) -> Path:
    """Returns the file of ``kernelbench:LEVEL/ID``.

    Args:
        target: as the user wrote it.
        root: a checkout, which holds ``KernelBench/levelN``, or a folder of such levels.

    Raises:
        UsageError: the target or the folder has another form, or there is no such problem.
    """
    named = re.fullmatch(r"(\d+)/(\d+)", target.removeprefix(PREFIX))
    if named is None:
        raise UsageError(f"{target} names no problem; give {FORM}")
    if root is None:
        raise UsageError(f"{target} needs --root DIR, a local checkout of KernelBench")
    level, number = named.groups()
    root = root.expanduser().absolute()
    if not root.is_dir():
        raise UsageError(f"--root {root}: no such folder")
    levels = root / "KernelBench" if (root / "KernelBench").is_dir() else root
    known = sorted(path.name.removeprefix("level") for path in levels.glob("level*") if path.is_dir())
    if not known:
        raise UsageError(f"--root {root} is no checkout of KernelBench: it holds no folder level1")
    if level not in known:
        raise UsageError(f"{target}: {levels} holds levels {', '.join(known)} only")
    found = sorted((levels / f"level{level}").glob(f"{number}_*.py"))
    if not found:
        raise UsageError(f"{target}: level {level} of {levels} holds no problem {number}")
    return found[0]
