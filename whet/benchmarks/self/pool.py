"""A pool of turns in which all sides are one program, and decision rules replayed over it."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from whet.core.audit import Rate
from whet.core.candidate import Candidate
from whet.core.verdict import Verdict
from whet.evaluators.ladder import Ladder
from whet.evaluators.processes import Pass
from whet.evaluators.timing.quiet import quiet
from whet.evaluators.timing.statistics import Stage
from whet.evaluators.timing.turns import SIDES, Turn, from_raw

TURNS = 20
"""Turns of each measurement that fills the pool. With more there are fewer measurements, and more processes beyond
those asked for."""


@dataclass(frozen=True, slots=True)
class SampledProcesses:
    """Turns of fresh processes of one program, which is baseline, candidate and baseline again.

    Attributes:
        name: what was run.
        turns: all that were measured, disturbed ones too, in their order.
        turn_seconds: wall time of one turn, for translating turns into time.
    """

    name: str
    turns: tuple[Turn, ...]
    turn_seconds: float

    @property
    def workloads(self) -> tuple[str, ...]:
        """Names of those that each process was timed on."""
        return tuple(self.turns[0].passes)

    @property
    def seconds(self) -> tuple[float, ...]:
        """Those in the calls, one a process, in the order in which they ran."""
        return tuple(
            sum(sides[side].inside for sides in turn.passes.values()) for turn in self.turns for side in turn.order
        )

    @property
    def spread(self) -> float:
        """The standard deviation over the mean."""
        return statistics.stdev(self.seconds) / statistics.mean(self.seconds)

    @property
    def disturbed(self) -> int:
        """How many turns the machine did not leave alone."""
        return len(self.turns) - len(quiet(self.turns, self.workloads))


Decide = Callable[[SampledProcesses, random.Random, float], bool]
"""Whether a rule calls the candidate faster, given its true speedup."""


def measure_pool(name: str, ladder: Ladder, processes: int) -> SampledProcesses:
    """Times one program in fresh processes, as a measurement does; three a turn."""
    itself = Candidate(ladder.task.source)
    turns: list[Turn] = []
    start = time.perf_counter()
    while len(turns) * len(SIDES) < processes:
        # A share of 0 never decides, so all turns are measured.
        verdict = ladder.measure(itself, Verdict(itself.id, ()), (Stage(TURNS, 0.0),))
        assert verdict.measurement is not None, verdict.rungs[-1].detail
        turns += map(as_long, from_raw(verdict.measurement.raw["turns"]))
    return SampledProcesses(name, tuple(turns), (time.perf_counter() - start) / len(turns))


def as_long(turn: Turn) -> Turn:
    """Returns a turn in which all sides have as many calls: what a first turn shows may give the candidate more."""
    passes = {
        name: {**sides, "candidate": quicker(sides["candidate"], turn.scale.get(name, 1.0))}
        for name, sides in turn.passes.items()
    }
    return replace(turn, passes=passes, scale={})


def exchanged(turn: Turn, rng: random.Random, speedup: float) -> Turn:
    """Returns a turn as it could have been: any of its processes was the candidate's, which was faster by so much.

    All that is known of a process goes with it: what it waited, ran and had stolen, and how fast its processor was.
    """
    played = dict(zip(rng.sample(SIDES, len(SIDES)), SIDES, strict=True))
    passes = {
        name: {
            side: quicker(sides[was], speedup) if side == "candidate" else sides[was] for was, side in played.items()
        }
        for name, sides in turn.passes.items()
    }
    return replace(turn, order=tuple(played[side] for side in turn.order), passes=passes)


def quicker(one: Pass, speedup: float) -> Pass:
    """Returns a pass whose calls are faster by a factor; what handing over takes stays as it was."""
    saved, used = one.inside * (1 - 1 / speedup), one.cpu * (1 - 1 / speedup)
    return replace(
        one,
        inside=one.inside - saved,
        outside=one.outside - saved,
        cpu=one.cpu - used,
        ran=None if one.ran is None else one.ran - used,
    )


def replay(decide: Decide, pool: SampledProcesses, speedup: float, trials: int, seed: int) -> Rate:
    """Returns how often a rule calls a candidate with this true speedup faster."""
    rng = random.Random(seed)
    return Rate(sum(decide(pool, rng, speedup) for _ in range(trials)), trials)
