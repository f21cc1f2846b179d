"""A pool of fresh processes of one program, and decision rules replayed over it."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from whet.core.audit import Rate
from whet.core.candidate import Candidate
from whet.core.verdict import Verdict
from whet.evaluators.ladder import Ladder
from whet.evaluators.timing.statistics import Stage
from whet.evaluators.timing.turns import SIDES

TURNS = 20
"""Turns of each measurement that fills the pool. With more there are fewer measurements, and more processes beyond
those asked for."""


@dataclass(frozen=True, slots=True)
class SampledProcesses:
    """Seconds of one pass in fresh processes of one program.

    Attributes:
        name: what was run.
        turns: three processes each, that ran one after the other; in the order in which they ran.
        turn_seconds: wall time of one turn, for translating turns into time.
    """

    name: str
    turns: tuple[tuple[float, ...], ...]
    turn_seconds: float

    @property
    def seconds(self) -> tuple[float, ...]:
        """One a process, in the order in which they ran."""
        return tuple(value for turn in self.turns for value in turn)

    @property
    def spread(self) -> float:
        """The standard deviation over the mean."""
        return statistics.stdev(self.seconds) / statistics.mean(self.seconds)


Decide = Callable[[SampledProcesses, random.Random, float], bool]
"""Whether a rule calls the candidate faster, given its true speedup."""


def measure_pool(name: str, ladder: Ladder, processes: int) -> SampledProcesses:
    """Times one program in fresh processes, as a measurement does; three a turn."""
    itself = Candidate(ladder.task.source)
    turns: list[tuple[float, ...]] = []
    start = time.perf_counter()
    while len(turns) * len(SIDES) < processes:
        # A share of 0 never decides, so all turns are measured.
        verdict = ladder.measure(itself, Verdict(itself.id, ()), (Stage(TURNS, 0.0),))
        assert verdict.measurement is not None, verdict.rungs[-1].detail
        for turn in verdict.measurement.raw["turns"]:
            passes = turn["passes"].values()
            turns.append(tuple(sum(sides[side]["inside"] for sides in passes) for side in turn["order"]))
    return SampledProcesses(name, tuple(turns), (time.perf_counter() - start) / len(turns))


def replay(decide: Decide, pool: SampledProcesses, speedup: float, trials: int, seed: int) -> Rate:
    """Returns how often a rule calls a candidate with this true speedup faster."""
    rng = random.Random(seed)
    return Rate(sum(decide(pool, rng, speedup) for _ in range(trials)), trials)
