"""From what a user writes after ``whet optimize`` to a task."""

from __future__ import annotations

import math
from pathlib import Path

from whet.core.errors import UsageError, nearest
from whet.core.events import Listener, null_listener
from whet.core.options import Options
from whet.core.task import Task
from whet.evaluators.assembly.targets import translation_task
from whet.evaluators.file_tasks import file_task, folder_task
from whet.evaluators.given_files import read_text
from whet.evaluators.kernels import suite
from whet.evaluators.kernels.robust import FORWARD, is_robust
from whet.evaluators.kernels.task import robust_task
from whet.evaluators.languages.registry import SUFFIXES, by_suffix, known
from whet.evaluators.task_file import FILENAME, read_task_file

FORMS = (
    "file.py::function, file.py::Class.method, file.c::function, program.py, program.c, program.cpp, or a folder with "
    "whet.toml"
)


def read_task(target: str, options: Options, listener: Listener = null_listener) -> Task:
    """Reads a target with its workload and tests, and has its calls recorded where that is asked for.

    Args:
        target: as after ``whet optimize``.
        options: as the user gave them.
        listener: hears what was recorded.

    Raises:
        UsageError: it names no file or no symbol that there is, its workload cannot be read, or nothing was recorded.
    """
    return prepared(named_task(target, options, listener), options, listener)


def prepared(task: Task, options: Options, listener: Listener = null_listener, seconds: float = math.inf) -> Task:
    """Returns a task with what has to be run for it: its reference or project is built, and its calls are recorded.

    Args:
        task: as `named_task` gives it.
        options: as the user gave them.
        listener: hears what was recorded.
        seconds: that the command of ``--record`` may take; never more than it usually may.

    Raises:
        UsageError: it cannot be built, or nothing was recorded.
    """
    if task.reference is not None and not task.source:
        from whet.evaluators.assembly.texts import with_own_output

        task = with_own_output(task, options)
    if task.commands is not None and not task.commands.run:
        from whet.evaluators.project_build import with_program

        task = with_program(task, options, listener)
    if options.record is None:
        return task
    from whet.evaluators.replaying import with_recorded

    return with_recorded(task, options, listener, seconds)


def named_task(target: str, options: Options, listener: Listener = null_listener) -> Task:
    """Reads a target with its workload and tests; nothing of it is run.

    Args:
        target: as after ``whet optimize``.
        options: as the user gave them.
        listener: hears what is taken for its contract.

    Raises:
        UsageError: it names no file or no symbol that there is, or its workload cannot be read.
    """
    if target.startswith(suite.PREFIX):
        target = str(suite.find_problem(target, options.root))
    elif options.root is not None:
        raise UsageError(f"--root goes with {suite.PREFIX}LEVEL/ID")
    name, _, symbol = target.partition("::")
    path = Path(name).expanduser().absolute()
    if options.to is not None:
        return translation_task(path, options.to, options)
    if is_robust(path) and not (path / FILENAME).is_file():
        path = (path / FORWARD if path.is_dir() else path).resolve()
        return robust_task(path, read_text(path), options)
    if path.is_dir():
        if not (path / FILENAME).is_file():
            raise UsageError(f"{path} holds no {FILENAME}; a target is {FORMS}")
        return folder_task(path.resolve(), read_task_file(path), symbol or None, options)
    path = _existing(path, name).resolve()
    language = by_suffix(path.suffix)
    if language is None:
        raise UsageError(f"{path.name} is no target; a target is {FORMS}")
    read = known(language).read
    special = None if read is None else read(path, symbol, options, listener)
    return special or file_task(path, language, symbol or None, None, options)


def _existing(path: Path, name: str) -> Path:
    if path.is_file():
        return path
    siblings = [p.name for p in path.parent.iterdir() if p.suffix in SUFFIXES] if path.parent.is_dir() else []
    raise UsageError(f"no file {name or '(empty)'}{nearest(path.name, siblings)}; a target is {FORMS}")
