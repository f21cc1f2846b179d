"""Meters whose figures a test wrote down, while the processes, their inputs and their outcomes are real.

What decides a verdict is scripted: seconds of a pass, hidden costs, and how many inputs make a pass. What is compared
is not: a candidate that answers wrong while it is measured is found as it would be on a real clock.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from whet.core.task import Task
from whet.evaluators.artifacts import Artifact, Builder
from whet.evaluators.baseline import Baseline
from whet.evaluators.finding import Fault, sound
from whet.evaluators.inputs.source import Input
from whet.evaluators.meters.base import Meter, Setting
from whet.evaluators.meters.registry import reading_meter
from whet.evaluators.meters.time import windows
from whet.evaluators.processes import Pass, TargetProcess
from whet.evaluators.timing.hidden_costs import HiddenCosts
from whet.evaluators.timing.instruments import Instruments
from whet.evaluators.timing.process_observation import Calls
from whet.evaluators.timing.statistics import QUICK, StoppingPlan
from whet.evaluators.timing.turns import Series, Turn
from whet.evaluators.timing.workloads import TimedWorkload

Ratio = float | Callable[[str, str], float]
"""Baseline over candidate; or a function of the candidate's text and the workload's name."""

BRIEF = QUICK
"""As few turns as can show a gain."""
HANDOVER_SECONDS = 2e-4
"""What a window lasts beyond its calls, on both sides alike."""
WORKER = 1
"""The warm process that all passes are forked from: a fork takes a fifth of the time of a fresh process. 0 is taken
by the comparison of outcomes."""
HASH_SEED = 1
CALL_SECONDS = 1e-4
"""Of a call, for each unit of the size of its inputs: small ones last long enough."""
COMMAND_SECONDS = 30.0
"""Of a run of a repository's command: so long that the fewest turns are taken."""


@dataclass(frozen=True, slots=True)
class Script:
    """What the figures say.

    Attributes:
        ratio: how many times the candidate's figure the baseline's is.
        noise: standard deviation of the logarithm of each figure.
        again: how many times the baseline's figure that of the baseline measured again is: 1 for a quiet machine.
        parallel: CPU seconds a second of the candidate.
        hidden: seconds of a pass that the candidate has moved out of its calls; or the fault that it shows there.
        repeats: seconds of a pass that it saves because recorded calls come again; or the fault that it shows there.
        renewed: how many times as long the candidate's calls take on new inputs as on those that come again.
        metrics: other ratios, by metric.
        inputs: that make a pass.
        looks: when to look; None for when the real meter is looked at, which evidence is checked against.
        seed: of the noise.
    """

    ratio: Ratio = 2.0
    noise: float = 0.002
    again: float = 1.0
    parallel: float = 1.0
    hidden: float | Fault = 0.0
    repeats: float | Fault = 0.0
    renewed: float = 1.0
    metrics: Mapping[str, Ratio] = field(default_factory=dict)
    inputs: int = 3
    looks: StoppingPlan | None = BRIEF
    seed: int = 0

    def factor(self, metric: str, source: str, workload: str) -> float:
        """Returns the ratio of a candidate's text on a workload."""
        ratio = self.metrics.get(metric, self.ratio)
        return ratio(source, workload) if callable(ratio) else ratio

    def share(self, metric: str, side: str, source: str, workload: str, turn: int) -> float:
        """Returns how many times the baseline's usual figure that of a side is in a turn.

        Args:
            metric: as the user writes it.
            side: baseline, candidate, again or a control.
            source: the text of that side.
            workload: its name.
            turn: number or seed that tells it from others.
        """
        noise = math.exp(random.Random(f"{self.seed} {side} {workload} {turn}").gauss(0.0, self.noise))
        if side == "candidate":
            return noise / self.factor(metric, source, workload)
        return noise * (self.again if side == "again" else 1.0)


class ScriptedMeter:
    """See `whet.evaluators.meters.base.Meter`. Figures are judged as those of the real meter are.

    The same turn has the same figures in every process, since they follow from its seeds.

    Args:
        real: the meter that it stands in for.
        script: what its figures say.
    """

    clocked = True
    forks = False
    lengthens = False

    def __init__(self, real: Meter, script: Script) -> None:
        self._real = real
        self._script = script
        self.name = real.name
        self.unit = real.unit
        self.looks = script.looks or real.looks
        self.pass_seconds = real.pass_seconds
        self.controls = real.controls

    def variants(self, task: Task, source: str) -> tuple[tuple[str, ...], ...]:
        """See `Meter.variants`."""
        return self._real.variants(task, source)

    def take(
        self, artifact: Artifact, drawn: Mapping[str, Sequence[Input]], warm: Input, setting: Setting
    ) -> Mapping[str, Pass] | Fault:
        """See `Meter.take`."""
        found = windows(artifact, drawn, warm, replace(setting, start=_forked), _outcomes)
        if isinstance(found, Fault):
            return found
        return {name: self._figures(artifact.source, name, setting, one) for name, one in found.items()}

    def series(self, turns: Sequence[Turn], name: str) -> Series | Fault:
        """See `Meter.series`."""
        return self._real.series(turns, name)

    def _figures(self, source: str, name: str, setting: Setting, taken: Pass) -> Pass:
        script = self._script
        seconds = self.pass_seconds * script.share(self.name, setting.side, source, name, setting.hash_seed)
        cpu = seconds * (script.parallel if setting.side == "candidate" else 1.0)
        amount = cpu if self.unit == "s" else 0.0 if setting.side in self.controls else seconds * 1e9
        factor = script.renewed if setting.side == "candidate" else 1.0
        renewed = None if taken.renewed is None else seconds * factor
        figures = Pass(seconds + HANDOVER_SECONDS, seconds, cpu, taken.outcomes, amount=amount, ticks=cpu)
        return replace(figures, renewed=renewed, renewed_outcomes=taken.renewed_outcomes)


def _forked(artifact: Artifact, cores: tuple[int, ...], hash_seed: int, layout: int) -> TargetProcess | Fault:
    # One hash seed for all: a worker of its own for each would cost what a fork saves.
    return artifact.start(cores, HASH_SEED, layout, WORKER)


def _outcomes(
    process: TargetProcess, payloads: Sequence[bytes], seconds: float, repeats: int, called: Sequence[int] | None
) -> Pass | Fault:
    return process.timed(payloads, seconds, repeats, called)


class ScriptedInstruments(Instruments):
    """See `whet.evaluators.timing.instruments.Instruments`; opens meters for metrics that this machine cannot give too.

    Args:
        script: what the figures say.
    """

    def __init__(self, script: Script) -> None:
        self._script = script

    def meter(self, name: str, builder: Builder) -> Meter:
        """See `Instruments.meter`."""
        return ScriptedMeter(reading_meter(name, builder.task.kind), self._script)

    def paced(self, baseline: Baseline) -> Baseline:
        """See `Instruments.paced`: all calls last the same."""
        one = baseline.meter.pass_seconds / self._script.inputs
        return replace(baseline, seconds=dict.fromkeys(baseline.seconds, one))

    def hidden_costs(self, baseline: Artifact, candidate: Artifact, calls: Calls) -> HiddenCosts:
        """See `Instruments.hidden_costs`."""
        return _charged(self._script.hidden)

    def repeat_costs(
        self, baseline: Artifact, candidate: Artifact, workloads: Sequence[TimedWorkload], seed: int, seconds: float
    ) -> HiddenCosts:
        """See `Instruments.repeat_costs`."""
        return _charged(self._script.repeats)

    def call_seconds(self, size: int, measured: float) -> float:
        """See `Instruments.call_seconds`: they grow with the size."""
        return size * CALL_SECONDS

    def command_seconds(self, side: str, turn: int, measured: float) -> float:
        """See `Instruments.command_seconds`; the ratio's workload is the command, and its text is empty."""
        return COMMAND_SECONDS * self._script.share("time", side, "", "the command", turn)


def _charged(told: float | Fault) -> HiddenCosts:
    seconds = sound(told)
    return HiddenCosts(seconds, {"charged_seconds": seconds} if seconds else {})
