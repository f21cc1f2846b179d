"""Chooses what judges answers that need a GPU, or a processor, which is not here."""

from __future__ import annotations

from collections.abc import Callable

from whet.core.candidate import Candidate
from whet.core.options import Options
from whet.core.task import Kind, Task
from whet.evaluators.apart import Apart
from whet.evaluators.artifacts import Builder
from whet.evaluators.assembly.emulated import Emulated, RoutineChecks
from whet.evaluators.assembly.programs import ProgramChecks
from whet.evaluators.assembly.routines import Routines
from whet.evaluators.finding import Finding
from whet.evaluators.inputs.source import InputSource
from whet.evaluators.kernels.device import CPU
from whet.evaluators.kernels.deviceless import Deviceless, Small
from whet.evaluators.oracle import Oracle
from whet.evaluators.ptx.judging import PtxKernels


def judging_apart(
    builder: Builder,
    source: InputSource,
    oracle: Oracle,
    options: Options,
    seed: int,
    routines: Routines | None,
    kernels: PtxKernels | None,
    compare: Callable[[Candidate, int], Finding],
    open_small: Callable[[Task, Options, int], Small],
) -> Apart | None:
    """Returns what judges such answers of a task; None where its answers run here."""
    task = builder.task
    if routines is not None and task.emulated:
        return Emulated(task, RoutineChecks(task, routines))
    if task.translated and task.kind is Kind.PROGRAM:
        return Emulated(task, ProgramChecks(builder, source, oracle, compare))
    if task.launch is not None and task.launch.device == CPU:
        return kernels
    if task.module is not None and task.module.device == CPU:
        return Deviceless(builder, source, options, seed, open_small)
    return None
