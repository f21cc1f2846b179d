"""Which languages there are: whet's own, and those that plug-ins bring.

A plug-in names a `whet.evaluators.languages.base.Language` in the entry-point group ``whet.languages``.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from whet.core.errors import UsageError, nearest
from whet.core.plugins import brought, plugged
from whet.core.task import Kind, Task
from whet.evaluators.languages.base import Language
from whet.sandbox.toolchains.native import language_of

GROUP = "whet.languages"
OWN = {
    "python": "python:LANGUAGE",
    "c": "native:C",
    "cpp": "native:CPP",
    "asm": "assembly:LANGUAGE",
    "command": "command:LANGUAGE",
    "torch": "torch:LANGUAGE",
    "ptx": "ptx:LANGUAGE",
}
"""Where each is, below this package. Imported when it is asked for: most commands meet one language."""
SUFFIXES = {".py": "python", ".c": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp"}
"""Of whet's own languages, so that a target is told by its name before anything is imported."""
DESCRIBED = ("python", "c", "cpp", "asm", "command")
"""What ``language =`` of a whet.toml may say; the others follow from the task."""


@cache
def language(name: str) -> Language | None:
    """Returns what is known of a language; None of one that neither whet nor a plug-in knows.

    Raises:
        UsageError: the plug-in that brings it cannot be used.
    """
    if (own := OWN.get(name)) is not None:
        module, _, attribute = own.partition(":")
        found: Language = getattr(import_module(f"{__package__}.{module}"), attribute)
        return found
    return brought(GROUP, name, Language)


def language_of_task(task: Task) -> Language:
    """Returns what is known of the language of a task's target, or of the form that the task has.

    Raises:
        UsageError: neither whet nor a plug-in knows it.
    """
    if task.module is not None:
        return known("torch")
    if task.launch is not None:
        return known("ptx")
    return known(task.language)


def language_of_answer(task: Task, source: str) -> Language:
    """Returns what is known of the language of an answer, which may be another than the target's; see `language_of`."""
    if task.commands is not None or task.module is not None:
        return language_of_task(task)
    return known(language_of(task, source))


def language_of_text(task: Task) -> Language | None:
    """Returns what is known of what a task's target is written in, whatever builds it."""
    return language_of_task(task) if task.module is not None else language(task.written)


def takes_objects(task: Task) -> bool:
    """Whether a task's target is a function that takes Python's objects, whatever they are."""
    return task.kind is Kind.FUNCTION and task.module is None and language_of_task(task).objects


def known(name: str) -> Language:
    """Returns a language.

    Raises:
        UsageError: neither whet nor a plug-in knows it.
    """
    found = language(name)
    if found is None:
        raise UsageError(f"no language is called {name} here; is the package installed that brings it?")
    return found


def described(name: str) -> Language:
    """Returns the language that ``language =`` of a whet.toml says.

    Raises:
        UsageError: neither whet nor a plug-in knows it, or it follows from the task.
    """
    if name in DESCRIBED:  # else no plug-in is looked for
        return known(name)
    names = (*DESCRIBED, *plugged(GROUP))
    if name in OWN or (found := language(name)) is None:
        raise UsageError(f"language takes {', '.join(names)}, not '{name}'{nearest(name, names)}")
    return found


def by_suffix(suffix: str) -> str | None:
    """Returns the name of the language whose files end so; None where there is none.

    Raises:
        UsageError: two plug-ins claim it, or none does and one cannot be used.
    """
    if (own := SUFFIXES.get(suffix)) is not None:
        return own
    claiming, complaints = [], []
    for name in plugged(GROUP):
        try:
            claiming += [name] if (found := language(name)) is not None and suffix in found.suffixes else []
        except UsageError as error:
            complaints.append(str(error))
    if len(claiming) > 1:
        raise UsageError(f"the plug-ins {' and '.join(claiming)} both claim {suffix} files; remove one of them")
    if not claiming and complaints:
        raise UsageError(complaints[0])  # it may be the one that would have known
    return claiming[0] if claiming else None
