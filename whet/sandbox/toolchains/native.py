"""C and C++ programs: compiled inside the sandbox, as `#include` and plugins are the candidate's to choose."""

from __future__ import annotations

import random
import shlex
import shutil
from collections.abc import Sequence
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
LAYOUTS = 4
PAGE = 4096
STEP = 16
"""Bytes to which compilers align functions and data: a shift by less moves nothing."""


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


def paddings(name: str) -> tuple[str, ...]:
    """Returns assembly that shifts a program's code and data in memory: nothing, then by random amounts.

    Where a program's functions and data happen to lie moves its time by one per cent and more (Mytkowicz et al.,
    "Producing wrong data without doing anything obviously wrong!", 2009), so a measurement draws from several layouts.

    Args:
        name: of the program; the same name gives the same amounts.
    """
    rng = random.Random(name)
    # `.text.unlikely` is the first that linkers place, so it moves all other code.
    sections = {'.text.unlikely,"ax"': "@progbits", '.rodata,"a"': "@progbits", '.data,"aw"': "@progbits"}
    sections |= {'.bss,"aw"': "@nobits"}
    made = [""]
    while len(made) < LAYOUTS:
        shifts = [f".section {name},{kind}\n.skip {rng.randrange(STEP, PAGE, STEP)}" for name, kind in sections.items()]
        made.append("\n".join(shifts))
    return tuple(f'{shift}\n.section .note.GNU-stack,"",@progbits\n' for shift in made)


def compile_program(
    sandbox: Sandbox,
    interpreter: Interpreter,
    task: Task,
    source: str,
    extra: tuple[str, ...] = (),
    layouts: Sequence[str] = ("",),
) -> list[bytes] | Diagnostics:
    """Compiles one source text.

    Args:
        sandbox: where to compile.
        interpreter: runs our program inside.
        task: names the language and the flags.
        source: the text of the one file.
        extra: flags after the task's own.
        layouts: assembly to link before the program, an executable each.

    Returns:
        the executables' bytes, or the compiler's words.

    Raises:
        UsageError: the compiler is not installed.
    """
    flags = " ".join(map(shlex.quote, (compiler(task.language), *(task.flags or DEFAULT_FLAGS[task.language]), *extra)))
    name = f"{task.path.stem}{SUFFIXES[task.language]}"
    steps = ["cd /tmp", f"cat > {shlex.quote(name)}", f"{flags} -c {shlex.quote(name)} -o program.o"]
    for number, layout in enumerate(layouts):
        steps.append(f"printf %s {shlex.quote(layout)} > layout.s")
        steps.append(f"{flags} layout.s program.o -o program-{number} -lm")
    session = sandbox.open(Job("programs", interpreter, limits=LIMITS))
    try:
        session.ask("prepare", ["/bin/sh", "-c", " && ".join(steps)], source.encode(), seconds=10.0)
        answer, _ = session.ask("go", seconds=LIMITS.seconds)
        (_, _, said), _ = session.ask("output", seconds=10.0)
        if answer[0] == "error" or answer[1] != 0:
            return Diagnostics(said.decode("utf-8", "replace").replace("/tmp/", "").strip() or "the compiler failed")
        return [
            _executable(session.ask("read", f"/tmp/program-{number}", seconds=30.0)[0])
            for number in range(len(layouts))
        ]
    except Incident as incident:
        return Diagnostics(f"the compiler: {incident}")
    finally:
        session.close()


def _executable(answer: tuple[object, ...]) -> bytes:
    _, binary = answer
    assert isinstance(binary, bytes)
    return binary
