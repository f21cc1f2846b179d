"""Targets in Python: what lies around a file, and which files are problems of kernels."""

from __future__ import annotations

import ast
from pathlib import Path

from whet.core.errors import UsageError, nearest
from whet.core.events import Listener
from whet.core.options import Options
from whet.core.task import Package, Task
from whet.evaluators.finding import Fault
from whet.evaluators.given_files import WORKLOAD_FILE, read_text
from whet.evaluators.kernels.problem import is_problem, resembles_problem
from whet.evaluators.kernels.task import problem_task
from whet.evaluators.languages.base import Around, TargetFile
from whet.evaluators.package import INSTALLED, find_package, installed
from whet.evaluators.python_tree import module_root, supporting_texts
from whet.evaluators.screen import find_function, parse, symbols
from whet.evaluators.task_file import TaskFile
from whet.sandbox.interpreter import find_interpreter


def around(wanted: TargetFile) -> Around:
    """Returns the texts that a target needs, and its package where that is more than these.

    Raises:
        UsageError: the file defines no such function, or one that cannot be timed.
    """
    root = module_root(wanted.path)
    texts, package = _surroundings(wanted.path, root, wanted.source, wanted.options)
    if wanted.symbol is not None:
        _expect_symbol(wanted.path, wanted.source, wanted.symbol)
    return Around(root, texts, package)


def read(path: Path, symbol: str, options: Options, listener: Listener) -> Task | None:
    """Returns the task of a problem of kernels; None for any other file."""
    if symbol or not resembles_problem(text := read_text(path)):
        return None
    return problem_task(path, text, options)


def read_folder(folder: Path, file: TaskFile, symbol: str, options: Options) -> Task | None:
    """Returns the task of a problem of kernels that a whet.toml describes; None for any other target."""
    path = folder / file.task.target
    if not file.task.backward and (symbol or path.suffix != ".py" or not is_problem(read_text(path))):
        return None
    return problem_task(path.resolve(), read_text(path), options, file.oracle.rule(), file.task.backward)


def _surroundings(path: Path, root: Path, source: str, options: Options) -> tuple[dict[str, str], Package | None]:
    """Returns the texts that a Python target needs, and its package where that is more than these."""
    if not (path.parent / "__init__.py").is_file() and not INSTALLED & set(path.parts):
        return supporting_texts(path, root, source).texts, None
    interpreter = find_interpreter(options.python)
    found = supporting_texts(path, root, source, installed(path, interpreter))
    workload = () if options.workload is None else (options.workload.expanduser().resolve(),)
    hidden = (path.parent / WORKLOAD_FILE, *workload)
    return found.texts, find_package(path, root, interpreter, found.texts, found.complete, hidden)


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
