"""C and C++: programs, and functions with a contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from whet.core.task import Task
from whet.core.verdict import Reason
from whet.evaluators.assembly.lint import NO_TRANSLATION
from whet.evaluators.finding import Fault, Passed
from whet.evaluators.hints import native as hints
from whet.evaluators.hints.base import HintMatch
from whet.evaluators.labels import native as labels
from whet.evaluators.languages import native_targets as targets
from whet.evaluators.languages.base import BuildRequest, Language, Made, unread
from whet.evaluators.mutants.base import Mutation
from whet.evaluators.profilers import callgrind, dhat, perf
from whet.evaluators.syntax.fingerprint import of_native
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.toolchains import native

PROFILERS = (perf.profile, callgrind.profile)


def argv(task: Task, interpreter: Interpreter, tree: str, layout: int) -> list[str]:
    """Returns how a program is started."""
    return [f"{tree}/{native.PROGRAM.format(layout=layout)}"]


def target(task: Task, layout: int) -> tuple[Any, ...]:
    """Returns what a function's process loads."""
    assert task.signature is not None, "a native function has a contract"
    return "native", native.PROGRAM.format(layout=layout), task.symbol, task.signature.returns, task.signature.plain


def tool(task: Task) -> str:
    """Returns the path of what compiles a target, or the reference that it is held against."""
    return native.compiler(task.original[1])


def built(order: BuildRequest) -> Made | Fault:
    """Returns what the compiler makes of a text, once for each layout."""
    layouts = native.paddings(order.name)[: order.layouts]
    found = native.compile_source(order.sandbox, order.interpreter, order.task, order.source, order.extra, layouts)
    if isinstance(found, native.Diagnostics):
        return Fault(Reason.BUILD_ERROR, found.text)
    files = {native.PROGRAM.format(layout=number): binary for number, binary in enumerate(found)}
    return Made(files, executable=True, layouts=len(layouts))


def baseline(task: Task, extra: tuple[str, ...], version: str) -> str:
    """Returns what the original, or the reference, is called, with its compiler and flags."""
    if native.STANDING in extra:
        return "the routine as it stands"
    _, language = task.original
    words = [word for word in extra if word not in native.WORDS]
    by = native.CLANG if native.BY_CLANG in extra else native.COMPILERS
    what = "the original" if task.reference is None else "the reference"
    named = f"{by[language]} " if task.reference is not None or native.BY_CLANG in extra else ""
    return f"{what} with {named}{' '.join((*task.flags, *words))}"


def faults(task: Task) -> tuple[list[Mutation], Callable[[str], str | None]]:
    """Returns the faults that can be made in a text, or in the reference that it is held against."""
    from whet.evaluators.mutants import native as mutants  # takes a while, and few commands make faults

    source, language = task.original if task.reference is not None else (task.source, task.written)
    return mutants.changes(source, language), partial(mutants.meaning, language=language)


def _screen(task: Task, source: str) -> Fault | Passed:
    return Fault(Reason.FORBIDDEN_CONSTRUCT, NO_TRANSLATION) if task.translated else unread(task, source)


def _language(name: str, suffixes: tuple[str, ...], find: Callable[[str], Iterator[HintMatch]]) -> Language:
    return Language(
        name=name,
        suffixes=suffixes,
        argv=argv,
        read=targets.reader(name),
        around=targets.around,
        flags=native.DEFAULT_FLAGS[name],
        target=target,
        build=built,
        tool=tool,
        ready="compiles",
        comment="//",
        screen=_screen,
        baseline=baseline,
        hints=find,
        features=labels.reader(name),
        faults=faults,
        meaning=partial(of_native, name),
        profilers=PROFILERS,
        memory=dhat.memory,
        machine_code=True,
        sanitized=True,
        simulated=True,
    )


C = _language("c", (".c",), hints.find_c)
CPP = _language("cpp", (".cc", ".cpp", ".cxx"), hints.find_cpp)
