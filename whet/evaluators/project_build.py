"""C and C++ files of a project that make or CMake builds: the program that they are a part of, and how it is built."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path, PurePosixPath

from whet.core.errors import BaselineError, UsageError
from whet.core.events import Event, EventKind, Listener
from whet.core.options import Options
from whet.core.task import Task
from whet.evaluators.native_tree import BUILDS, NativeTree, has_main, native_top
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.toolchains.command import build_tree
from whet.sandbox.toolchains.native import Diagnostics

CMAKE_FOLDER = "whet-build"
CMAKE = f"cmake -S . -B {CMAKE_FOLDER} -DCMAKE_BUILD_TYPE=Release && cmake --build {CMAKE_FOLDER}"
MAKE = "make -s"
NO_PROGRAMS = ("CMakeFiles", "test", "tests")
"""Folders in which a build leaves programs that are not what it is about."""
ELF, EXECUTABLE, LOADER = b"\x7fELF", (2, 3), b"/ld-linux"
TYPE_AT, HEAD = 16, 4096
"""Where an ELF file says what it is, and how much of it names its loader: a shared object names none."""


def own_build(path: Path, tree: NativeTree, source: str) -> tuple[Path, str] | None:
    """Returns the folder and the command of the build of a source's project; None for a program of one file, or none.

    Args:
        path: of the target.
        tree: what it can be built with by the compiler alone.
        source: its text.
    """
    if has_main(source) and not tree.texts and not tree.missing:
        return None
    top = native_top(path.parent)
    above = [folder for folder in path.parents if folder.is_relative_to(top)]
    for folder in reversed(above):
        for name in BUILDS:
            if (folder / name).is_file():
                return folder, CMAKE if name == BUILDS[0] else MAKE
    return None


def expect_buildable(path: Path, tree: NativeTree, source: str) -> None:
    """Returns where a compiler could make a program of a source, with what was found beside it.

    Raises:
        UsageError: nobody defines ``main``, or a header is missing.
    """
    mend = 'give a Makefile or CMakeLists.txt above it, or a whet.toml with language = "command"'
    if tree.missing:
        raise UsageError(f"{path.name} includes {tree.missing[0]}, which is not in {native_top(path.parent)}; {mend}")
    if not has_main(source) and not any(has_main(text) for text in tree.texts.values()):
        raise UsageError(
            f"{path.name} defines no main, and no source beside it has one that leads to it; {mend}, or one with "
            "[signature] of the function that is meant"
        )


def with_program(task: Task, options: Options, listener: Listener) -> Task:
    """Returns a task whose project was built once in the sandbox, to find the program that it makes.

    Raises:
        BaselineError: it does not build.
        UsageError: it makes no program, or several.
    """
    assert task.commands is not None
    with closing(open_sandbox(options.sandbox, options.unsafe)) as sandbox:
        files = {path: text.encode() for path, text in task.files(task.source).items()}
        tree = sandbox.stage("project", files, executable=True)
        made = build_tree(sandbox, find_interpreter(options.python), task, tree)
    if isinstance(made, Diagnostics):
        raise BaselineError(f"{task.commands.build} in {task.root} fails: {made.text[-1000:]}", "build_error")
    run = f"./{_program(task, made)}"
    listener(Event(EventKind.STAGE, f"built in {task.root} by {task.commands.build}; run by {run}"))
    return replace(task, commands=replace(task.commands, run=run))


def _program(task: Task, made: Mapping[str, bytes]) -> str:
    assert task.commands is not None
    programs = [path for path, data in made.items() if path not in task.support and _is_program(path, data)]
    like = [path for path in programs if PurePosixPath(path).stem in (task.path.stem, task.root.name)]
    chosen = programs if len(programs) == 1 else like
    if len(chosen) == 1:
        return chosen[0]
    said = f"makes {', '.join(sorted(programs)[:5])}" if programs else "makes no program"
    raise UsageError(
        f"{task.commands.build} in {task.root} {said}; say how the one that is meant runs in {task.root}/whet.toml: "
        f'[task] language = "command", target = "{task.filename}", [build] command = "{task.commands.build}", '
        '[run] command = "./PROGRAM"'
    )


def _is_program(path: str, data: bytes) -> bool:
    inner = any(part in NO_PROGRAMS for part in PurePosixPath(path).parts[:-1])
    head = data[:HEAD]
    return not inner and head.startswith(ELF) and head[TYPE_AT] in EXECUTABLE and LOADER in head
