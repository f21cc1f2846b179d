"""Instructions, and cache and branch misses of a simulated processor, by cachegrind."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from whet.core.counter import Counter, counted, missing
from whet.sandbox.counters.process import PROBE, Silent, run

SOURCE = "cachegrind"
TOOL = "/usr/bin/valgrind"
EVENTS = {
    "instructions": ("Ir",),
    "simulated-data-cache-misses": ("D1mr", "D1mw"),
    "simulated-last-level-misses": ("ILmr", "DLmr", "DLmw"),
    "simulated-branch-misses": ("Bcm", "Bim"),
}
INSTRUCTIONS = (TOOL, "--tool=cachegrind", "--cache-sim=no", "--trace-children=yes", "--cachegrind-out-file=/dev/null")
"""Counts instructions alone, and says how many there were at the end."""
BEGUN = re.compile(rb"^==\d+== Command: ", re.MULTILINE)
REFERENCES = re.compile(rb"^==\d+== I\s+refs:\s+([\d,]+)$", re.MULTILINE)


def instructions(said: bytes) -> int | None:
    """Returns what valgrind counted, by its own words; None where they are not those of one program from end to end."""
    counts = REFERENCES.findall(said)
    if len(counts) != 1 or len(BEGUN.findall(said)) != 1:
        return None
    return int(counts[0].replace(b",", b""))


def command(argv: Sequence[str], report: str) -> list[str]:
    """Returns what runs a command and writes its counts to a file."""
    return [
        *(TOOL, "-q", "--tool=cachegrind", "--log-file=/dev/null"),
        *("--cache-sim=yes", "--branch-sim=yes", f"--cachegrind-out-file={report}", "--"),
        *argv,
    ]


def parse(report: str) -> tuple[Counter, ...]:
    """Reads the totals of a cachegrind report (its documented text format)."""
    names: list[str] = []
    figures: list[str] = []
    for line in report.splitlines():
        key, _, rest = line.partition(":")
        if key == "events":
            names = rest.split()
        elif key == "summary":
            figures = rest.split()
    if not names or len(names) != len(figures) or not all(figure.isdecimal() for figure in figures):
        return _without("the report has no totals")
    totals = dict(zip(names, map(int, figures), strict=True))
    return tuple(
        counted(name, sum(totals[part] for part in parts), "", SOURCE, True)
        if all(part in totals for part in parts)
        else _absent(name, "it was not simulated")
        for name, parts in EVENTS.items()
    )


def count(argv: Sequence[str]) -> tuple[Counter, ...]:
    """Runs one of our own commands on the host, never a candidate, and returns all that is counted."""
    if shutil.which(TOOL) is None:
        return _without("valgrind is not installed: apt install valgrind")
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report")
        try:
            run(command(argv, str(report)))
        except Silent as silent:
            return _without(str(silent))
        return parse(report.read_text("utf-8", "replace"))


def probe() -> tuple[Counter, ...]:
    """Counts one run of a program that does nothing."""
    return count([PROBE])


def _absent(name: str, reason: str) -> Counter:
    return missing(name, "", SOURCE, reason, True)


def _without(reason: str) -> tuple[Counter, ...]:
    return tuple(_absent(name, reason) for name in EVENTS)
