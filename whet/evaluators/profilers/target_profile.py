"""Where the time and memory of a target go, and what its runs count: the work of ``whet profile``."""

from __future__ import annotations

import secrets
import time
from dataclasses import replace
from typing import Any

from whet.core.candidate import Candidate
from whet.core.errors import BaselineError, UsageError
from whet.core.events import Listener, null_listener
from whet.core.options import Options
from whet.core.profile import ProfileReport
from whet.core.result import TaskName
from whet.core.task import Kind, Task
from whet.evaluators.artifacts import Builder
from whet.evaluators.counting import counters
from whet.evaluators.environment import in_environment
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.calibration import calibrated
from whet.evaluators.inputs.source import Input, InputSource, derive
from whet.evaluators.profilers import privileged
from whet.evaluators.profilers.hot_spots import PROFILED, profile
from whet.evaluators.profilers.memory import memory
from whet.evaluators.ptx.judging import PtxKernels
from whet.evaluators.targets import read_task
from whet.evaluators.timing.instruments import default_instruments
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import find_interpreter


def profile_target(
    target: str, *, privileged_counters: bool = False, listener: Listener = null_listener, **options: Any
) -> ProfileReport:
    """Profiles a target as it stands, on inputs of its largest size.

    Args:
        target: as after ``whet profile``.
        privileged_counters: count hardware events too, in a sandbox that allows that.
        listener: hears what was recorded.
        **options: the fields of `whet.core.options.Options`.

    Raises:
        UsageError: target, workload or an option cannot be used.
        BaselineError: the target does not build, load or run.
    """
    start = time.perf_counter()
    settings = in_environment(target, Options(**options))
    task = read_task(target, settings, listener)
    if privileged_counters and task.kind is Kind.FUNCTION:
        raise UsageError(f"--privileged-counters counts whole programs, and {task.target} is a function")
    if task.emulated:
        raise UsageError(f"{task.target} is for {task.isa}, which is emulated here: where its time goes cannot be told")
    seed = settings.seed if settings.seed is not None else secrets.randbits(63)
    interpreter = find_interpreter(settings.python)
    sandbox = open_sandbox(settings.sandbox, settings.unsafe)
    try:
        if task.launch is not None:  # what it costs is read from its machine code, whether or not it can run here
            told = PtxKernels(Builder(task, sandbox, interpreter), settings).profile(Candidate(task.source))
            name = TaskName(task.name, task.language, task.target)
            return ProfileReport(name, told, (), sandbox.facts, "", time.perf_counter() - start)
        first = Builder(task, sandbox, interpreter)
        task = calibrated(first, derive(seed, "calibrate"), True, default_instruments().call_seconds)
        builder = Builder(task, sandbox, interpreter)
        source = InputSource(task, sandbox, interpreter)
        try:
            source.expect_timeable()
            inputs = _inputs(source, seed)
        finally:
            source.close()
        _expect_to_run(builder, inputs[0])
        found = replace(profile(builder, task.source, inputs), memory=memory(builder, task.source, inputs))
        figures = counters(builder, task.source, inputs)
        if privileged_counters:
            counted = privileged.counters(builder, task.source, inputs[0])
            twice = {(counter.name, counter.source) for counter in counted}
            figures = (*(figure for figure in figures if (figure.name, figure.source) not in twice), *counted)
        name = TaskName(task.name, task.language, task.target)
        loosened = privileged.loosened(sandbox.facts) if privileged_counters else ""
        return ProfileReport(name, found, figures, sandbox.facts, loosened, time.perf_counter() - start)
    finally:
        sandbox.close()


def _inputs(source: InputSource, seed: int) -> list[Input]:
    if source.sizes:
        return source.draw(source.sizes[-1], [derive(seed, "profile", i) for i in range(PROFILED)])
    if source.recorded:
        return list(source.recorded[-PROFILED:])
    return sorted(source.cases, key=lambda case: len(case.payload), reverse=True)[:PROFILED]


def _expect_to_run(builder: Builder, item: Input) -> None:
    process = _started(builder, builder.task.source)
    try:
        answer = process.call(item.payload, builder.task.limits.seconds)
    finally:
        process.close()
    if isinstance(answer, Fault):
        raise _unusable(builder.task, f"failed on {item.name}", answer)


def _started(builder: Builder, source: str) -> Any:
    artifact = builder.build(source)
    process = artifact if isinstance(artifact, Fault) else artifact.start()
    if isinstance(process, Fault):
        raise _unusable(builder.task, "does not load", process)
    return process


def _unusable(task: Task, what: str, fault: Fault) -> BaselineError:
    return BaselineError(f"{task.target} {what}: {' '.join(fault.detail.split())[:400]}", fault.reason.value)
