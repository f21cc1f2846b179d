"""From a file, and the settings that go with it, to a task."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from whet.core.errors import UsageError
from whet.core.options import Options
from whet.core.task import Commands, Kind, Task
from whet.evaluators.folder import folder_texts
from whet.evaluators.given_files import CASES_FOLDER, WORKLOAD_FILE, command_words, read_text, tests_folder, workload_of
from whet.evaluators.languages.base import Language, TargetFile
from whet.evaluators.languages.registry import described, known
from whet.evaluators.signature import read_signature
from whet.evaluators.task_file import FILENAME, TaskFile


def file_task(
    path: Path,
    language: str,
    symbol: str | None,
    file: TaskFile | None,
    options: Options,
    beside: Path | None = None,
) -> Task:
    """Returns the task of one file, or of a function of it.

    Args:
        path: of the file.
        language: that it is written in, or ``command``.
        symbol: the function; None for a program.
        file: of settings; None for those that whet has by itself.
        options: as the user gave them.
        beside: the file that the workload's files lie beside; None for the target.

    Raises:
        UsageError: there is no such file, symbol or workload.
    """
    source, found = read_text(path), known(language)
    around = found.around(TargetFile(path, source, symbol, () if file is None else _named(path, file), options))
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
        root=around.root,
        support=around.texts,
        workload=workload_of(beside or path, symbol, settings, options, signature),
        oracle=settings.oracle.rule(),
        tests=command_words(options.tests),
        flags=tuple(settings.build.flags) or found.flags,
        limits=settings.limits.limits(),
        project=tests_folder(path, options),
        signature=signature,
        features=tuple(settings.build.features),
        package=around.package,
    )


def _named(path: Path, file: TaskFile) -> list[Path]:
    """Returns the sources that ``[build]`` names."""
    found = [(path.parent / name).resolve() for name in file.build.sources]
    if missing := next(
        (name for name, place in zip(file.build.sources, found, strict=True) if not place.is_file()), ""
    ):
        raise UsageError(f"{path.parent / FILENAME}: [build] sources names {missing}, which is not there")
    return found


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
    task = file_task(target, file.task.language, None, file, options, beside=root / FILENAME)
    unseen = [FILENAME, file.task.target, file.workload.generator or WORKLOAD_FILE, file.workload.cases or CASES_FOLDER]
    if options.workload is not None:
        unseen.append(str(options.workload.expanduser().absolute()))
    return replace(task, root=root, support=folder_texts(root, unseen), commands=commands)


def folder_task(folder: Path, file: TaskFile, symbol: str | None, options: Options) -> Task:
    """Returns the task that a whet.toml describes.

    Args:
        folder: that holds it.
        file: as it was read.
        symbol: a function that the user named beside it.
        options: as the user gave them.

    Raises:
        UsageError: it names what there is not, or keys that do not go together.
    """
    where = folder / FILENAME
    path = folder / file.task.target
    symbol = symbol or file.task.symbol
    try:
        language = described(file.task.language)
    except UsageError as error:
        raise UsageError(f"{where}: task.{error}") from None
    _expect_fit(where, file, language)
    if not language.translates and not path.is_file():
        raise UsageError(f"{where}: no file {file.task.target}")
    special = None if language.read_folder is None else language.read_folder(folder, file, symbol or "", options)
    if special is not None:
        return special
    kind = file.task.kind or ("function" if symbol else "program")
    if kind == "function" and not symbol:
        raise UsageError(f"{where}: a function needs a symbol")
    if kind == "function" and not language.objects and file.signature is None:
        raise UsageError(f"{where}: a {language.name} function needs a [signature]")
    return file_task(path.resolve(), language.name, symbol if kind == "function" else None, file, options)


def _expect_fit(where: Path, file: TaskFile, language: Language) -> None:
    """Raises UsageError where a whet.toml has keys that do not go with its language."""
    if not language.translates and (file.task.kind == "transpile" or file.task.source is not None):
        raise UsageError(f'{where}: kind = "transpile" and source go with language = "asm"')
    if not language.commanded and (file.run is not None or file.build.command):
        key = "[run]" if file.run is not None else "[build] command"
        raise UsageError(f'{where}: {key} goes with language = "command"')
