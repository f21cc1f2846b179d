"""``whet bench self scale``, the overhead: what a candidate costs on Ray above local processes."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from statistics import median

from whet.benchmarks.self.scale.places import KINDS, LOCAL, RAY, done, slots_on
from whet.benchmarks.self.scale.saying import missed, spread
from whet.benchmarks.self.scale.work import links_for, piece
from whet.sandbox.workers.base import Executor

GOAL = 3.0
"""Milliseconds a candidate."""
SLOTS = 2  # slots in both places; with more than the machine has cores, work waits for a core
WORK = (0.0, 0.005)
"""Seconds of a processor that a candidate takes."""


def report(candidates: int = 400, runs: int = 7) -> Iterator[str]:
    """Yields the lines of the report while it measures.

    Args:
        candidates: of each run.
        runs: of each kind, in turn on both.
    """
    yield f"{candidates} candidates a run, {runs} runs of each kind in turn on both; median, and least to most of them"
    yield f"| work | given out | local, ms a candidate | Ray, ms a candidate | Ray above local (goal: {GOAL:g} ms) |"
    yield "|---|---|---|---|---|"
    with tempfile.TemporaryDirectory(prefix="whet-self-") as folder, ExitStack() as stack:
        executors = {kind: stack.enter_context(slots_on(kind, SLOTS, Path(folder) / kind)) for kind in KINDS}
        for seconds, together in product(WORK, (True, False)):
            ways = {kind: _RunKind(kind, executor, seconds, together) for kind, executor in executors.items()}
            for run in range(-1, runs):
                for way in ways.values():
                    way.run(run, candidates)
            above = [theirs - ours for ours, theirs in zip(ways[LOCAL].spent, ways[RAY].spent, strict=True)]
            cells = [spread(ways[LOCAL].spent), spread(ways[RAY].spent), spread(above)]
            given = f"together, {SLOTS} slots" if together else "one after the other"
            yield f"| {seconds * 1e3:g} ms | {given} | {' | '.join(cells)}{missed(median(above) > GOAL)} |"


class _RunKind:
    """One kind of run, on one executor.

    Attributes:
        spent: milliseconds a candidate of each run.
    """

    def __init__(self, kind: str, executor: Executor, seconds: float, together: bool) -> None:
        self.spent: list[float] = []
        self._executor = executor
        self._kind = kind
        self._links = links_for(seconds)
        self._together = together

    def run(self, number: int, candidates: int) -> None:
        """Does one run; the first, of a negative number, starts the workers and does not count."""
        name = f"{self._kind} {self._links} {self._together} {number}"
        work = [piece(name, one, self._links) for one in range(candidates)]
        began = time.perf_counter()
        for batch in [work] if self._together else [[one] for one in work]:
            for _ in done(self._executor, batch):
                pass
        if number >= 0:
            self.spent.append((time.perf_counter() - began) / candidates * 1e3)
