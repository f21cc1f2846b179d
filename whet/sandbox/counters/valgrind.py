"""Instructions, and cache and branch misses of a simulated processor, by cachegrind."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from whet.core.counter import Counter, counted, missing
from whet.sandbox.counters.process import PROBE, Silent, run

SOURCE = "cachegrind"
TOOL = "/usr/bin/valgrind"
PORTABLE = ("-march=x86-64-v3",)
"""Debian's valgrind knows no AVX-512: what is counted must not be built for this very machine."""
SLOWED = 10.0
"""How many times its limit a counted program may take; the limit is ten times what the baseline takes."""
START_SECONDS = 5.0
"""Seconds that the tool itself may take before the program begins."""
EVENTS = {
    "instructions": ("Ir",),
    "simulated-data-cache-misses": ("D1mr", "D1mw"),
    "simulated-last-level-misses": ("ILmr", "DLmr", "DLmw"),
    "simulated-branch-misses": ("Bcm", "Bim"),
}


def lacking() -> str:
    """Returns why nothing can be counted; empty where it can."""
    if shutil.which("valgrind", path="/usr/bin") is None:
        return "valgrind is not installed: apt install valgrind"
    return ""


def command(argv: Sequence[str], report: str, simulate: bool = False) -> list[str]:
    """Returns what runs a command and writes its counts to a file.

    Args:
        argv: the command.
        report: the file.
        simulate: whether to simulate caches and branches too, which takes half as long again.
    """
    switch = "yes" if simulate else "no"
    return [
        *(TOOL, "-q", "--tool=cachegrind", "--log-file=/dev/null"),
        *(f"--cache-sim={switch}", f"--branch-sim={switch}", f"--cachegrind-out-file={report}", "--"),
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


def instructions(report: str) -> int | None:
    """Returns the instructions of a report, if it tells them."""
    value = parse(report)[0].value
    return None if value is None else int(value)


def count(argv: Sequence[str]) -> tuple[Counter, ...]:
    """Runs one of our own commands on the host, never a candidate, and returns all that is counted."""
    if reason := lacking():
        return _without(reason)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report")
        try:
            run(command(argv, str(report), simulate=True))
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
