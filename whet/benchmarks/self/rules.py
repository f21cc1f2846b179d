"""Decision rules, whet's own and those of others, each fed from the same pool of processes.

A rule sees what it would see live: turns drawn from the pool (for a paired rule) or two consecutive stretches of
it (for a rule that times one program after the other). The candidate's seconds are divided by a true speedup.
"""

from __future__ import annotations

import math
import random
import statistics

from whet.benchmarks.self.pool import Decide, SampledProcesses, exchanged
from whet.evaluators.timing.decision import Rule, sequential
from whet.evaluators.timing.plan import PILOT_TURNS, TimingPlan, pilot, worth_confirming
from whet.evaluators.timing.statistics import CONFIRM_STAGES, VERDICT_STAGES
from whet.evaluators.timing.turns import Turn
from whet.evaluators.timing.workloads import TimedWorkload

CONFIDENCE = 0.99
MOST_RUNS = 20
"""Runs of each program at most, where a rule times one program after the other. Longer stretches average more noise and
meet more drift; a quarter of the pool bounds them too, so that stretches can begin at many places."""


def whet_rule(plan: TimingPlan, min_speedup: float = 1.01, confidence: float = CONFIDENCE) -> Decide:
    """Returns whet's own rule over random turns from the pool, those that it drops among them."""
    rule = Rule(min_speedup, confidence, "itself")

    def decide(pool: SampledProcesses, rng: random.Random, speedup: float) -> bool:
        drawn = rng.sample(pool.turns, len(pool.turns))  # none twice: no two turns that were measured are alike
        works = [TimedWorkload(name, 1, lambda seed, count: []) for name in pool.workloads]

        def turn(number: int) -> Turn:
            return exchanged(drawn[number % len(drawn)], rng, speedup)

        return sequential(turn, works, plan.stages, rule, over=plan.over).faster

    return decide


def stretches(pool: SampledProcesses, rng: random.Random, runs: int, speedup: float) -> tuple[list[float], list[float]]:
    """Returns two consecutive stretches of the pool, as a tool sees that times A to its end and then B."""
    start = rng.randrange(len(pool.seconds) - 2 * runs + 1)
    ours = list(pool.seconds[start : start + runs])
    theirs = [seconds / speedup for seconds in pool.seconds[start + runs : start + 2 * runs]]
    if rng.random() < 0.5:  # either may come first
        return [s * speedup for s in theirs], [s / speedup for s in ours]
    return ours, theirs


def mean_rule(runs: int, threshold: float) -> Decide:
    """Returns the plain rule: the ratio of two means beyond a threshold."""

    def decide(pool: SampledProcesses, rng: random.Random, speedup: float) -> bool:
        ours, theirs = stretches(pool, rng, runs, speedup)
        return statistics.mean(ours) / statistics.mean(theirs) > threshold

    return decide


def hyperfine_rule(runs: int) -> Decide:
    """Returns what a reader of hyperfine's summary concludes: "A ran r +- e times faster", and r - e above 1.

    e is the propagated standard deviation of the ratio of two means, as that summary prints it.
    """

    def decide(pool: SampledProcesses, rng: random.Random, speedup: float) -> bool:
        ours, theirs = stretches(pool, rng, runs, speedup)
        ratio = statistics.mean(ours) / statistics.mean(theirs)
        spread = [statistics.stdev(side) / statistics.mean(side) for side in (ours, theirs)]
        return ratio - ratio * math.hypot(*spread) > 1.0

    return decide


def pyperf_rule(runs: int) -> Decide:
    """Returns pyperf's rule: a pooled two-sample t-test at 95 %, on the values of two runs one after the other."""

    def decide(pool: SampledProcesses, rng: random.Random, speedup: float) -> bool:
        from scipy.stats import ttest_ind

        ours, theirs = stretches(pool, rng, runs, speedup)
        return float(ttest_ind(ours, theirs).pvalue) < 0.05 and statistics.mean(ours) > statistics.mean(theirs)

    return decide


def rules(pool: SampledProcesses) -> dict[str, tuple[str, Decide]]:
    """Returns the rules that are compared, each with the data that it takes.

    Of whet, what ``whet verify --until measure`` says, and what ``whet verify`` says.
    """
    runs = min(MOST_RUNS, len(pool.seconds) // 4)
    measured, most = whet_rule(TimingPlan(VERDICT_STAGES)), VERDICT_STAGES[-1].turns
    worth = whet_rule(TimingPlan(pilot(CONFIDENCE), over=worth_confirming))
    return {
        "whet": (f"up to {most} turns", measured),
        "whet, confirmed": (
            f"1 or {PILOT_TURNS} turns, or up to {most}; then up to {CONFIRM_STAGES[-1].turns} fresh ones",
            _both(_either(worth, measured), whet_rule(TimingPlan(CONFIRM_STAGES))),
        ),
        "mean of N > 1.01": (f"{runs} + {runs} runs in sequence", mean_rule(runs, 1.01)),
        "mean of N > 1.02": (f"{runs} + {runs} runs in sequence", mean_rule(runs, 1.02)),
        "hyperfine's summary": (f"{runs} + {runs} runs in sequence", hyperfine_rule(runs)),
        "pyperf's t-test": (f"{runs} + {runs} runs in sequence", pyperf_rule(runs)),
    }


def _either(first: Decide, second: Decide) -> Decide:
    return lambda pool, rng, speedup: first(pool, rng, speedup) or second(pool, rng, speedup)


def _both(first: Decide, second: Decide) -> Decide:
    return lambda pool, rng, speedup: first(pool, rng, speedup) and second(pool, rng, speedup)
