"""Inputs that a recorded seed gives, drawn again."""

from __future__ import annotations

import random
from collections.abc import Sequence

from whet.evaluators.baseline import Drawer
from whet.evaluators.inputs.plan import input_hash, plan
from whet.evaluators.inputs.source import InputSource
from whet.evaluators.timing.workloads import TimedWorkload, draw_each, hashes


def planned(source: InputSource, seed: int) -> set[str]:
    """Returns the hashes of all inputs that generators and cases may give the differential rung from a seed."""
    return {input_hash(item) for item in plan(source, seed)}


def redrawn(source: InputSource, workloads: Sequence[tuple[str, int]], seed: int) -> dict[str, str]:
    """Returns the hashes of a turn's inputs, by workload, drawn from its seed.

    Args:
        source: draws them.
        workloads: name and inputs a pass of each, in their order.
        seed: of the turn.

    Raises:
        UsageError: the workload has no such size, or its generator failed.
    """
    timed = [TimedWorkload(name, count, Drawer(name, source)) for name, count in workloads]
    return hashes(dict(draw_each(timed, random.Random(seed))))
