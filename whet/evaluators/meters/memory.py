"""Memory: the peak of the whole process tree, from a control group read outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from whet.core.errors import UsageError
from whet.core.task import Task
from whet.evaluators.artifacts import Artifact, Builder
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.source import Input
from whet.evaluators.meters.base import Setting
from whet.evaluators.processes import Pass
from whet.evaluators.timing.statistics import STEADY
from whet.evaluators.timing.turns import Series, Turn, amounts
from whet.sandbox.protocol import Job


class Memory:
    """The meter of ``--metric memory``."""

    name = "memory"
    unit = "bytes"
    looks = STEADY
    pass_seconds = 0.005
    clocked = False
    forks = False
    lengthens = False
    controls: tuple[str, ...] = ()

    def variants(self, task: Task, source: str) -> tuple[tuple[str, ...], ...]:
        """See `Meter.variants`."""
        return ((),)

    def take(
        self, artifact: Artifact, drawn: Mapping[str, Sequence[Input]], warm: Input, setting: Setting
    ) -> Mapping[str, Pass] | Fault:
        """See `Meter.take`; a process a workload, as what one has taken it seldom gives back."""
        passes: dict[str, Pass] = {}
        for name, inputs in drawn.items():
            process = artifact.start(setting.cores, setting.hash_seed, setting.layout, gauged=True)
            if isinstance(process, Fault):
                return process
            try:
                measured = process.timed([item.payload for item in inputs], setting.seconds)
                if isinstance(measured, Fault):
                    return measured
                peak = process.peak()
            finally:
                process.close()
            assert peak is not None, "the sandbox was tried when the meter was opened"
            passes[name] = replace(measured, amount=float(peak))
        return passes

    def series(self, turns: Sequence[Turn], name: str) -> Series | Fault:
        """See `Meter.series`."""
        return amounts(turns, name)


def open_memory(builder: Builder) -> Memory:
    """Returns the meter.

    Raises:
        UsageError: no control group counts the memory of a sandbox here.
    """
    session = builder.sandbox.open(Job("programs", builder.interpreter, gauged=True))
    try:
        peak = session.peak()
    finally:
        session.close()
    if peak is None:
        raise UsageError(
            f"--metric memory needs a control group that counts the sandbox's memory, and {builder.sandbox.name} has "
            "none here; give --sandbox docker with a docker engine on this machine"
        )
    return Memory()
