"""From a problem file to a task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from whet.core.errors import UsageError
from whet.core.options import Options
from whet.core.task import MIB, Kind, Limits, Module, OracleRule, Task, Workload
from whet.evaluators.kernels import robust
from whet.evaluators.kernels.problem import MAKERS, MODEL, ONLY, Setting, expect_problem, generator_text
from whet.evaluators.kernels.scaling import fitted

LIMITS = Limits(seconds=30.0, memory=8192 * MIB, processes=256, output=1024 * MIB)
"""Of one call: torch alone takes gigabytes of addresses, and a problem's tensors the rest."""


def problem_task(
    path: Path, source: str, options: Options, rule: OracleRule | None = None, backward: bool = False
) -> Task:
    """Returns the task of a problem file in KernelBench's form, scaled to what this machine can do.

    Args:
        path: of the file.
        source: its text.
        options: as the user gave them.
        rule: how outputs are compared, if the task says so.
        backward: whether gradients are asked for too.

    Raises:
        UsageError: it lacks one of the three names, a workload was given beside it, or there is no torch.
    """
    expect_problem(source, path.name, MAKERS)
    task = _task(path, source, options, ONLY, Module(backward=backward), rule)
    scaled, scale = fitted(task, options)
    return replace(task, source=scaled, module=Module(scale=scale, backward=backward))


def robust_task(path: Path, source: str, options: Options) -> Task:
    """Returns the task of a file in robust-kbench's form; its settings are the workload's sizes.

    Raises:
        UsageError: it lacks one of its names, or the table beside it cannot be read.
    """
    expect_problem(source, path.name, robust.MAKERS)
    backward = path.name == robust.BACKWARD
    module = Module(backward=backward, harness=robust.HARNESS, slot=robust.SLOTS[path.name])
    task = _task(path, source, options, robust.settings_of(path), module, None)
    return replace(task, name=path.parent.name, support={robust.HARNESS: robust.harness_text(source)})


def _task(
    path: Path, source: str, options: Options, settings: Sequence[Setting], module: Module, rule: OracleRule | None
) -> Task:
    if options.workload is not None:
        raise UsageError(f"{path.name} makes its own inputs; leave out --workload")
    return Task(
        name=path.stem,
        language="python",
        kind=Kind.FUNCTION,
        path=path,
        source=source,
        symbol=MODEL,
        root=path.parent,
        workload=Workload(generator_text(path.stem, settings, module.backward)),
        oracle=rule or OracleRule(),
        limits=LIMITS,
        module=module,
    )
