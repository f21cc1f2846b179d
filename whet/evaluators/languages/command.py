"""Programs in any language, which the task's own commands build and start."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from whet.core.errors import UsageError
from whet.core.options import Options
from whet.core.task import Task
from whet.core.verdict import Reason
from whet.evaluators.file_tasks import command_task
from whet.evaluators.finding import Fault
from whet.evaluators.languages.base import BuildRequest, Language, Made, staged
from whet.evaluators.task_file import FILENAME, TaskFile
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.toolchains import command
from whet.sandbox.toolchains.native import Diagnostics


def _argv(task: Task, interpreter: Interpreter, tree: str, layout: int) -> list[str]:
    return command.run_words(task, tree)


def _built(order: BuildRequest) -> Made | Fault:
    given = replace(staged(order), executable=True)
    assert order.task.commands is not None, "such a task has commands"
    if not order.task.commands.build:
        return given
    tree = order.sandbox.stage(f"{order.name}-sources", given.files, executable=True)
    try:
        found = command.build_tree(order.sandbox, order.interpreter, order.task, tree)
    finally:
        shutil.rmtree(tree)
    if isinstance(found, Diagnostics):
        return Fault(Reason.BUILD_ERROR, found.text)
    return Made(found, executable=True)


def _baseline(task: Task, extra: tuple[str, ...], version: str) -> str:
    return "the original, built and run by the same commands"


def _read_folder(folder: Path, file: TaskFile, symbol: str, options: Options) -> Task:
    try:
        commands = file.commands()
    except ValueError as error:
        raise UsageError(f"{folder / FILENAME}: {error}") from None
    return command_task(folder, folder / file.task.target, file, commands, options)


LANGUAGE = Language(
    name="command",
    argv=_argv,
    read_folder=_read_folder,
    build=_built,
    programs="programs that are built by a command of their own",
    ready="compiles",
    commanded=True,
    comment="//",
    baseline=_baseline,
    machine_code=True,
)
