"""From a folder with the contract of an assembly routine, or of a program to be translated, to a task."""

from __future__ import annotations

from pathlib import Path

from whet.core.errors import UsageError
from whet.core.options import Options
from whet.core.signature import Signature
from whet.core.task import PTX, Kind, Launch, Reference, Task
from whet.evaluators.given_files import command_words, read_text, tests_folder, workload_of
from whet.evaluators.ptx.launching import expect_kernel, read_launch
from whet.evaluators.signature import read_signature
from whet.evaluators.task_file import FILENAME, BuildTable, TaskFile, read_task_file
from whet.sandbox.toolchains.native import DEFAULT_FLAGS

REFERENCES = {".c": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp"}


def translation_task(source: Path, isa: str, options: Options) -> Task:
    """Returns the task of translating a routine to another instruction set.

    Raises:
        UsageError: there is no such file, or no task of a routine in its folder.
    """
    if not source.is_file():
        raise UsageError(f"no file {source}; give the assembly to be translated")
    folder = source.parent.resolve()
    file = read_task_file(folder) if (folder / FILENAME).is_file() else None
    if file is None or file.task.language != "asm":
        raise UsageError(f"{folder} holds no {FILENAME} of an assembly routine, whose contract says what must stay")
    given = {"kind": "transpile", "source": source.name, "isa": isa, "target": f"{source.stem}.{isa}.s"}
    changed = {"task": file.task.model_copy(update=given), "build": BuildTable(flags=file.build.flags)}
    return assembly_task(folder, file.model_copy(update=changed), options)


def assembly_task(folder: Path, file: TaskFile, options: Options) -> Task:
    """Returns the task of an assembly routine, or of a program that is to be translated.

    Its text is empty where the file is not there yet: a compiler's output will stand for it. What is to be translated
    is one of its supporting files.

    Raises:
        UsageError: the file lacks what such a task needs.
    """
    where, path, symbol = folder / FILENAME, (folder / file.task.target).resolve(), file.task.symbol
    program = symbol is None and file.signature is None and file.task.kind in ("program", "transpile")
    if not program and (symbol is None or file.signature is None):
        raise UsageError(f"{where}: an assembly routine needs a symbol and a [signature]")
    if program and file.task.kind == "program":
        raise UsageError(f"{where}: a whole program of assembly is to be translated: whet transpile FILE.s --to ISA")
    name = file.oracle.reference
    if name is None:
        raise UsageError(f'{where}: assembly needs [oracle] reference = "{path.stem}.c"')
    given = folder / name
    if given.suffix not in REFERENCES:
        raise UsageError(f"{where}: the reference {name} is no C or C++ file")
    language = REFERENCES[given.suffix]
    translated = file.task.source
    if (file.task.kind == "transpile") is (translated is None):
        raise UsageError(f'{where}: kind = "transpile" goes with source = "{path.stem}.s", and neither stands alone')
    if translated is not None and not (folder / translated).is_file():
        raise UsageError(f"{where}: no file {translated}, which is to be translated")
    signature = None
    if file.signature is not None and symbol is not None:
        signature = read_signature(file.signature, symbol, str(where))
    if signature is not None and symbol is not None and file.task.isa == PTX:
        if not path.is_file():
            raise UsageError(f"{where}: no file {file.task.target}")
        expect_kernel(read_text(path), symbol, signature, str(path))
    return Task(
        name=file.task.name or symbol or path.stem,
        language="asm",
        kind=Kind.PROGRAM if program else Kind.FUNCTION,
        path=path,
        source=read_text(path) if path.is_file() else "",
        symbol=symbol,
        root=path.parent,
        support={} if translated is None else {translated: read_text(folder / translated)},
        workload=workload_of(path, symbol, file, options, signature),
        oracle=file.oracle.rule(),
        tests=command_words(options.tests),
        flags=tuple(file.build.flags) or DEFAULT_FLAGS[language],
        limits=file.limits.limits(),
        project=tests_folder(path, options),
        signature=signature,
        reference=Reference(name, language, read_text(given)),
        standing=path.is_file(),
        isa=file.task.isa,
        features=tuple(file.build.features),
        translated=translated or "",
        launch=_launch(file, signature, where),
    )


def _launch(file: TaskFile, signature: Signature | None, where: Path) -> Launch | None:
    """Returns how a kernel in PTX is started; None for what runs on a processor."""
    if (file.task.isa == PTX) is (file.launch is None):
        raise UsageError(f'{where}: isa = "ptx" goes with [launch] (grid and block), and neither stands alone')
    if file.launch is None:
        return None
    if file.task.kind == "transpile" or signature is None:
        raise UsageError(f"{where}: a routine cannot be translated to PTX, nor a kernel to anything else")
    return read_launch(file.launch, signature, str(where))
