"""From what a user writes after ``whet optimize`` to a task."""

from __future__ import annotations

import ast
import math
from dataclasses import replace
from pathlib import Path

from whet.core.config import Options
from whet.core.errors import UsageError, nearest
from whet.core.events import Event, Listener, unheard
from whet.core.events import Kind as EventKind
from whet.core.task import Commands, Kind, Package, Task
from whet.evaluators.assembly.targets import assembly_task, translation_task
from whet.evaluators.finding import Fault
from whet.evaluators.folder import folder_texts
from whet.evaluators.given_files import CASES_FOLDER, WORKLOAD_FILE, command_words, read_text, tests_folder, workload_of
from whet.evaluators.kernels import suite
from whet.evaluators.kernels.problem import is_problem, resembles_problem
from whet.evaluators.kernels.robust import FORWARD, is_robust
from whet.evaluators.kernels.task import problem_task, robust_task
from whet.evaluators.native_tree import native_tree
from whet.evaluators.package import INSTALLED, find_package, installed
from whet.evaluators.python_tree import module_root, supporting_texts
from whet.evaluators.screen import find_function, parse, symbols
from whet.evaluators.signature import read_signature
from whet.evaluators.task_file import FILENAME, TaskFile, read_task_file
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.toolchains.native import DEFAULT_FLAGS

LANGUAGES = {".py": "python", ".c": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp"}
FORMS = (
    "file.py::function, file.py::Class.method, file.c::function, program.py, program.c, program.cpp, or a folder with "
    "whet.toml"
)


def read_task(target: str, options: Options, listener: Listener = unheard) -> Task:
    """Reads a target with its workload and tests, and has its calls recorded where that is asked for.

    Args:
        target: as after ``whet optimize``.
        options: as the user gave them.
        listener: hears what was recorded.

    Raises:
        UsageError: it names no file or no symbol that there is, its workload cannot be read, or nothing was recorded.
    """
    return prepared(named_task(target, options, listener), options, listener)


def prepared(task: Task, options: Options, listener: Listener = unheard, seconds: float = math.inf) -> Task:
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


def named_task(target: str, options: Options, listener: Listener = unheard) -> Task:
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
        return _from_folder(path.resolve(), read_task_file(path), symbol or None, options)
    path = _existing(path, name).resolve()
    language = LANGUAGES.get(path.suffix)
    if language is None:
        raise UsageError(f"{path.name} is no target; a target is {FORMS}")
    if not symbol and language == "python" and resembles_problem(text := read_text(path)):
        return problem_task(path, text, options)
    if language in DEFAULT_FLAGS:
        return (
            _native_function(path, language, symbol, options, listener) if symbol else _native(path, language, options)
        )
    return _task(path, language, symbol or None, None, options)


def _native_function(path: Path, language: str, symbol: str, options: Options, listener: Listener) -> Task:
    """Returns the task of a function of a C or C++ file; where it cannot be called by itself, that of its program.

    Raises:
        UsageError: there is no such function, or neither its contract nor its program is known.
    """
    from whet.evaluators.prototypes import NoContractError, contract_of, told, with_assumed_bounds

    if (path.parent / FILENAME).is_file():
        file = read_task_file(path.parent)
        if (path.parent / file.task.target).resolve() == path and file.task.symbol == symbol:
            return _from_folder(path.parent, file, symbol, options)
    try:
        task = _task(path, language, symbol, contract_of(read_text(path), symbol, language, path.name), options)
    except NoContractError as why:
        try:
            return _native(path, language, options)
        except UsageError as error:
            raise UsageError(
                f"{path.name}::{symbol}: {why}; state its contract in {path.parent / FILENAME} ([signature] prototype, "
                f"and a table for each argument), or have a program call it: {error}"
            ) from None
    assert task.signature is not None, "it was read from the prototype"
    listener(Event(EventKind.STAGE, f"{told(task.signature)}; [signature] in {FILENAME} says otherwise"))
    return replace(task, signature=with_assumed_bounds(task.signature))


def _native(path: Path, language: str, options: Options) -> Task:
    """Returns the task of a program of which a C or C++ file is a part."""
    from whet.evaluators.project_build import expect_buildable, own_build

    source = read_text(path)
    tree = native_tree(path, source, program=True)
    found = own_build(path, tree, source)
    if found is None:
        expect_buildable(path, tree, source)
        return _task(path, language, None, None, options)
    folder, command = found
    file = TaskFile.model_validate({"task": {"language": "command", "target": path.relative_to(folder).as_posix()}})
    return command_task(folder, path, file, Commands(run="", build=command), options)


def _existing(path: Path, name: str) -> Path:
    if path.is_file():
        return path
    siblings = [p.name for p in path.parent.iterdir() if p.suffix in LANGUAGES] if path.parent.is_dir() else []
    raise UsageError(f"no file {name or '(empty)'}{nearest(path.name, siblings)}; a target is {FORMS}")


def _from_folder(folder: Path, file: TaskFile, symbol: str | None, options: Options) -> Task:
    path = folder / file.task.target
    if file.task.language == "asm":
        return assembly_task(folder, file, options)
    if file.task.kind == "transpile" or file.task.source is not None:
        raise UsageError(f'{folder / FILENAME}: kind = "transpile" and source go with language = "asm"')
    if not path.is_file():
        raise UsageError(f"{folder / FILENAME}: no file {file.task.target}")
    try:
        commands = file.commands()
    except ValueError as error:
        raise UsageError(f"{folder / FILENAME}: {error}") from None
    if commands is not None:
        return command_task(folder, path, file, commands, options)
    symbol = symbol or file.task.symbol
    if file.task.backward or (not symbol and path.suffix == ".py" and is_problem(read_text(path))):
        return problem_task(path.resolve(), read_text(path), options, file.oracle.rule(), file.task.backward)
    kind = file.task.kind or ("function" if symbol else "program")
    if kind == "function" and not symbol:
        raise UsageError(f"{folder / FILENAME}: a function needs a symbol")
    if kind == "function" and file.task.language != "python" and file.signature is None:
        raise UsageError(f"{folder / FILENAME}: a {file.task.language} function needs a [signature]")
    return _task(path.resolve(), file.task.language, symbol if kind == "function" else None, file, options)


def _task(
    path: Path,
    language: str,
    symbol: str | None,
    file: TaskFile | None,
    options: Options,
    beside: Path | None = None,
) -> Task:
    source = read_text(path)
    package = None
    if language == "python":
        root = module_root(path)
        texts, package = _surroundings(path, root, source, options)
    else:
        named = () if file is None else _named(path, file)
        beside_it = native_tree(path, source, symbol is None, named) if language in DEFAULT_FLAGS else None
        root, texts = (beside_it.root, beside_it.texts) if beside_it is not None else (path.parent, {})
    if symbol is not None and language == "python":
        _expect_symbol(path, source, symbol)
    kind = Kind.FUNCTION if symbol else Kind.PROGRAM
    default = TaskFile.model_validate({"task": {"language": language, "target": path.name}})
    settings = file or default
    signature = None
    if symbol is not None and settings.signature is not None:
        signature = read_signature(settings.signature, symbol, str(path.parent / FILENAME))
    return Task(
        name=settings.task.name or (symbol or path.stem),
        language=language,
        kind=kind,
        path=path,
        source=source,
        symbol=symbol,
        root=root,
        support=texts,
        workload=workload_of(beside or path, symbol, settings, options, signature),
        oracle=settings.oracle.rule(),
        tests=command_words(options.tests),
        flags=tuple(settings.build.flags) or DEFAULT_FLAGS.get(language, ()),
        limits=settings.limits.limits(),
        project=tests_folder(path, options),
        signature=signature,
        features=tuple(settings.build.features),
        package=package,
    )


def _named(path: Path, file: TaskFile) -> list[Path]:
    """Returns the sources that ``[build]`` names."""
    found = [(path.parent / name).resolve() for name in file.build.sources]
    if missing := next(
        (name for name, place in zip(file.build.sources, found, strict=True) if not place.is_file()), ""
    ):
        raise UsageError(f"{path.parent / FILENAME}: [build] sources names {missing}, which is not there")
    return found


def _surroundings(path: Path, root: Path, source: str, options: Options) -> tuple[dict[str, str], Package | None]:
    """Returns the texts that a Python target needs, and its package where that is more than these."""
    if not (path.parent / "__init__.py").is_file() and not INSTALLED & set(path.parts):
        return supporting_texts(path, root, source).texts, None
    interpreter = find_interpreter(options.python)
    found = supporting_texts(path, root, source, installed(path, interpreter))
    workload = () if options.workload is None else (options.workload.expanduser().resolve(),)
    hidden = (path.parent / WORKLOAD_FILE, *workload)
    return found.texts, find_package(path, root, interpreter, found.texts, found.complete, hidden)


def command_task(folder: Path, path: Path, file: TaskFile, commands: Commands, options: Options) -> Task:
    """Returns the task of a program that the user's own commands build and run in its folder.

    Raises:
        UsageError: its folder holds too much, or its target lies elsewhere.
    """
    root = folder.resolve()
    if not path.resolve().is_relative_to(root):
        raise UsageError(f"{folder / FILENAME}: the target {file.task.target} lies outside of the folder")
    # Cases and generators lie beside whet.toml, wherever the target does.
    target = root / path.resolve().relative_to(root)
    task = _task(target, file.task.language, None, file, options, beside=root / FILENAME)
    unseen = [FILENAME, file.task.target, file.workload.generator or WORKLOAD_FILE, file.workload.cases or CASES_FOLDER]
    if options.workload is not None:
        unseen.append(str(options.workload.expanduser().absolute()))
    return replace(task, root=root, support=folder_texts(root, unseen), commands=commands)


def _expect_symbol(path: Path, source: str, symbol: str) -> None:
    module = parse(source)
    if isinstance(module, Fault):
        return  # the baseline does not load: that is told when it is validated
    function = find_function(module, symbol)
    if function is None and (home := _imported_from(module, symbol)):
        raise UsageError(f"{path.name} imports {symbol} from {home}; give the file that defines it")
    if function is None:
        known = symbols(module)
        listed = f"; it defines {', '.join(known[:8])}" if known else "; it defines no function"
        raise UsageError(f"{path.name} defines no {symbol}{nearest(symbol, known) or listed}")
    if isinstance(function, ast.AsyncFunctionDef):
        raise UsageError(f"{path.name}::{symbol} is async, which cannot be timed yet; give a plain function")


def _imported_from(module: ast.Module, symbol: str) -> str:
    """Returns the module that a file has a name from; empty where it imports no such name."""
    name = symbol.partition(".")[0]
    for node in module.body:
        if isinstance(node, ast.ImportFrom) and any((alias.asname or alias.name) == name for alias in node.names):
            return "." * node.level + (node.module or "")
    return ""
