"""The seam between the fresh-pair protocol and what is measured by it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from whet.evaluators.artifacts import Artifact, Builder
from whet.evaluators.finding import Fault
from whet.evaluators.processes import Pass, TargetProcess

if TYPE_CHECKING:
    from whet.core.task import Kind, Task
    from whet.evaluators.inputs.source import Input
    from whet.evaluators.timing.statistics import StoppingPlan
    from whet.evaluators.timing.turns import Series, Turn


Starter = Callable[[Artifact, tuple[int, ...], int, int], TargetProcess | Fault]
"""Starts a process of an artifact on cores, with a hash seed and a layout."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What one side of a turn is measured under.

    Attributes:
        side: baseline, candidate, again, or a control of the meter.
        seconds: that one pass may take.
        cores: processors that it is pinned to.
        hash_seed: PYTHONHASHSEED of its process.
        layout: which of a native program's layouts it has in memory.
        start: starts a process of an artifact on cores, with a hash seed and a layout.
        repeats: see `whet.evaluators.timing.workloads.TimedWorkload`, by the workload's name.
        called: see `whet.evaluators.processes.TargetProcess.timed`, by the workload's name; all inputs are, where
            nothing is said.
        renewing: new inputs for after the passes, by the name of a workload that repeats its own.
        renewing_called: the places of those that are called on, by the workload's name; all are, where nothing is said.
    """

    side: str
    seconds: float
    cores: tuple[int, ...]
    hash_seed: int
    layout: int
    start: Starter = Artifact.start
    repeats: Mapping[str, int] = field(default_factory=dict)
    called: Mapping[str, Sequence[int]] = field(default_factory=dict)
    renewing: Mapping[str, Sequence[Input]] = field(default_factory=dict)
    renewing_called: Mapping[str, Sequence[int]] = field(default_factory=dict)


class Meter(Protocol):
    """Measures one metric, less of which is better.

    Whatever it is, its figure comes from outside the candidate's process, or is believed only as far as something
    from outside agrees (laws 1 and 2).
    """

    @property
    def name(self) -> str:
        """As the user writes it after ``--metric``."""

    @property
    def unit(self) -> str:
        """Of its figures."""

    @property
    def looks(self) -> StoppingPlan:
        """When to look at it."""

    @property
    def pass_seconds(self) -> float:
        """How long the baseline's pass shall last."""

    @property
    def clocked(self) -> bool:
        """Whether its figures grow with the time of a pass, so that short ones tell nothing."""

    @property
    def forks(self) -> bool:
        """Whether forks of several zygotes may stand in for fresh processes."""

    @property
    def lengthens(self) -> bool:
        """Whether a candidate whose passes are short gets more inputs than the baseline."""

    @property
    def controls(self) -> tuple[str, ...]:
        """Further runs of the baseline that a turn needs."""

    def variants(self, task: Task, source: str) -> tuple[tuple[str, ...], ...]:
        """Returns the flags after the task's own under which both sides are measured; all but the first to confirm.

        Args:
            task: that is answered.
            source: the answer.
        """

    def take(
        self, artifact: Artifact, drawn: Mapping[str, Sequence[Input]], warm: Input, setting: Setting
    ) -> Mapping[str, Pass] | Fault:
        """Measures one side.

        Args:
            artifact: what to run.
            drawn: distinct inputs, by workload.
            warm: one more, for a call before any that counts.
            setting: how to run it.

        Returns:
            a pass a workload.
        """

    def series(self, turns: Sequence[Turn], name: str) -> Series | Fault:
        """Returns the figures that count on one workload, or why they are not believed."""


@dataclass(frozen=True, slots=True)
class Metric:
    """What a metric is measured by.

    Attributes:
        open: makes its meter ready for a task's builder, or raises UsageError with what lacks and the mend.
        reading: gives its meter for recorded turns of a kind of tasks, which measures nothing.
    """

    open: Callable[[Builder], Meter]
    reading: Callable[[Kind], Meter]
