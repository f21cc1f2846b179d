"""Kernels in PTX, which a GPU's driver loads as they stand."""

from __future__ import annotations

from typing import Any

from whet.core.task import PTX, Task
from whet.evaluators.languages import native
from whet.evaluators.languages.base import BuildRequest, Language, Made


def _target(task: Task, layout: int) -> tuple[Any, ...]:
    assert task.signature is not None, "a kernel has a contract"
    assert task.launch is not None, "and a launch"
    launch = task.launch
    words = task.signature.plain, launch.grid, launch.block, launch.shared, launch.driver
    return PTX, task.filename, task.symbol, *words


def _built(order: BuildRequest) -> Made:
    return Made({order.task.filename: order.source.encode()})


def _baseline(task: Task, extra: tuple[str, ...], version: str) -> str:
    return "the kernel as it stands"


LANGUAGE = Language(
    name=PTX,
    argv=native.argv,
    target=_target,
    build=_built,
    tool=native.tool,
    comment="//",
    baseline=_baseline,
    machine_code=True,
)
