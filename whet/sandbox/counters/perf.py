"""Kernel and hardware events, by ``perf stat -j``."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from whet.core.counter import Counter, counted, missing
from whet.sandbox.counters.process import PROBE, Silent, run

SOURCE = "perf"
HARDWARE = ("instructions", "cycles", "branch-misses", "cache-misses")
SOFTWARE = ("task-clock", "page-faults", "context-switches", "cpu-migrations")
UNITS = {"task-clock": "ms"}
ABSENT = {
    "<not supported>": "the processor, or the virtual machine around it, offers no such counter",
    "<not counted>": "the kernel never scheduled it",
}


def count(argv: Sequence[str], events: Sequence[str] = HARDWARE + SOFTWARE) -> tuple[Counter, ...]:
    """Runs one of our own commands and returns a counter an event.

    Args:
        argv: what to run, on the host: never a candidate.
        events: as perf names them.
    """
    tool = shutil.which("perf")
    if tool is None:
        return _without(events, "perf is not installed: apt install linux-perf")
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        try:
            run([tool, "stat", "-j", "-o", str(report), "-e", ",".join(events), "--", *argv])
        except Silent as silent:
            return _without(events, str(silent))
        found = {counter.name: counter for counter in parse(report.read_text("utf-8", "replace"))}
    return tuple(found.get(event) or _absent(event, "perf did not report it") for event in events)


def parse(report: str) -> tuple[Counter, ...]:
    """Reads what ``perf stat -j`` wrote: one JSON object a line, others are passed over.

    Events that were counted for a part of the time only are scaled up by perf, and so are estimates.
    """
    counters = []
    for line in report.splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict) and isinstance(row.get("event"), str) and "counter-value" in row:
            counters.append(_counter(row["event"], str(row["counter-value"])))
    return tuple(counters)


def probe() -> tuple[Counter, ...]:
    """Counts one run of a program that does nothing."""
    return count([PROBE])


def _counter(event: str, value: str) -> Counter:
    # perf appends the privilege that it was held to: "instructions:u".
    name = event.partition(":")[0]
    try:
        figure = float(value)
    except ValueError:
        return _absent(name, ABSENT.get(value, f"perf says {value}"))
    return counted(name, figure, UNITS.get(name, ""), SOURCE)


def _absent(event: str, reason: str) -> Counter:
    return missing(event, UNITS.get(event, ""), SOURCE, reason)


def _without(events: Sequence[str], reason: str) -> tuple[Counter, ...]:
    return tuple(_absent(event, reason) for event in events)
