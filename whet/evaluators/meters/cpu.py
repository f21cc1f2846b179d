"""CPU seconds: of all threads and children of a process in its calls, held against the kernel's account out here."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace

from whet.core.errors import UsageError
from whet.core.task import Task
from whet.core.verdict import Reason
from whet.evaluators.artifacts import Artifact, Builder
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.source import Input
from whet.evaluators.meters.base import Setting
from whet.evaluators.meters.time import windows
from whet.evaluators.processes import FunctionProcess, Pass, TargetProcess
from whet.evaluators.program_process import ProgramProcess
from whet.evaluators.timing.statistics import NOISY
from whet.evaluators.timing.turns import SIDES, Series, Turn, per_pass
from whet.sandbox.process_tree import running_seconds, ticked_seconds
from whet.sandbox.protocol import Job
from whet.sandbox.toolchains import native

UNSEEN_SECONDS, UNSEEN_SHARE = 0.005, 0.1
"""By how much the kernel's ticks, the median of some turns, may lie above what is believed of a pass."""


class Cpu:
    """The meter of ``--metric cpu``."""

    name = "cpu"
    unit = "s"
    looks = NOISY
    pass_seconds = 0.1  # ticks are of 10 ms
    clocked = True
    forks = False
    lengthens = False
    controls: tuple[str, ...] = ()

    def variants(self, task: Task, source: str) -> tuple[tuple[str, ...], ...]:
        """See `Meter.variants`."""
        return native.variants(task, source)

    def take(
        self, artifact: Artifact, drawn: Mapping[str, Sequence[Input]], warm: Input, setting: Setting
    ) -> Mapping[str, Pass] | Fault:
        """See `Meter.take`."""
        return windows(artifact, drawn, warm, setting, _window)

    def series(self, turns: Sequence[Turn], name: str) -> Series | Fault:
        """See `Meter.series`.

        What the process says counts where the kernel's account of its threads, less what the baseline needs to hand
        outcomes over, is no larger. Threads and children that have ended show in the kernel's ticks alone.
        """
        passes = {side: [turn.passes[name][side] for turn in turns] for side in SIDES}
        ours = [*passes["baseline"], *passes["again"]]
        exact = max(0.0, statistics.median((one.amount or 0.0) - one.cpu for one in ours))
        ticked = max(0.0, statistics.median((one.ticks or 0.0) - one.cpu for one in ours))
        used = {
            side: [max(one.cpu, (one.amount or 0.0) - exact, 1e-9) for one in found] for side, found in passes.items()
        }
        said = statistics.median(used["candidate"])
        seen = statistics.median((one.ticks or 0.0) for one in passes["candidate"]) - ticked
        if seen > said * (1 + UNSEEN_SHARE) + UNSEEN_SECONDS:
            return Fault(
                Reason.CHEATING,
                f"{name}: its process says {said * 1e3:.3g} CPU ms in the calls, the kernel {seen * 1e3:.3g} CPU ms",
            )
        used["candidate"] = per_pass(turns, name, used["candidate"])
        return Series.of(used)


def _window(
    process: TargetProcess, payloads: Sequence[bytes], seconds: float, repeats: int, called: Sequence[int] | None
) -> Pass | Fault:
    assert isinstance(process, FunctionProcess | ProgramProcess)
    before = _account(process)
    measured = process.timed(payloads, seconds, repeats, called)
    if isinstance(measured, Fault):
        return measured
    exact, ticked = (now - then for now, then in zip(_account(process), before, strict=True))
    return replace(measured, amount=max(0.0, exact), ticks=max(0.0, ticked))


def _account(process: FunctionProcess | ProgramProcess) -> tuple[float, float]:
    """Returns the CPU seconds of a process and its descendants so far: of threads that live, and in ticks of all."""
    pids = process.session.pids()
    return sum(map(running_seconds, pids)), sum(map(ticked_seconds, pids))


def open_cpu(builder: Builder) -> Cpu:
    """Returns the meter.

    Raises:
        UsageError: the sandbox's processes cannot be seen from here.
    """
    session = builder.sandbox.open(Job("programs", builder.interpreter))
    try:
        seen = session.pids()
    finally:
        session.close()
    if not seen:
        raise UsageError(
            f"--metric cpu needs to see the sandbox's processes from outside, and {builder.sandbox.name} shows none "
            "here; give --sandbox bubblewrap"
        )
    return Cpu()
