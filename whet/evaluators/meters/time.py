"""Time, by the clock out here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace

from whet.core.task import Task
from whet.evaluators.artifacts import Artifact
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.source import Input
from whet.evaluators.meters.base import Setting
from whet.evaluators.processes import FunctionProcess, Pass, TargetProcess
from whet.evaluators.timing.statistics import NOISY
from whet.evaluators.timing.turns import Series, Turn, series
from whet.evaluators.timing.workloads import PASS_SECONDS
from whet.sandbox.cores import on_core
from whet.sandbox.pace import pacer
from whet.sandbox.process_tree import stolen_seconds
from whet.sandbox.toolchains import native

Window = Callable[[TargetProcess, Sequence[bytes], float, int, Sequence[int] | None], Pass | Fault]
"""Runs inputs as `whet.evaluators.processes.TargetProcess.timed` does."""


def timed(
    process: TargetProcess, payloads: Sequence[bytes], seconds: float, repeats: int, called: Sequence[int] | None
) -> Pass | Fault:
    """A window that tells its time and no more."""
    return process.timed(payloads, seconds, repeats, called)


def watched(cores: Sequence[int]) -> Window:
    """Returns a window that also tells how fast the first of its processors was, and how much of them was stolen.

    It opens when that processor is fast, or has been slow for some time.
    """
    known = pacer(cores[0])

    def window(
        process: TargetProcess, payloads: Sequence[bytes], seconds: float, repeats: int, called: Sequence[int] | None
    ) -> Pass | Fault:
        pace_before, before = known.settled(), stolen_seconds(cores)
        measured = process.timed(payloads, seconds, repeats, called)
        if isinstance(measured, Fault):
            return measured
        stolen = stolen_seconds(cores) - before
        return replace(measured, stolen=stolen, pace=(pace_before + known.pace()) / 2)

    return window


def windows(
    artifact: Artifact,
    drawn: Mapping[str, Sequence[Input]],
    warm: Input,
    setting: Setting,
    window: Window = timed,
) -> Mapping[str, Pass] | Fault:
    """Runs a window a workload in one fresh process, after a call that counts nowhere.

    Where the process has one processor, the clock's thread moves there too: it does nothing while calls are made, and
    has no need of the others then, on which other work may be going on.

    What repeats its inputs meets new ones after its window, whose outcomes are compared too: so no process can know,
    while it is timed, what its calls will be held against.
    """
    process = setting.start(artifact, setting.cores, setting.hash_seed, setting.layout)
    if isinstance(process, Fault):
        return process
    beside = on_core(setting.cores[0]) if len(setting.cores) == 1 else nullcontext()
    with closing(process), beside:
        return _passes(process, drawn, warm, setting, window)


def _passes(
    process: TargetProcess, drawn: Mapping[str, Sequence[Input]], warm: Input, setting: Setting, window: Window
) -> Mapping[str, Pass] | Fault:
    outcome = process.call(warm.payload, setting.seconds)
    if isinstance(outcome, Fault):
        return outcome
    passes: dict[str, Pass] = {}
    for name, inputs in drawn.items():
        payloads = [item.payload for item in inputs]
        repeats, called = setting.repeats.get(name, 0), setting.called.get(name)
        measured = window(process, payloads, setting.seconds, repeats, called)
        if isinstance(measured, Fault):
            return measured
        if name in setting.renewing:
            measured = _with_new_inputs(process, measured, name, setting)
            if isinstance(measured, Fault):
                return measured
        passes[name] = measured
    return passes


def _with_new_inputs(process: TargetProcess, taken: Pass, name: str, setting: Setting) -> Pass | Fault:
    """Returns a pass with what it would have taken if no round had repeated the inputs of another."""
    assert isinstance(process, FunctionProcess)
    inputs, repeats, called = setting.renewing[name], setting.repeats[name], setting.renewing_called.get(name)
    found = process.renewed([item.payload for item in inputs], setting.seconds, called)
    if isinstance(found, Fault):
        return found
    new, outcomes = found
    times = len(taken.outcomes) * repeats / len(inputs if called is None else called)
    renewed = new.undisturbed * times
    # A single round is all that it has for a first one: of the two, the one on new inputs finds memory that was met.
    cold, cold_cpu = taken.cold, taken.cold_cpu
    if repeats == 1:
        cold, cold_cpu = max(0.0, taken.inside - renewed), max(0.0, taken.cpu - new.cpu * times)
    return replace(
        taken,
        renewed=renewed,
        renewed_outcomes=outcomes,
        new=replace(new, times=times),
        cold=cold,
        cold_cpu=cold_cpu,
    )


class Time:
    """The meter of ``--metric time``."""

    name = "time"
    unit = "s"
    looks = NOISY
    pass_seconds = PASS_SECONDS
    clocked = True
    forks = True
    lengthens = True
    controls: tuple[str, ...] = ()

    def variants(self, task: Task, source: str) -> tuple[tuple[str, ...], ...]:
        """See `Meter.variants`."""
        return native.variants(task, source)

    def take(
        self, artifact: Artifact, drawn: Mapping[str, Sequence[Input]], warm: Input, setting: Setting
    ) -> Mapping[str, Pass] | Fault:
        """See `Meter.take`."""
        return windows(artifact, drawn, warm, setting, watched(setting.cores))

    def series(self, turns: Sequence[Turn], name: str) -> Series | Fault:
        """See `Meter.series`."""
        return series(turns, name)


class Throughput(Time):
    """The meter of ``--metric throughput``: time, told in calls a second."""

    name = "throughput"
    unit = "calls/s"


TIME, THROUGHPUT = Time(), Throughput()
