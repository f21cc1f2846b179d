"""Targets in C and C++: functions with a contract, and programs with the sources that belong to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from whet.core.errors import UsageError
from whet.core.events import Event, EventKind, Listener
from whet.core.options import Options
from whet.core.task import Commands, Task
from whet.evaluators.file_tasks import command_task, file_task, folder_task
from whet.evaluators.given_files import read_text
from whet.evaluators.languages.base import Around, TargetFile
from whet.evaluators.native_tree import has_main, native_tree
from whet.evaluators.project_build import expect_buildable, own_build
from whet.evaluators.prototypes import NoContractError, contract_of, definitions, told, with_assumed_bounds
from whet.evaluators.task_file import FILENAME, TaskFile, read_task_file


def around(wanted: TargetFile) -> Around:
    """Returns the headers and sources that a file is built with."""
    found = native_tree(wanted.path, wanted.source, wanted.symbol is None, wanted.sources)
    return Around(wanted.path.parent) if found is None else Around(found.root, found.texts)


def reader(language: str) -> Callable[[Path, str, Options, Listener], Task]:
    """Returns what reads targets of a language: functions, and programs of which a file is a part."""

    def read(path: Path, symbol: str, options: Options, listener: Listener) -> Task:
        if symbol:
            return _function(path, language, symbol, options, listener)
        try:
            return _program(path, language, options)
        except UsageError as error:
            functions = [] if has_main(source := read_text(path)) else definitions(source)
            if not functions:
                raise
            raise UsageError(f"{error}; to name a function of it, write {path.name}::{functions[-1]}") from None

    return read


def _function(path: Path, language: str, symbol: str, options: Options, listener: Listener) -> Task:
    """Returns the task of a function of a C or C++ file; where it cannot be called by itself, that of its program.

    Raises:
        UsageError: there is no such function, or neither its contract nor its program is known.
    """
    if (path.parent / FILENAME).is_file():
        file = read_task_file(path.parent)
        if (path.parent / file.task.target).resolve() == path and file.task.symbol == symbol:
            return folder_task(path.parent, file, symbol, options)
    try:
        task = file_task(path, language, symbol, contract_of(read_text(path), symbol, language, path.name), options)
    except NoContractError as why:
        try:
            return _program(path, language, options)
        except UsageError as error:
            raise UsageError(
                f"{path.name}::{symbol}: {why}; state its contract in {path.parent / FILENAME} ([signature] prototype, "
                f"and a table for each argument), or have a program call it: {error}"
            ) from None
    assert task.signature is not None, "it was read from the prototype"
    listener(Event(EventKind.STAGE, f"{told(task.signature)}; [signature] in {FILENAME} says otherwise"))
    return replace(task, signature=with_assumed_bounds(task.signature))


def _program(path: Path, language: str, options: Options) -> Task:
    """Returns the task of a program of which a C or C++ file is a part."""
    source = read_text(path)
    tree = native_tree(path, source, program=True)
    found = own_build(path, tree, source)
    if found is None:
        expect_buildable(path, tree, source)
        return file_task(path, language, None, None, options)
    folder, command = found
    file = TaskFile.model_validate({"task": {"language": "command", "target": path.relative_to(folder).as_posix()}})
    return command_task(folder, path, file, Commands(run="", build=command), options)
