"""Synthetic work: what a candidate would be, whose result says by itself whether it is right."""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from whet.sandbox.workers.base import Work, WorkerContext

CALIBRATION = 200_000
"""Links of a chain that is timed; some tenths of a second."""


def link(bench: WorkerContext, argument: Mapping[str, Any]) -> dict[str, Any]:
    """Hashes a number again and again, or sleeps, or both; a `whet.sandbox.workers.base.Function`.

    Each execution draws a name of its own, so that two of the same work come to different results: where more than
    one of them were told or stored, that can be seen.
    """
    execution = secrets.token_hex(8)
    if journal := argument.get("journal"):
        noted(Path(journal), f"{argument['number']} {execution} {time.time()}")
    if seconds := argument.get("seconds"):
        time.sleep(seconds)
    return {
        "number": argument["number"],
        "digest": chained(argument["number"], argument["links"]),
        "execution": execution,
    }


CALL = f"{__name__}:{link.__name__}"


def piece(run: str, number: int, links: int = 0, seconds: float = 0.0, journal: Path | None = None) -> Work:
    """Returns a piece of work of a run.

    Args:
        run: tells its work from that of others.
        number: of the candidate.
        links: of the chain that is hashed: work for a processor.
        seconds: that it sleeps before.
        journal: for one line an execution, written when it begins.
    """
    argument = {"number": number, "links": links, "seconds": seconds, "journal": str(journal) if journal else ""}
    return Work(key_of(run, number), CALL, argument)


def key_of(run: str, number: int) -> str:
    """Returns the content key of a piece of work."""
    return hashlib.sha256(f"{run} {number}".encode()).hexdigest()


def chained(number: int, links: int) -> str:
    """Returns the end of a chain of hashes, which can only be known by walking it."""
    digest = str(number).encode()
    for _ in range(links + 1):
        digest = hashlib.sha256(digest).digest()
    return digest.hex()


@cache
def links_for(seconds: float) -> int:
    """Returns the links of a chain that takes so long on a core of this machine."""
    began = time.perf_counter()
    chained(0, CALIBRATION)
    return round(seconds / (time.perf_counter() - began) * CALIBRATION)


def noted(journal: Path, line: str) -> None:
    """Appends a line in one write, so that it is there as a whole whoever is killed."""
    descriptor = os.open(journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        os.write(descriptor, f"{line}\n".encode())
    finally:
        os.close(descriptor)


def lines_of(journal: Path) -> Iterator[list[str]]:
    """Yields the words of each line of a journal."""
    if journal.exists():
        for line in journal.read_text(encoding="utf-8").splitlines():
            yield line.split()
