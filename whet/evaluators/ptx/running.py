"""The kernel as it stands, on its device: whether it does what its reference does, and how long it takes."""

from __future__ import annotations

import statistics
from contextlib import closing
from dataclasses import replace

from whet.core.errors import BaselineError
from whet.evaluators.baseline import Baseline
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.source import Input, InputSource, derive
from whet.evaluators.oracle import Oracle
from whet.evaluators.pairs import Side
from whet.evaluators.subjects import Subject, Workshop

TIMINGS = 3


def on_device(workshop: Workshop, reference: Baseline, source: InputSource, oracle: Oracle, seed: int) -> Baseline:
    """Returns the baseline of a kernel: its reference says what is right, and what stands there what a launch takes.

    Args:
        workshop: of the task.
        reference: was examined.
        source: draws the inputs.
        oracle: compares outcomes.
        seed: of the inputs.

    Raises:
        BaselineError: the kernel does not run, or gives something else than its reference.
    """
    task = workshop.task
    standing = workshop.build(task.source)
    assert isinstance(standing, Subject), "PTX is staged as it is"
    seconds = {}
    with closing(Side(reference.subject, 0)) as ours, closing(Side(standing, 0)) as theirs:
        for size in source.sizes:
            (item,) = source.draw(size, [derive(seed, "kernel", size)])
            fault = _difference(ours, theirs, item, oracle, reference.limit)
            found = fault or _launch_seconds(standing, item, reference.limit)
            if isinstance(found, Fault):
                told = " ".join(found.detail.split())[:400]
                raise BaselineError(f"{task.target} is not what its reference is: {told}", found.reason.value)
            seconds[item.name] = found
    return replace(reference, seconds=seconds)


def _difference(ours: Side, theirs: Side, item: Input, oracle: Oracle, limit: float) -> Fault | None:
    expected, actual = (side.call(item.payload, limit) for side in (ours, theirs))
    if isinstance(expected, Fault):
        return expected
    return actual if isinstance(actual, Fault) else oracle.judge(item, expected[0], actual[0])


def _launch_seconds(standing: Subject, item: Input, limit: float) -> float | Fault:
    """Returns the seconds of a launch by the device's own clock."""
    live = standing.start()
    if isinstance(live, Fault):
        return live
    times = []
    with closing(live):
        for _ in range(TIMINGS):
            one = live.timed([item.payload], limit)
            if isinstance(one, Fault):
                return one
            times.append(one.inside if one.events is None else one.events)
    return statistics.median(times)
