"""C and C++ programs: compiled inside the sandbox, as `#include` and plugins are the candidate's to choose."""

from __future__ import annotations

import shutil
from dataclasses import dataclass

from whet.core.errors import UsageError
from whet.core.task import Limits, Task
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Incident, Job, Sandbox

COMPILERS = {"c": "gcc", "cpp": "g++"}
SUFFIXES = {"c": ".c", "cpp": ".cpp"}
DEFAULT_FLAGS = {"c": ("-O3",), "cpp": ("-O3", "-std=c++17")}
TUNED = ("-march=native",)
LIMITS = Limits(seconds=120.0, processes=64)


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """What the compiler complained about."""

    text: str


def variants(task: Task) -> tuple[tuple[str, ...], ...]:
    """Returns the flags, after the task's own, under which both sides are measured (law 4).

    A task that names its flags is measured under those alone.
    """
    return ((), TUNED) if task.flags == DEFAULT_FLAGS.get(task.language) else ((),)


def source_name(task: Task) -> str:
    """Returns the file name under which the compiler sees the source, and which profilers tell."""
    return f"{task.path.stem}{SUFFIXES[task.language]}"


def compiler(language: str) -> str:
    """Returns the path of the compiler of a language.

    Raises:
        UsageError: it is not installed.
    """
    path = shutil.which(COMPILERS[language], path="/usr/local/bin:/usr/bin:/bin")
    if path is None:
        raise UsageError(f"{COMPILERS[language]} not found; install with: apt-get install {COMPILERS[language]}")
    return path


def compile_program(
    sandbox: Sandbox, interpreter: Interpreter, task: Task, source: str, extra: tuple[str, ...] = ()
) -> bytes | Diagnostics:
    """Compiles one source text.

    Args:
        sandbox: where to compile.
        interpreter: runs our program inside.
        task: names the language and the flags.
        source: the text of the one file.
        extra: flags after the task's own.

    Returns:
        the executable's bytes, or the compiler's words.

    Raises:
        UsageError: the compiler is not installed.
    """
    flags = task.flags or DEFAULT_FLAGS[task.language]
    script = 'cat > "$1" && shift && exec "$@"'
    name = f"/tmp/{source_name(task)}"
    build = [compiler(task.language), *flags, *extra, name, "-o", "/tmp/program", "-lm"]
    session = sandbox.open(Job("programs", interpreter, limits=LIMITS))
    try:
        session.ask("prepare", ["/bin/sh", "-c", script, "sh", name, *build], source.encode(), seconds=10.0)
        answer, _ = session.ask("go", seconds=LIMITS.seconds)
        (_, _, said), _ = session.ask("output", seconds=10.0)
        if answer[0] == "error" or answer[1] != 0:
            return Diagnostics(said.decode("utf-8", "replace").replace("/tmp/", "").strip() or "the compiler failed")
        (_, binary), _ = session.ask("read", "/tmp/program", seconds=30.0)
    except Incident as incident:
        return Diagnostics(f"the compiler: {incident}")
    finally:
        session.close()
    assert isinstance(binary, bytes)
    return binary
