"""Assembly: routines with a contract, and programs that are translated from one instruction set to another."""

from __future__ import annotations

from pathlib import Path

from whet.core.options import Options
from whet.core.task import Kind, Task
from whet.core.verdict import Reason
from whet.evaluators.assembly import mca
from whet.evaluators.assembly.lint import lint
from whet.evaluators.assembly.targets import assembly_task
from whet.evaluators.finding import Fault, Passed
from whet.evaluators.languages import native
from whet.evaluators.languages.base import BuildRequest, Language, Made
from whet.evaluators.profilers import dhat
from whet.evaluators.task_file import TaskFile
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.toolchains.assembly import linked_program
from whet.sandbox.toolchains.isas import ISAS
from whet.sandbox.toolchains.native import PROGRAM, Diagnostics


def _read_folder(folder: Path, file: TaskFile, symbol: str, options: Options) -> Task:
    return assembly_task(folder, file, options)


def _argv(task: Task, interpreter: Interpreter, tree: str, layout: int) -> list[str]:
    runner = ISAS[task.isa].runner
    return [*(("/usr/bin/env", *runner) if runner else ()), *native.argv(task, interpreter, tree, layout)]


def _built(order: BuildRequest) -> Made | Fault:
    if order.task.kind is Kind.FUNCTION:
        return native.built(order)
    linked = linked_program(order.sandbox, order.interpreter, order.task, order.source)
    if isinstance(linked, Diagnostics):
        return Fault(Reason.BUILD_ERROR, linked.text)
    return Made({PROGRAM.format(layout=0): linked.content}, executable=True)


def _screen(task: Task, source: str) -> Fault | Passed:
    found = lint(source, task.symbol or "", task.isa)
    return found or Passed("holds one function, and nothing that reaches elsewhere")


LANGUAGE = Language(
    name="asm",
    argv=_argv,
    read_folder=_read_folder,
    translates=True,
    target=native.target,
    build=_built,
    tool=native.tool,
    ready="compiles",
    screen=_screen,
    baseline=native.baseline,
    faults=native.faults,
    profilers=native.PROFILERS,
    memory=dhat.memory,
    advice=mca.advice,
    machine_code=True,
    simulated=True,
)
