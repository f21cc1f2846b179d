"""The kernel as it stands, on its device: whether it does what its reference does, and how long it takes."""

from __future__ import annotations

import statistics
from contextlib import closing
from dataclasses import replace

from whet.core.errors import BaselineError
from whet.evaluators.artifacts import Artifact, Builder
from whet.evaluators.baseline import Baseline
from whet.evaluators.finding import RungEndedError, sound
from whet.evaluators.inputs.source import Input, InputSource, derive
from whet.evaluators.oracle import Oracle
from whet.evaluators.pairs import Side

TIMINGS = 3
"""Launches of each size that are timed, of which the median counts: one that is disturbed does not matter. More make
the median steadier, and each is a launch more of every size."""


def on_device(builder: Builder, reference: Baseline, source: InputSource, oracle: Oracle, seed: int) -> Baseline:
    """Returns the baseline of a kernel: its reference says what is right, and what stands there what a launch takes.

    Args:
        builder: of the task.
        reference: was examined.
        source: draws the inputs.
        oracle: compares outcomes.
        seed: of the inputs.

    Raises:
        BaselineError: the kernel does not run, or gives something else than its reference.
    """
    task = builder.task
    standing = builder.build(task.source)
    assert isinstance(standing, Artifact), "PTX is staged as it is"
    seconds = {}
    with closing(Side(reference.artifact, 0)) as ours, closing(Side(standing, 0)) as theirs:
        for size in source.sizes:
            (item,) = source.draw(size, [derive(seed, "kernel", size)])
            try:
                _expect_same(ours, theirs, item, oracle, reference.limit)
                seconds[item.name] = _launch_seconds(standing, item, reference.limit)
            except RungEndedError as ended:
                told = " ".join(ended.finding.detail.split())[:400]
                reason = ended.finding.reason.value
                raise BaselineError(f"{task.target} is not what its reference is: {told}", reason) from None
    return replace(reference, seconds=seconds)


def _expect_same(ours: Side, theirs: Side, item: Input, oracle: Oracle, limit: float) -> None:
    (expected, _), (actual, _) = (sound(side.call(item.payload, limit)) for side in (ours, theirs))
    sound(oracle.judge(item, expected, actual))


def _launch_seconds(standing: Artifact, item: Input, limit: float) -> float:
    """Returns the seconds of a launch by the device's own clock."""
    times = []
    with closing(sound(standing.start())) as process:
        for _ in range(TIMINGS):
            one = sound(process.timed([item.payload], limit))
            times.append(one.inside if one.events is None else one.events)
    return statistics.median(times)
