"""The rung ``screen``: what a text shows before anything of it is built or run, whatever its language."""

from __future__ import annotations

from whet.core.parts import MARK
from whet.core.plain import to_plain
from whet.core.task import Task
from whet.core.verdict import Reason
from whet.evaluators.assembly.lint import NO_TRANSLATION, lint
from whet.evaluators.finding import Fault, Finding, Passed
from whet.evaluators.foreign_imports import foreign_imports
from whet.evaluators.hints.registry import hints
from whet.evaluators.kernels.problem import screen_answer
from whet.evaluators.screen import screen
from whet.sandbox.toolchains import native


def screened(task: Task, source: str) -> Finding:
    """Returns what the text of an answer shows. Hints of cheating are recorded, and decide nothing.

    Args:
        task: that it answers.
        source: its text.
    """
    detail = "nothing to parse before the compiler does"
    if task.module is not None:
        slots = tuple(filter(None, (task.module.slot,)))
        if fault := screen_answer(source, task.source, slots):
            return fault
        detail = "parses, and has the class of an answer"
    elif native.language_of(task, source) == "asm":
        if fault := lint(source, task.symbol or "", task.isa):
            return fault
        detail = "holds one function, and nothing that reaches elsewhere"
    elif task.translated:
        return Fault(Reason.FORBIDDEN_CONSTRUCT, NO_TRANSLATION)
    elif task.language == "python":
        if fault := _screen_python(task, source):
            return fault
        detail = "parses, and takes the same arguments"
    found = hints(task.written, source, task.source)
    return Passed(detail, {"hints": [to_plain(hint) for hint in found]})


def _screen_python(task: Task, source: str) -> Fault | None:
    ours, theirs = task.parts(task.source), task.parts(source)
    if missing := [name for name in task.others if name not in theirs]:
        return Fault(Reason.FORBIDDEN_CONSTRUCT, f"the line '{MARK.format(missing[0]).strip()}' is missing")
    faults = (screen(text, ours[name], task.symbol if name == task.filename else None) for name, text in theirs.items())
    if fault := next(filter(None, faults), None):
        return fault
    known = {**task.support, **ours}
    beside = [text for name, text in known.items() if name.endswith(".py")]
    foreign = (name for text in theirs.values() for name in foreign_imports(text, beside))
    if (name := next(foreign, None)) is not None:
        said = f"it imports {name}, which the target's project does not: only whet needs it here"
        return Fault(Reason.FORBIDDEN_CONSTRUCT, said)
    return None
