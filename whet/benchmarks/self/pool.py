"""A pool of fresh processes of one program, and decision rules replayed over it.

A rule sees what it would see live: turns drawn from the pool (for a paired rule) or two consecutive stretches of
it (for a rule that times one program after the other). The candidate's seconds are divided by a true speedup.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from whet.core.measurement import Measurement
from whet.evaluators.decision import Rule, sequential
from whet.evaluators.statistics import Stage
from whet.evaluators.subjects import Pass
from whet.evaluators.timing import TimedWorkload, Turn

WORK = (TimedWorkload("pool", 1, lambda seed, count: [], True),)


@dataclass(frozen=True, slots=True)
class Pool:
    """Seconds of one pass in fresh processes, in the order in which they ran.

    Attributes:
        name: what was run.
        seconds: one a process.
        turn_seconds: wall time of one live turn (three processes), for translating turns into time.
    """

    name: str
    seconds: tuple[float, ...]
    turn_seconds: float

    @property
    def spread(self) -> float:
        """The standard deviation over the mean."""
        return statistics.stdev(self.seconds) / statistics.mean(self.seconds)


@dataclass(frozen=True, slots=True)
class Rate:
    """How often something happened, with the exact (Clopper-Pearson) 95 % bound of a binomial."""

    hits: int
    trials: int

    @property
    def share(self) -> float:
        """Hits over trials."""
        return self.hits / self.trials

    @property
    def bounds(self) -> tuple[float, float]:
        """The two-sided exact interval at 95 %."""
        from scipy.stats import binomtest

        found = binomtest(self.hits, self.trials).proportion_ci(0.95, "exact")
        return float(found.low), float(found.high)


Decide = Callable[[Pool, random.Random, float], bool]
"""Whether a rule calls the candidate faster, given its true speedup."""


def whet_rule(stages: Sequence[Stage], min_speedup: float = 1.01, confidence: float = 0.99) -> Decide:
    """Returns whet's own rule over random turns from the pool."""
    rule = Rule(min_speedup, confidence, "itself")

    def decide(pool: Pool, rng: random.Random, speedup: float) -> bool:
        def turn(number: int) -> Turn:
            baseline, candidate, again = (rng.choice(pool.seconds) for _ in range(3))
            sides = {"baseline": baseline, "candidate": candidate / speedup, "again": again}
            return Turn(tuple(sides), 0.0, {"pool": {side: Pass(s, s, s, ()) for side, s in sides.items()}})

        found = sequential(turn, WORK, stages, rule)
        return isinstance(found, Measurement) and found.faster

    return decide


def stretches(pool: Pool, rng: random.Random, runs: int, speedup: float) -> tuple[list[float], list[float]]:
    """Returns two consecutive stretches of the pool, as a tool sees that times A to its end and then B."""
    start = rng.randrange(len(pool.seconds) - 2 * runs + 1)
    ours = list(pool.seconds[start : start + runs])
    theirs = [seconds / speedup for seconds in pool.seconds[start + runs : start + 2 * runs]]
    if rng.random() < 0.5:  # either may come first
        return [s * speedup for s in theirs], [s / speedup for s in ours]
    return ours, theirs


def mean_rule(runs: int, threshold: float) -> Decide:
    """Returns the plain rule: the ratio of two means beyond a threshold."""

    def decide(pool: Pool, rng: random.Random, speedup: float) -> bool:
        ours, theirs = stretches(pool, rng, runs, speedup)
        return statistics.mean(ours) / statistics.mean(theirs) > threshold

    return decide


def hyperfine_rule(runs: int) -> Decide:
    """Returns what a reader of hyperfine's summary concludes: "A ran r +- e times faster", and r - e above 1.

    e is the propagated standard deviation of the ratio of two means, as that summary prints it.
    """

    def decide(pool: Pool, rng: random.Random, speedup: float) -> bool:
        ours, theirs = stretches(pool, rng, runs, speedup)
        ratio = statistics.mean(ours) / statistics.mean(theirs)
        spread = [statistics.stdev(side) / statistics.mean(side) for side in (ours, theirs)]
        return ratio - ratio * math.hypot(*spread) > 1.0

    return decide


def pyperf_rule(runs: int) -> Decide:
    """Returns pyperf's rule: a pooled two-sample t-test at 95 %, on the values of two runs one after the other."""

    def decide(pool: Pool, rng: random.Random, speedup: float) -> bool:
        from scipy.stats import ttest_ind

        ours, theirs = stretches(pool, rng, runs, speedup)
        return float(ttest_ind(ours, theirs).pvalue) < 0.05 and statistics.mean(ours) > statistics.mean(theirs)

    return decide


def replay(decide: Decide, pool: Pool, speedup: float, trials: int, seed: int) -> Rate:
    """Returns how often a rule calls a candidate with this true speedup faster."""
    rng = random.Random(seed)
    return Rate(sum(decide(pool, rng, speedup) for _ in range(trials)), trials)
