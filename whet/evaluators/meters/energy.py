"""Energy: joules of the processor packages while the window is open, whoever used them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from whet.core.errors import UsageError
from whet.core.task import Task
from whet.evaluators.artifacts import Artifact, Builder
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.source import Input
from whet.evaluators.meters.base import Setting
from whet.evaluators.meters.time import windows
from whet.evaluators.processes import Pass, TargetProcess
from whet.evaluators.timing.statistics import NOISY
from whet.evaluators.timing.turns import Series, Turn, amounts, as_if_new, series
from whet.sandbox.counters import rapl
from whet.sandbox.toolchains import native


class Energy:
    """The meter of ``--metric energy``."""

    name = "energy"
    unit = "J"
    looks = NOISY
    pass_seconds = 0.1  # the meters advance about once a millisecond
    clocked = True
    forks = False
    lengthens = False
    controls: tuple[str, ...] = ()

    def __init__(self, root: Path = rapl.ROOT) -> None:
        self._root = root

    def variants(self, task: Task, source: str) -> tuple[tuple[str, ...], ...]:
        """See `Meter.variants`."""
        return native.variants(task, source)

    def take(
        self, artifact: Artifact, drawn: Mapping[str, Sequence[Input]], warm: Input, setting: Setting
    ) -> Mapping[str, Pass] | Fault:
        """See `Meter.take`."""
        return windows(artifact, drawn, warm, setting, self._window)

    def series(self, turns: Sequence[Turn], name: str) -> Series | Fault:
        """See `Meter.series`; a process whose clock disagrees with the one out here is believed in nothing."""
        clocked = series(turns, name)
        if isinstance(clocked, Fault):
            return clocked
        found = amounts(turns, name)
        longer = as_if_new(turns, name)  # joules of a pass grow with its time
        return replace(found, candidate=tuple(one * more for one, more in zip(found.candidate, longer, strict=True)))

    def _window(
        self,
        process: TargetProcess,
        payloads: Sequence[bytes],
        seconds: float,
        repeats: int,
        called: Sequence[int] | None,
    ) -> Pass | Fault:
        before = rapl.read(self._root)
        measured = process.timed(payloads, seconds, repeats, called)
        if isinstance(measured, Fault):
            return measured
        return replace(measured, amount=rapl.joules(before, rapl.read(self._root), self._root))


def open_energy(builder: Builder) -> Energy:
    """Returns the meter.

    Raises:
        UsageError: this machine has no energy meter that may be read.
    """
    if reason := rapl.lacking():
        raise UsageError(f"--metric energy cannot be measured on this machine: {reason}; use one with RAPL, as root")
    return Energy()
