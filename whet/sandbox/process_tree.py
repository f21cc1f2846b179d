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
    for child in children(pid):
        yield from tree(child)


def children(pid: int) -> Iterator[int]:
    """Yields the processes that a process has started and not buried."""
    with suppress(*GONE):
        for task in Path(f"/proc/{pid}/task").iterdir():
            yield from map(int, (task / "children").read_text().split())
