"""``whet bench self scale``, the slots: how much more two of them do than one, of work that needs a core."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from whet.benchmarks.self.scale.places import KINDS, done, slots_on
from whet.benchmarks.self.scale.saying import missed, spread
from whet.benchmarks.self.scale.work import links_for, piece

GOAL = 1.9
"""Times as fast as one slot: 2 is the ideal, so that 5 % of it may be lost. A higher goal leaves less for giving work
out."""
SECONDS = 0.25
"""Of a processor, that a candidate takes."""


def report(candidates: int = 32, runs: int = 5) -> Iterator[str]:
    """Yields the lines of the report while it measures.

    Args:
        candidates: of each run.
        runs: with one slot and with two, in turn.
    """
    links = links_for(SECONDS)
    yield f"{candidates} candidates of {SECONDS:g} s on a core; {runs} runs in turn, on {os.cpu_count()} cores"
    yield f"| where | one slot, s | two slots, s | times as fast (goal: {GOAL:g}) |"
    yield "|---|---|---|---|"
    with tempfile.TemporaryDirectory(prefix="whet-self-") as folder:
        for kind in KINDS:
            spent: dict[int, list[float]] = {1: [], 2: []}
            for run in range(runs):
                for slots, seconds in spent.items():
                    with slots_on(kind, slots, Path(folder) / f"{kind} {slots} {run}") as executor:
                        for _ in done(executor, [piece("first", one) for one in range(4 * slots)]):
                            pass
                        began = time.perf_counter()
                        for _ in done(executor, [piece("work", one, links) for one in range(candidates)]):
                            pass
                        seconds.append(time.perf_counter() - began)
            ratios = [one / two for one, two in zip(spent[1], spent[2], strict=True)]
            cells = " | ".join(map(spread, (spent[1], spent[2], ratios)))
            yield f"| {kind} | {cells}{missed(median(ratios) < GOAL)} |"
