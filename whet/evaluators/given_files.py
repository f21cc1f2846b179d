"""What a user gives beside a target: the workload's generator, a program's cases, the command of the tests."""

from __future__ import annotations

import shlex
from pathlib import Path

from whet.core.errors import UsageError
from whet.core.options import Options
from whet.core.signature import Signature
from whet.core.task import Case, Kind, Workload
from whet.evaluators.inputs.contract import MADE, generator_text
from whet.evaluators.inputs.literals import literal_calls, literal_inits
from whet.evaluators.project import project_root
from whet.evaluators.task_file import FILENAME, TaskFile

WORKLOAD_FILE = "workload.py"
CASES_FOLDER = "cases"


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


def command_words(command: str | None) -> tuple[str, ...] | None:
    """Returns the words of ``--tests``; None where nobody gave it.

    Raises:
        UsageError: it is no command.
    """
    if command is None:
        return None
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise UsageError(f"--tests {command!r} cannot be read: {error}") from None
    if not words:
        raise UsageError("--tests is empty; give a command such as 'pytest -q tests'")
    return words


def tests_folder(path: Path, options: Options) -> Path | None:
    """Returns the folder that a test command is meant for; None where there is no such command.

    Raises:
        UsageError: the target does not lie in the folder that the user named.
    """
    if options.project is not None and not path.is_relative_to(options.project.resolve()):
        raise UsageError(f"--project {options.project} does not hold {path}")
    if options.tests is None:
        return None
    return project_root(path) if options.project is None else options.project.resolve()


def workload_of(
    path: Path, symbol: str | None, settings: TaskFile, options: Options, signature: Signature | None
) -> Workload:
    """Returns where a task's inputs come from.

    Args:
        path: of the target, or of what lies in the folder of the generator and the cases.
        symbol: of the function; None for a program.
        settings: of the task's file.
        options: as the user gave them; their workload goes before that of the folder.
        signature: contract of a native function, whose inputs may be made from it.

    Raises:
        UsageError: a file or folder that somebody named is not there, or holds nothing of use.
    """
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
    if signature is not None:
        if text is not None:
            return Workload(text, (), tuple(table.sizes))
        made = generator_text(signature, table.sizes, str(folder / FILENAME))
        return Workload(made, (), tuple(table.sizes), origin=MADE)
    calls, inits = (literal_calls(path, symbol), literal_inits(path, symbol, read_text(path))) if symbol else ((), ())
    return Workload(text, found, tuple(table.sizes), calls, inits=inits)


def _generator_text(path: Path, named: bool) -> str | None:
    if path.is_file():
        return read_text(path)
    if named:
        raise UsageError(f"no workload file {path}")
    return None


def _cases(folder: Path, named: bool) -> tuple[Case, ...]:
    if named and not folder.is_dir():
        raise UsageError(f"there is no folder of cases {folder}")
    if not folder.is_dir() or (folder.name not in (CASES_FOLDER,) and not named):
        return ()
    cases = []
    for stdin in sorted(folder.glob("*.in")):
        expected = stdin.with_suffix(".out")
        cases.append(Case(stdin.stem, stdin.read_bytes(), expected.read_bytes() if expected.is_file() else None))
    if named and not cases:
        raise UsageError(f"{folder} holds no NAME.in files")
    return tuple(cases)
