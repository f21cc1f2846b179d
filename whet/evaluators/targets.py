"""From what a user writes after ``whet optimize`` to a task."""

from __future__ import annotations

import ast
import shlex
from collections.abc import Iterator
from pathlib import Path

from whet.core.config import Options
from whet.core.errors import UsageError, nearest
from whet.core.task import Case, Kind, Task, Workload
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.literals import literal_calls
from whet.evaluators.screen import find_function, parse, symbols
from whet.evaluators.task_file import FILENAME, TaskFile, read_task_file
from whet.sandbox.toolchains.native import DEFAULT_FLAGS

LANGUAGES = {".py": "python", ".c": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp"}
FORMS = "file.py::function, file.py::Class.method, program.py, program.c, program.cpp, or a folder with whet.toml"
WORKLOAD_FILE = "workload.py"
CASES_FOLDER = "cases"
MOST_SUPPORT = 500


def read_task(target: str, options: Options) -> Task:
    """Reads a target with its workload and tests.

    Raises:
        UsageError: it names no file or no symbol that there is, or its workload cannot be read.
    """
    name, _, symbol = target.partition("::")
    path = Path(name).expanduser().absolute()
    if path.is_dir():
        if not (path / FILENAME).is_file():
            raise UsageError(f"{path} holds no {FILENAME}; a target is {FORMS}")
        return _from_folder(path.resolve(), read_task_file(path), symbol or None, options)
    path = _existing(path, name).resolve()
    language = LANGUAGES.get(path.suffix)
    if language is None:
        raise UsageError(f"{path.name} is no target; a target is {FORMS}")
    if symbol and language != "python":
        raise UsageError(f"{target}: a function can be a target in Python only; give the program as {name}")
    return _task(path, language, symbol or None, None, options)


def _existing(path: Path, name: str) -> Path:
    if path.is_file():
        return path
    siblings = [p.name for p in path.parent.iterdir() if p.suffix in LANGUAGES] if path.parent.is_dir() else []
    raise UsageError(f"no file {name or '(empty)'}{nearest(path.name, siblings)}; a target is {FORMS}")


def _from_folder(folder: Path, file: TaskFile, symbol: str | None, options: Options) -> Task:
    path = folder / file.task.target
    if not path.is_file():
        raise UsageError(f"{folder / FILENAME}: no file {file.task.target}")
    symbol = symbol or file.task.symbol
    kind = file.task.kind or ("function" if symbol else "program")
    if kind == "function" and (file.task.language != "python" or not symbol):
        raise UsageError(f"{folder / FILENAME}: a function target is a Python file with a symbol")
    return _task(path.resolve(), file.task.language, symbol if kind == "function" else None, file, options)


def _task(path: Path, language: str, symbol: str | None, file: TaskFile | None, options: Options) -> Task:
    source = read_text(path)
    root = _module_root(path) if language == "python" else path.parent
    if symbol is not None:
        _expect_symbol(path, source, symbol)
    kind = Kind.FUNCTION if symbol else Kind.PROGRAM
    default = TaskFile.model_validate({"task": {"language": language, "target": path.name}})
    settings = file or default
    return Task(
        name=settings.task.name or (symbol or path.stem),
        language=language,
        kind=kind,
        path=path,
        source=source,
        symbol=symbol,
        root=root,
        support=_support(path, root, source) if language == "python" else {},
        workload=_workload(path, symbol, settings, options),
        oracle=settings.oracle.rule(),
        tests=_words(options.tests),
        flags=tuple(settings.build.flags) or DEFAULT_FLAGS.get(language, ()),
        limits=settings.limits.limits(),
    )


def read_text(path: Path) -> str:
    """Reads a source text with its exact line ends.

    Raises:
        UsageError: it cannot be read, or is not UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text") from None


def _expect_symbol(path: Path, source: str, symbol: str) -> None:
    module = parse(source)
    if isinstance(module, Fault):
        return  # the baseline does not load: that is told when it is validated
    function = find_function(module, symbol)
    if function is None:
        known = symbols(module)
        listed = f"; it defines {', '.join(known[:8])}" if known else "; it defines no function"
        raise UsageError(f"{path.name} defines no {symbol}{nearest(symbol, known) or listed}")
    if isinstance(function, ast.AsyncFunctionDef):
        raise UsageError(f"{path.name}::{symbol} is async, which cannot be timed yet; give a plain function")


def _module_root(path: Path) -> Path:
    """Returns the folder that the target's package, if it is in one, is imported from."""
    root = path.parent
    while (root / "__init__.py").is_file() and root.parent != root:
        root = root.parent
    return root


def _words(command: str | None) -> tuple[str, ...] | None:
    if command is None:
        return None
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise UsageError(f"--tests {command!r} cannot be read: {error}") from None
    if not words:
        raise UsageError("--tests is empty; give a command such as 'pytest -q tests'")
    return words


def _workload(path: Path, symbol: str | None, settings: TaskFile, options: Options) -> Workload:
    folder, kind, table = path.parent, Kind.FUNCTION if symbol else Kind.PROGRAM, settings.workload
    generator = folder / table.generator if table.generator else folder / WORKLOAD_FILE
    cases = folder / table.cases if table.cases else folder / CASES_FOLDER
    named = bool(table.generator), bool(table.cases)
    if options.workload is not None:
        given = options.workload.expanduser().absolute()
        if not given.exists():
            raise UsageError(f"--workload {options.workload}: no such file or folder")
        generator, cases = (folder / "", given) if given.is_dir() else (given, folder / "")
        named = not given.is_dir(), given.is_dir()
    text = _generator_text(generator, named[0])
    found = _cases(cases, named[1]) if kind is Kind.PROGRAM else ()
    if kind is Kind.FUNCTION and named[1]:
        raise UsageError(f"{cases}: a folder of cases is for programs; a function needs a file with make_input")
    return Workload(text, found, tuple(table.sizes), literal_calls(path, symbol) if symbol else ())


def _generator_text(path: Path, named: bool) -> str | None:
    if path.is_file():
        return read_text(path)
    if named:
        raise UsageError(f"no workload file {path}")
    return None


def _cases(folder: Path, named: bool) -> tuple[Case, ...]:
    if not folder.is_dir() or (folder.name not in (CASES_FOLDER,) and not named):
        return ()
    cases = []
    for stdin in sorted(folder.glob("*.in")):
        expected = stdin.with_suffix(".out")
        cases.append(Case(stdin.stem, stdin.read_bytes(), expected.read_bytes() if expected.is_file() else None))
    if named and not cases:
        raise UsageError(f"{folder} holds no NAME.in files")
    return tuple(cases)


def _support(path: Path, root: Path, source: str) -> dict[str, str]:
    """Returns the other files of the target's own tree that it needs to load: what it imports, transitively."""
    found: dict[str, str] = {}
    waiting = [(path, source), *((init, read_text(init)) for init in _packages(path, root))]
    while waiting:
        here, text = waiting.pop()
        if here != path:
            found[here.relative_to(root).as_posix()] = text
        for file in _imported(here, root, text):
            for needed in (file, *_packages(file, root)):
                name = needed.relative_to(root).as_posix()
                if needed != path and name not in found and needed not in (p for p, _ in waiting):
                    waiting.append((needed, read_text(needed)))
        if len(found) > MOST_SUPPORT:
            raise UsageError(f"{path} imports more than {MOST_SUPPORT} files of its own project")
    return found


def _packages(path: Path, root: Path) -> list[Path]:
    folders = [parent for parent in path.parents if parent.is_relative_to(root)]
    inits = [folder / "__init__.py" for folder in folders if (folder / "__init__.py").is_file()]
    return [init for init in inits if init != path]


def _imported(path: Path, root: Path, source: str) -> Iterator[Path]:
    module = parse(source)
    if isinstance(module, Fault):
        return
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _files(root, path.parent, alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            parts = node.module.split(".") if node.module else []
            if node.level:
                base = path.parents[node.level - 1]
                starts = [base] if base.is_relative_to(root) else []
            else:
                starts = [root, path.parent]
            for start in starts:
                yield from _files(start, start, parts)
                for alias in node.names:
                    yield from _files(start, start, [*parts, alias.name])


def _files(root: Path, beside: Path, parts: list[str]) -> Iterator[Path]:
    for start in dict.fromkeys((root, beside)):
        for end in range(1, len(parts) + 1):
            place = start.joinpath(*parts[:end])
            for file in (place.with_name(place.name + ".py"), place / "__init__.py"):
                if file.is_file():
                    yield file
