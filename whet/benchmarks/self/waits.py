"""How long a run takes beside its model and its evaluator."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from pathlib import Path

from whet.benchmarks.self.rehearsal import Rehearsal, rows

ANSWER = 0.2
"""Seconds that the model takes for an answer. Longer ones hide the loop's own time, so that the goal of 5 % is easier
to reach."""
SLOTS = 2  # answers at once; more shorten the ideal, of which the loop's own time is then a larger share
CANDIDATES = 4  # candidates of each round; what a round takes grows with them
SHORT, LONG = 20, 100
"""Rounds of the two runs whose difference is the cost of a round, whatever a run costs by itself."""


def ideal(rounds: int, slots: int = SLOTS) -> float:
    """Returns the seconds that a run's answers take: after each round but the last the Judge is asked."""
    return (rounds * math.ceil(CANDIDATES / slots) + rounds - 1) * ANSWER


def report(folder: Path, rounds: int = 10) -> Iterator[str]:
    """Yields wall time against the ideal, and what a round costs.

    Args:
        folder: for what the runs leave.
        rounds: of the run with a model that takes its time.
    """
    target = folder / "target.py"
    Rehearsal(folder / "first", target, 2).work()  # imports and templates
    rows(LONG, CANDIDATES)  # the texts of the script
    (folder / "pyproject.toml").write_text(f"[tool.whet.providers.scripted]\nslots = {SLOTS}\n", encoding="utf-8")
    wall, _ = _spent(Rehearsal(folder / "waiting", target, rounds, CANDIDATES, ANSWER))
    best = ideal(rounds)
    yield (
        f"a model that answers in {ANSWER} s, {SLOTS} slots, k={CANDIDATES}, {rounds} rounds: {wall:.2f} s against "
        f"{best:.2f} s ideal, {wall / best - 1:+.1%} (goal 5 %); evaluation takes no time"
    )
    short, long = (
        _spent(Rehearsal(folder / f"{n} rounds", target, n, CANDIDATES, journals=False)) for n in (SHORT, LONG)
    )
    wall, cpu = ((after - before) / (LONG - SHORT) * 1e3 for before, after in zip(short, long, strict=True))
    yield f"the loop itself, k={CANDIDATES}: {wall:.1f} ms a round (goal 10), of them {cpu:.1f} ms on the CPU"


def _spent(script: Rehearsal) -> tuple[float, float]:
    """Returns seconds of wall time and of CPU time."""
    wall, cpu = time.perf_counter(), time.process_time()
    script.work()
    return time.perf_counter() - wall, time.process_time() - cpu
