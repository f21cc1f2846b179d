"""``whet bench self scale``, the flood: very many candidates through one driver on Ray."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from whet.benchmarks.self.scale.checking import Faults, ReceivedResults, faults
from whet.benchmarks.self.scale.memory import Memory
from whet.benchmarks.self.scale.places import RAY, finished, slots_on
from whet.benchmarks.self.scale.saying import missed
from whet.benchmarks.self.scale.work import piece
from whet.core.store import Store
from whet.sandbox.workers.base import Executor

CANDIDATES = 100_000
"""Candidates through one driver: over the 95,000 after `SETTLED`, `GROWTH_GOAL` is about 1 KB each. More show smaller
growth and take longer."""
SETTLED = 5_000
"""Candidates after which all that is loaded once is loaded."""
LOOKS = 10  # looks at the memory after the first one, evenly spread; more show more finely when it grows
SLOTS = 2  # slots that take candidates; more compete with the driver for the cores of a small machine
BATCH = 500
"""Candidates that are handed over together, while as many before them are under way."""
RUN = "flood"
GROWTH_GOAL, RATE_GOAL = 100.0, 300.0
"""Megabytes of the driver, and candidates a second."""


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen on the way.

    Attributes:
        candidates: that were done.
        seconds: since the first was handed over.
        memory: at that moment.
    """

    candidates: int
    seconds: float
    memory: Memory


def report(candidates: int = CANDIDATES, settled: int = SETTLED) -> Iterator[str]:
    """Yields the lines of the report while it measures.

    Args:
        candidates: how many.
        settled: after how many growth begins to count.
    """
    yield f"{candidates:,} candidates that take no time, {SLOTS} slots; MB that are resident"
    yield "| candidates | a second since the line before | driver | raylet | Ray's control | workers |"
    yield "|---|---|---|---|---|---|"
    with tempfile.TemporaryDirectory(prefix="whet-self-") as folder:
        home, told = Path(folder), ReceivedResults(candidates)
        looks: list[Look] = []
        with slots_on(RAY, SLOTS, home) as executor:
            for look in flood(executor, candidates, settled, told):
                yield _row(look, looks[-1] if looks else Look(0, 0.0, look.memory))
                looks.append(look)
        with closing(Store(home)) as store:
            found = faults(store, RUN, candidates, 0, told)
    yield from _verdict(looks, found, candidates)


def flood(executor: Executor, candidates: int, settled: int, told: ReceivedResults) -> Iterator[Look]:
    """Has very many candidates done, and yields what it sees on the way: first when it has settled."""
    every = (candidates - settled) // LOOKS
    marks = [settled + every * number for number in range(LOOKS)] + [candidates]
    began = time.perf_counter()
    for count, result in enumerate(_results(executor, candidates), 1):
        told.take(result)
        if count == marks[0]:
            yield Look(marks.pop(0), time.perf_counter() - began, Memory.now())


def _results(executor: Executor, candidates: int) -> Iterator[dict[str, object]]:
    """Yields the results of all; the next batch is under way before the last one is waited for."""
    ahead: list[int] = []
    for first in range(0, candidates + BATCH, BATCH):
        batch = [executor.submit(piece(RUN, number)) for number in range(first, min(first + BATCH, candidates))]
        yield from (outcome.result for outcome in finished(executor, ahead))
        ahead = batch


def _row(look: Look, before: Look) -> str:
    rate = (look.candidates - before.candidates) / (look.seconds - before.seconds)
    held = " | ".join(f"{getattr(look.memory, part):.0f}" for part in Memory.__slots__)
    return f"| {look.candidates:,} | {rate:.0f} | {held} |"


def _verdict(looks: list[Look], found: Faults, candidates: int) -> Iterator[str]:
    first, last = looks[0], looks[-1]
    grown = {part: getattr(last.memory, part) - getattr(first.memory, part) for part in Memory.__slots__}
    driver, rate = grown.pop("driver"), last.candidates / last.seconds
    beside = ", ".join(f"{part} {more:+.1f}" for part, more in grown.items())
    yield (
        f"  the driver grew by {driver:.1f} MB from {first.candidates:,} on; goal under {GROWTH_GOAL:g}"
        f"{missed(driver >= GROWTH_GOAL)}; beside it {beside} MB"
    )
    yield f"  {rate:.0f} candidates a second; goal at least {RATE_GOAL:g}{missed(rate < RATE_GOAL)}"
    yield f"  results in the store, of {candidates:,}: {found}; goal 0 of each{missed(found.total > 0)}"
