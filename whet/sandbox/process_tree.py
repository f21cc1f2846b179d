"""Who descends from whom, by what the kernel tells out here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

GONE = (FileNotFoundError, ProcessLookupError, PermissionError)
"""What reading about a process that ends meanwhile raises."""


def tree(pid: int) -> Iterator[int]:
    """Yields a process and all that descend from it."""
    yield pid
    with suppress(*GONE):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from tree(int(child))
