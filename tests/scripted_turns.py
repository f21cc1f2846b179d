"""Turns of a measurement whose truth is known, and what the decision rule makes of them."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

from whet.core.measurement import Measurement
from whet.evaluators.processes import Pass
from whet.evaluators.timing.decision import Rule, sequential
from whet.evaluators.timing.statistics import VERDICT_STAGES, Stage
from whet.evaluators.timing.turns import Turn
from whet.evaluators.timing.workloads import TimedWorkload

RULE = Rule(min_speedup=1.01, confidence=0.99, baseline="the original")


def works(*names: str) -> tuple[TimedWorkload, ...]:
    return tuple(TimedWorkload(name, 1, lambda seed, count: [], True) for name in names)


def turns(rng: random.Random, speedups: dict[str, float], noise: float, aa: float = 1.0, handover: float = 0.002):
    """Returns what makes turns of 20 ms with log-normal noise."""

    def one(number: int) -> Turn:
        passes = {}
        for name, speedup in speedups.items():
            seconds = {"baseline": 0.02, "candidate": 0.02 / speedup, "again": 0.02 / aa}
            passes[name] = {
                side: Pass(value + handover, value, value, ())
                for side, value in ((s, v * math.exp(rng.gauss(0, noise))) for s, v in seconds.items())
            }
        return Turn(("baseline", "candidate", "again"), 0.0, passes)

    return one


def decide(
    speedups: dict[str, float], noise: float = 0.016, seed: int = 1, stages: Sequence[Stage] = VERDICT_STAGES, **kw
):
    found = sequential(turns(random.Random(seed), speedups, noise, **kw), works(*speedups), stages, RULE)
    assert isinstance(found, Measurement)
    return found
