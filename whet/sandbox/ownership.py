"""Which whet process made something that outlives processes, and whether that process is certainly gone.

A process number alone says neither: another PID namespace, or another machine behind one docker engine, numbers its
processes by itself, and a number is given again.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

BOOT = Path("/proc/sys/kernel/random/boot_id")
NAMESPACE = Path("/proc/self/ns/pid")
STARTED = 19
"""Fields of ``/proc/PID/stat`` between its name and the time at which the process began."""


def owner() -> str:
    """Returns what no other process is called by: this one's kernel, PID namespace, number and beginning."""
    return f"{_place()}:{os.getpid()}:{_began(os.getpid())}"


def is_gone(name: str) -> bool:
    """Tells whether an owner has certainly ended: only one of this kernel and this namespace can be known to have."""
    place, _, process = name.rpartition(":")[0].rpartition(":")
    began = name.rpartition(":")[2]
    if not process.isdigit() or not place or place != _place():
        return False
    return _began(int(process)) != began


def _place() -> str:
    """Returns the kernel and the PID namespace; empty where the kernel does not tell them."""
    with suppress(OSError):
        return f"{BOOT.read_text().strip()}:{NAMESPACE.stat().st_ino}"
    return ""


def _began(process: int) -> str:
    """Returns when a process began, in ticks since the machine's; empty where there is none."""
    with suppress(FileNotFoundError, ProcessLookupError):
        # The name before them may hold anything.
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[STARTED]
    return ""
