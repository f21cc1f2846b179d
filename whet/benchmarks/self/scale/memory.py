"""What the processes below a driver hold of memory, and itself."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from whet.sandbox.process_tree import GONE, tree

MEGABYTE = 1e6


@dataclass(frozen=True, slots=True)
class Memory:
    """Megabytes that are resident; pages that processes share count for each.

    Attributes:
        driver: this process.
        raylet: Ray's own of this host.
        control: Ray's for the whole cluster.
        workers: all that do work, together.
    """

    driver: float
    raylet: float
    control: float
    workers: float

    @classmethod
    def now(cls) -> Memory:
        """Looks at this process and all below it."""
        held = dict.fromkeys(cls.__slots__, 0.0)
        for pid in tree(os.getpid()):
            with suppress(*GONE):
                held[_part(pid)] += _resident(pid)
        return cls(**{part: held for part, held in held.items() if part in cls.__slots__})


def _part(pid: int) -> str:
    if pid == os.getpid():
        return "driver"
    words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    name = Path(words[0].decode(errors="replace")).name
    if name in ("raylet", "gcs_server"):
        return {"raylet": "raylet", "gcs_server": "control"}[name]
    return "workers"


def _resident(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / MEGABYTE
