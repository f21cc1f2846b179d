"""Modules of torch: problems in the forms of KernelBench and robust-kbench, whose answers are Python texts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from whet.core.task import Module, Task
from whet.evaluators.finding import Fault, Passed
from whet.evaluators.kernels.problem import screen_answer
from whet.evaluators.kernels.robust import FORWARD, SLOTS
from whet.evaluators.languages import python
from whet.evaluators.languages.base import Language


def _module(task: Task) -> Module:
    assert task.module is not None, "a problem has a module"
    return task.module


def _target(task: Task, layout: int) -> tuple[Any, ...]:
    module = _module(task)
    words = module.device, module.backward, module.harness, module.slot, module.flags
    return "module", task.filename, task.symbol, *words


def _screen(task: Task, source: str) -> Fault | Passed:
    slots = tuple(filter(None, (_module(task).slot,)))
    return screen_answer(source, task.source, slots) or Passed("parses, and has the class of an answer")


def _baseline(task: Task, extra: tuple[str, ...], version: str) -> str:
    flags = _module(task).flags
    switched = f" with {' and '.join(flags)}" if flags else ""
    return f"eager PyTorch{switched} on CPython {version}"


def _changed(task: Task) -> str:
    """Returns the name of the function whose text faults are made in."""
    return SLOTS[FORWARD] if _module(task).harness else f"{task.symbol}.forward"


LANGUAGE: Language = replace(
    python.LANGUAGE,
    name="torch",
    suffixes=(),
    read=None,
    read_folder=None,
    target=_target,
    screen=_screen,
    baseline=_baseline,
    faults=lambda task: python.faults_in(task.source, _changed(task)),
)
