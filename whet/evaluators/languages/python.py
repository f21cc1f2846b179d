"""Python: functions, methods and programs, on the project's interpreter."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from whet.core.parts import MARK
from whet.core.task import Task
from whet.core.verdict import Reason
from whet.evaluators.finding import Fault, Passed, RungEndedError
from whet.evaluators.foreign_imports import foreign_imports
from whet.evaluators.hints import python as hints
from whet.evaluators.labels import python as labels
from whet.evaluators.languages import python_targets as targets
from whet.evaluators.languages.base import Language
from whet.evaluators.mutants.base import Mutation
from whet.evaluators.profilers import line_timer, py_spy, traced_memory
from whet.evaluators.screen import expect_replaceable, parse
from whet.evaluators.syntax.fingerprint import of_python
from whet.sandbox.interpreter import Interpreter

WORDS = re.compile(
    rb"([^\W\d]\w*)[^\w\"'#]*|\d\w*[^\w\"'#]*|\"{3}(?:\\.|[^\\])*?\"{3}|'{3}(?:\\.|[^\\])*?'{3}"
    rb"|\"(?:\\.|[^\\\n\"])*\"|'(?:\\.|[^\\\n'])*'|#[^\n]*",
    re.DOTALL,
)
"""As those of `whet.evaluators.syntax.fingerprint`."""


def argv(task: Task, interpreter: Interpreter, tree: str, layout: int) -> list[str]:
    """Returns how a program is started."""
    return [str(interpreter.executable), "-s", "-B", f"{tree}/{task.filename}"]


def parsed(task: Task) -> Fault | None:
    """Returns why a target's text is no Python; None where it is."""
    found = parse(task.source)
    return found if isinstance(found, Fault) else None


def baseline(task: Task, extra: tuple[str, ...], version: str) -> str:
    """Returns what the original is called."""
    return f"the original on CPython {version}"


def faults_in(source: str, symbol: str | None) -> tuple[list[Mutation], Callable[[str], str | None]]:
    """Returns the faults that can be made in a function of a text, or in all of it, and what tells two texts apart."""
    from whet.evaluators.mutants import python as mutants  # takes a while, and few commands make faults

    return mutants.changes(source, symbol), mutants.meaning


def _target(task: Task, layout: int) -> tuple[Any, ...]:
    return "python", task.filename, task.symbol


def _screen(task: Task, source: str) -> Passed:
    ours, theirs = task.parts(task.source), task.parts(source)
    if missing := [name for name in task.others if name not in theirs]:
        raise _forbidden(f"the line '{MARK.format(missing[0]).strip()}' is missing")
    for name, text in theirs.items():
        expect_replaceable(text, ours[name], task.symbol if name == task.filename else None)
    known = {**task.support, **ours}
    beside = [text for name, text in known.items() if name.endswith(".py")]
    foreign = (module for text in theirs.values() for module in foreign_imports(text, beside))
    if (imported := next(foreign, None)) is not None:
        raise _forbidden(f"it imports {imported}, which the target's project does not: only whet needs it here")
    return Passed("parses, and takes the same arguments")


def _forbidden(why: str) -> RungEndedError:
    return RungEndedError(Fault(Reason.FORBIDDEN_CONSTRUCT, why))


LANGUAGE = Language(
    name="python",
    suffixes=(".py",),
    argv=argv,
    read=targets.read,
    read_folder=targets.read_folder,
    around=targets.around,
    target=_target,
    ready="loads",
    parse=parsed,
    screen=_screen,
    baseline=baseline,
    hints=hints.find,
    features=labels.read,
    faults=lambda task: faults_in(task.source, task.symbol),
    meaning=of_python,
    words=WORDS,
    profilers=(py_spy.profile, line_timer.profile),
    memory=traced_memory.memory,
    memory_beside=True,
    interpreted=True,
    objects=True,
)
