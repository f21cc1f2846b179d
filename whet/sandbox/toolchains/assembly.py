"""Assembly of several instruction sets: what a compiler makes of C, and object files out of either."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

from whet.core.errors import UsageError
from whet.core.task import NATIVE_ISA, Task
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Sandbox
from whet.sandbox.toolchains import native
from whet.sandbox.toolchains.beside import Beside
from whet.sandbox.toolchains.isas import ISAS
from whet.sandbox.toolchains.native import SUFFIXES, TUNED, Diagnostics, found, run_compiler
from whet.sandbox.toolchains.steps import run_steps

PLAIN = ("-fno-asynchronous-unwind-tables", "-fno-stack-protector", "-fcf-protection=none")
"""Without what readers of assembly would have to skip."""


def builder(isa: str, language: str) -> str:
    """Returns the path of the compiler of a language for an instruction set.

    Raises:
        UsageError: it is not installed.
    """
    if isa == NATIVE_ISA:
        return native.compiler(language)
    name = ISAS[isa].tool(native.COMPILERS[language])
    if path := found(name):
        return path
    package = ISAS[isa].compiler.replace("gcc", native.COMPILERS[language], 1)
    raise UsageError(f"{name} not found; install with: apt-get install {package}")


def own_output(sandbox: Sandbox, interpreter: Interpreter, task: Task) -> str | Diagnostics:
    """Returns what a compiler makes of a task's reference, as assembly: where a Coder may begin.

    Raises:
        UsageError: the compiler is not installed.
    """
    source, language = task.original
    flags = [*task.flags, *native.machine_flags(task, language)]
    if task.isa == NATIVE_ISA:
        flags += [*([] if task.features else TUNED), PLAIN[-1]]
    made = _made(sandbox, interpreter, task, source, language, [*flags, *PLAIN[:-1], "-fPIC", "-S"], "made.s")
    return made if isinstance(made, Diagnostics) else made[0].decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Assembled:
    """An object file.

    Attributes:
        content: ELF, relocatable.
        listing: its disassembly, by objdump.
        undefined: what nm says of the symbols that the text itself takes from elsewhere.
    """

    content: bytes
    listing: str
    undefined: str


def object_file(sandbox: Sandbox, interpreter: Interpreter, task: Task, source: str) -> Assembled | Diagnostics:
    """Returns the relocatable object of a text for the task's instruction set.

    Raises:
        UsageError: the compiler is not installed.
    """
    language = native.language_of(task, source)
    flags = [*(task.flags or native.DEFAULT_FLAGS.get(language, ())), "-fPIC"]
    if task.isa == NATIVE_ISA:
        flags += native.machine_flags(task, language)
    dump, names = (one if task.isa == NATIVE_ISA else ISAS[task.isa].tool(one) for one in ("objdump", "nm"))
    own, after = [f"{names} -u -P made.o > undefined"], [f"{dump} -d --no-show-raw-insn made.o > listing"]
    words = [*flags, "-c"]
    made = _made(sandbox, interpreter, task, source, language, words, "made.o", after, "listing", "undefined", own=own)
    if isinstance(made, Diagnostics):
        return made
    content, listing, undefined = made
    return Assembled(content, listing.decode("utf-8", "replace"), undefined.decode("utf-8", "replace"))


@dataclass(frozen=True, slots=True)
class Linked:
    """A whole program.

    Attributes:
        content: ELF, executable, with all of the C library that it needs.
        listing: the disassembly of its own object, by objdump.
        called: what that takes from libraries.
    """

    content: bytes
    listing: str
    called: tuple[str, ...]


def linked_program(sandbox: Sandbox, interpreter: Interpreter, task: Task, source: str) -> Linked | Diagnostics:
    """Returns the program of an assembly text for the task's instruction set.

    Raises:
        UsageError: the compiler is not installed.
    """
    isa, gcc = ISAS[task.isa], builder(task.isa, "asm")
    after = [
        f"{isa.tool('objdump')} -d --no-show-raw-insn made.o > listing",
        f"{isa.tool('nm')} -u -P made.o > undefined",
        f"{shlex.quote(gcc)} -static made.o -o program -lm",
    ]
    made = _made(sandbox, interpreter, task, source, "asm", ["-c"], "made.o", after, "listing", "undefined", "program")
    if isinstance(made, Diagnostics):
        return made
    _, listing, undefined, program = made
    called = tuple(line.partition(" ")[0] for line in undefined.decode("utf-8", "replace").splitlines())
    return Linked(program, listing.decode("utf-8", "replace"), called)


def counting_object(sandbox: Sandbox, interpreter: Interpreter, task: Task) -> tuple[bytes, bytes] | Diagnostics:
    """Returns the object of a task's reference that counts its branches on this machine, and gcov's notes of it.

    Raises:
        UsageError: the compiler is not installed.
    """
    source, language = task.original
    flags = [*task.flags, "-fPIC", "-O0", "--coverage", "-c"]
    here = replace(task, isa=NATIVE_ISA)
    made = _made(sandbox, interpreter, here, source, language, flags, "made.o", (), "made.gcno")
    return made if isinstance(made, Diagnostics) else (made[0], made[1])


def branch_report(
    sandbox: Sandbox, interpreter: Interpreter, task: Task, inputs: Sequence[bytes], seconds: float
) -> bytes | Diagnostics:
    """Returns what gcov says of a task's reference, a whole program, after its runs on this machine.

    Args:
        sandbox: where to run it.
        interpreter: runs our program inside.
        task: whose reference it is.
        inputs: for stdin, one a run.
        seconds: that one run may take.

    Raises:
        UsageError: the compiler is not installed.
    """
    source, language = task.original
    file = f"{task.path.stem}{SUFFIXES[language]}"
    gcc = [builder(NATIVE_ISA, language), *task.flags, "-O0", "--coverage"]
    files = {file: source.encode()} | {f"{number}.in": given for number, given in enumerate(inputs)}
    tree = sandbox.stage(f"branches-{hashlib.sha256(b''.join(files.values())).hexdigest()[:24]}", files)
    steps = [
        f"cp $TREE/{shlex.quote(file)} .",
        shlex.join([*gcc, "-c", file, "-o", "made.o"]),
        shlex.join([*gcc, "made.o", "-o", "counted", "-lm"]),
        f'for given in $TREE/*.in; do timeout {seconds:g} ./counted < "$given" > /dev/null 2>&1 || true; done',
        "gcov -b -t --json-format made.gcda > report",
    ]
    done = run_steps(sandbox, interpreter, steps, tree, ["/tmp/report"])
    return Diagnostics(done.said.strip()) if done.code != 0 else done.files["/tmp/report"]


def _made(
    sandbox: Sandbox,
    interpreter: Interpreter,
    task: Task,
    source: str,
    language: str,
    flags: Sequence[str],
    name: str,
    after: Sequence[str] = (),
    *more: str,
    own: Sequence[str] = (),
) -> list[bytes] | Diagnostics:
    """Returns the file that a compiler makes of a text, and more that commands after it make.

    Those in `own` see the file before what lies beside the target is joined to it.
    """
    file = f"{task.path.stem}{SUFFIXES[language]}"
    beside = Beside.of(task)
    compiling, objects = beside.compiled(lambda one: [builder(task.isa, one), *_for(one, language, flags)])
    steps = [*beside.arrival, f"cat > {shlex.quote(file)}"]
    steps += [
        shlex.join([builder(task.isa, language), *flags, *beside.includes, file, "-o", f"/tmp/{name}"]),
        "cd /tmp",
        *own,
    ]
    if objects:
        # One object that holds them all, with the target's own text first.
        together = shlex.join(["ld", "-r", name, *objects, "-o", "together.o"])
        steps += [*compiling, together, f"mv together.o {shlex.quote(name)}"]
    steps += after
    made = [f"/tmp/{one}" for one in (name, *more)]
    with beside.staged(sandbox, " ".join((name, *flags, source))) as tree:
        return run_compiler(sandbox, interpreter, steps, source.encode(), made, tree)


def _for(language: str, target: str, flags: Sequence[str]) -> list[str]:
    """Returns the flags for a source beside a target, without what only the target's language takes."""
    return [word for word in flags if word != "-c" and (language == target or not word.startswith("-std="))]
