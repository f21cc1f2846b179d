"""C, C++ and assembly: compiled inside the sandbox, as `#include` and plugins are the candidate's to choose."""

from __future__ import annotations

import random
import re
import shlex
import shutil
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from whet.core.errors import UsageError
from whet.core.task import PTX, Kind, Limits, Task
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Incident, Job, Sandbox
from whet.sandbox.toolchains.beside import Beside
from whet.sandbox.toolchains.caller import caller_text

COMPILERS = {"c": "gcc", "cpp": "g++", "asm": "gcc"}
CLANG = {"c": "clang", "cpp": "clang++"}
SUFFIXES = {"c": ".c", "cpp": ".cpp", "asm": ".s", "ptx": ".ptx"}
DEFAULT_FLAGS = {"c": ("-O3",), "cpp": ("-O3", "-std=c++17")}
TUNED = ("-march=native",)
BY_CLANG = "clang"
"""The word of a variant by which clang compiles in gcc's place."""
STANDING = "standing"
"""The word of a variant whose baseline is the target as it stands, and not its reference."""
WORDS = frozenset({BY_CLANG, STANDING})
SHARED = ("-shared", "-fPIC")
LIMITS = Limits(seconds=120.0, processes=64)
DIRECTIVE = re.compile(r"^[ \t]*\.(?:globl|global|text|section|type|intel_syntax)\b", re.MULTILINE)
PTX_VERSION = re.compile(r"^[ \t]*\.version[ \t]+\d", re.MULTILINE)
CPLUSPLUS = re.compile(r'^[ \t]*extern[ \t]+"C"', re.MULTILINE)
PROGRAM = "program-{layout}"
"""What a native program is called in its tree."""
LAYOUTS = 4
"""Programs that are linked of one source, the first without a shift, see `paddings`. More average over more positions
in memory, and each takes one more link; with one, where code happens to lie counts as a gain or a loss."""
PAGE = 4096
"""Bytes below which every shift stays: a page, the unit in which memory is mapped. With less, fewer of the positions in
a page are met; with more, whole pages are shifted too, and files grow."""
STEP = 16
"""Bytes to which compilers align functions and data: a shift by less moves nothing."""


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """What the compiler complained about."""

    text: str


def variants(task: Task, source: str) -> tuple[tuple[str, ...], ...]:
    """Returns the flags, after the task's own, under which both sides are measured (law 4).

    What is written in C is built by the compiler of its original. What is written in assembly is built by none, so it
    is held against what gcc makes of the original, or of its reference, and where it is installed, clang; so is every
    answer to an assembly routine. Of that, what is tuned for the machine comes first, as the strongest as a rule. A
    routine that somebody wrote is one more; of a kernel in PTX it is the only one. A task that names its flags is
    measured under those alone.

    Args:
        task: that is answered.
        source: the answer.
    """
    if task.launch is not None:
        return ((STANDING,),)
    _, language = task.original
    usual = task.flags == DEFAULT_FLAGS.get(language)
    flags: tuple[tuple[str, ...], ...] = ((), TUNED) if usual else ((),)
    if task.reference is not None:
        flags = flags[::-1]
    of_assembly = task.reference is not None or language_of(task, source) == "asm"
    by_clang = task.signature is not None and of_assembly and found(CLANG[language]) is not None
    both = tuple((*by, *one) for by in (((), (BY_CLANG,)) if by_clang else ((),)) for one in flags)
    return (*both, (STANDING,)) if task.standing else both


def is_assembly(source: str) -> bool:
    """Whether a text is assembly: its lines begin with directives that C has no room for."""
    return DIRECTIVE.search(source) is not None


def language_of(task: Task, source: str) -> str:
    """Returns the language of an answer to a native task, which may be C, C++ or assembly whatever the target is."""
    if task.launch is not None and PTX_VERSION.search(source):
        return PTX
    if (task.signature is not None or task.language == "asm") and is_assembly(source):
        return "asm"
    if task.language == "asm":
        return "cpp" if CPLUSPLUS.search(source) else task.original[1]
    return task.written


def source_name(task: Task, source: str) -> str:
    """Returns the file name under which the compiler sees a source, and which profilers tell."""
    return f"{task.path.stem}{SUFFIXES[language_of(task, source)]}"


def found(tool: str) -> str | None:
    """Returns the path of a tool; None where it is not installed."""
    return shutil.which(tool, path="/usr/local/bin:/usr/bin:/bin")


def compiler(language: str) -> str:
    """Returns the path of the compiler of a language.

    Raises:
        UsageError: it is not installed.
    """
    path = found(COMPILERS[language])
    if path is None:
        raise UsageError(f"{COMPILERS[language]} not found; install with: apt-get install {COMPILERS[language]}")
    return path


def machine_flags(task: Task, language: str) -> tuple[str, ...]:
    """Returns the flags by which a compiler, or the assembler, takes the features of a task and no others."""
    if not task.features:
        return ()
    if language == "asm":
        return (f"-Wa,-march={'+'.join(('generic64', *task.features))}",)
    return tuple(f"-m{name}" for name in task.features)


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


def compile_source(
    sandbox: Sandbox,
    interpreter: Interpreter,
    task: Task,
    source: str,
    extra: tuple[str, ...] = (),
    layouts: Sequence[str] = ("",),
) -> list[bytes] | Diagnostics:
    """Compiles one source text: to executables, or where the task is a function to shared objects.

    Args:
        sandbox: where to compile.
        interpreter: runs our program inside.
        task: names the language and the flags.
        source: the text of the one file.
        extra: flags after the task's own, and the words of a variant.
        layouts: assembly to link before the program, a file each.

    Returns:
        the bytes of the files, or the compiler's words.

    Raises:
        UsageError: the compiler is not installed.
    """
    shared = SHARED if task.kind is Kind.FUNCTION else ()
    language = language_of(task, source)
    # The text of an assembly routine is the same for both.
    builder = found(CLANG[language]) if BY_CLANG in extra and language != "asm" else compiler(language)
    assert builder is not None, "a variant names what is installed"
    own = task.flags or DEFAULT_FLAGS.get(language, ())
    chosen = (*own, *machine_flags(task, language), *shared, *(word for word in extra if word not in WORDS))
    flags = " ".join(map(shlex.quote, (builder, *chosen)))
    name = source_name(task, source)
    beside = Beside.of(task)
    steps = [*beside.arrival, f"cat > {shlex.quote(name)}"]
    steps += [f"{flags} {shlex.join(beside.includes)} -c {shlex.quote(name)} -o /tmp/program.o", "cd /tmp"]
    steps.append("nm -u -P program.o > undefined")

    def other(one: str) -> list[str]:
        by = (found(CLANG[one]) if BY_CLANG in extra else None) or compiler(one)
        return [by, *(word for word in chosen if one == language or not word.startswith("-std="))]

    compiling, made_beside = beside.compiled(other)
    steps += compiling
    objects = " ".join(["program.o", *made_beside, *(["-lstdc++"] if "cpp" in beside.languages else [])])
    if task.signature is not None and (caller := caller_text(task.signature, task.symbol or "")):
        steps.append(f"printf %s {shlex.quote(caller)} > caller.c")
        steps.append(f"{shlex.quote(compiler('c'))} -O2 -fPIC -c caller.c -o caller.o")
        objects += " caller.o"
    for number, layout in enumerate(layouts):
        steps.append(f"printf %s {shlex.quote(layout)} > layout.s")
        steps.append(f"{flags} layout.s {objects} -o program-{number} -lm")
    made = [f"/tmp/program-{number}" for number in range(len(layouts))]
    with beside.staged(sandbox, " ".join((flags, *layouts, source))) as tree:
        built = run_compiler(sandbox, interpreter, steps, source.encode(), [*made, "/tmp/undefined"], tree)
    if isinstance(built, Diagnostics):
        return built
    *binaries, undefined = built
    externs = task.signature.externs if task.signature is not None else ()
    if language == "asm" and (said := uninvited(undefined.decode("utf-8", "replace"), externs)):
        return Diagnostics(said)
    return binaries


def uninvited(undefined: str, externs: Collection[str]) -> str:
    """Returns which symbols an object takes from elsewhere though nobody lets it, in words; empty where there are none.

    Args:
        undefined: of ``nm -u -P``.
        externs: what it may refer to.
    """
    names = (line.partition(" ")[0] for line in undefined.splitlines())
    called = [name for name in names if name and name not in {*externs, "_GLOBAL_OFFSET_TABLE_"}]
    return f"it refers to {', '.join(called)}, which the task's externs do not name" if called else ""


def run_compiler(
    sandbox: Sandbox,
    interpreter: Interpreter,
    steps: Sequence[str],
    stdin: bytes,
    made: Sequence[str],
    tree: Path | None = None,
) -> list[bytes] | Diagnostics:
    """Runs commands of a shell one after the other in a sandbox of their own, as long as each succeeds.

    Args:
        sandbox: where to run them.
        interpreter: runs our program inside.
        steps: the commands.
        stdin: what they read.
        made: paths of the files that they make.
        tree: folder to show, read-only; ``$TREE`` is where they see it.

    Returns:
        the bytes of these files, or what the commands said.
    """
    # A fork would be given a copy of the tree.
    session = sandbox.open(Job("programs", interpreter, tree, LIMITS, preload=() if tree is None else None))
    try:
        script = f"TREE={session.tree}; {' && '.join(steps)}"
        session.ask("prepare", ["/bin/sh", "-c", script], stdin, seconds=10.0)
        answer, _ = session.ask("go", seconds=LIMITS.seconds)
        (_, _, said), _ = session.ask("output", seconds=10.0)
        if answer[0] == "error" or answer[1] != 0:
            return Diagnostics(said.decode("utf-8", "replace").replace("/tmp/", "").strip() or "the compiler failed")
        return [_executable(session.ask("read", path, seconds=30.0)[0]) for path in made]
    except Incident as incident:
        return Diagnostics(f"the compiler: {incident}")
    finally:
        session.close()


def _executable(answer: tuple[object, ...]) -> bytes:
    _, binary = answer
    assert isinstance(binary, bytes)
    return binary
