"""Which functions of a Python repository differ between two commits."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from whet.evaluators.finding import Fault
from whet.evaluators.repository.revisions import Checkout
from whet.evaluators.screen import find_function, parameters, parse, symbols


@dataclass(frozen=True, slots=True)
class ChangedFunction:
    """A function whose text differs.

    Attributes:
        path: of its file, from the project's folder.
        symbol: ``function`` or ``Class.method``.
        before: its parameters before, as a caller sees them; None where it was not there.
        after: its parameters after; None where it is gone.
    """

    path: str
    symbol: str
    before: tuple[str, ...] | None
    after: tuple[str, ...] | None

    @property
    def target(self) -> str:
        """The function as `whet optimize` takes it, from the project's folder."""
        return f"{self.path}::{self.symbol}"


def changed_functions(checkout: Checkout, old: str, new: str) -> tuple[ChangedFunction, ...]:
    """Returns the functions whose text differs between two commits, by file and place; those of both count once.

    Args:
        checkout: the repository.
        old: hash of the commit before.
        new: hash of the commit after.
    """
    found: list[ChangedFunction] = []
    for path in checkout.changed_files(old, new):
        if path.endswith(".py"):
            found += _changed(path, checkout.text(old, path) or "", checkout.text(new, path) or "")
    return tuple(found)


def _changed(path: str, before: str, after: str) -> list[ChangedFunction]:
    ours, theirs = _functions(before), _functions(after)
    names = list(dict.fromkeys((*theirs, *ours)))
    return [
        ChangedFunction(path, name, *(side[name][1] if name in side else None for side in (ours, theirs)))
        for name in names
        if ours.get(name) != theirs.get(name)
    ]


def _functions(text: str) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Returns each function's text with its decorators, and its parameters; comments and blanks do not count."""
    module = parse(text)
    if isinstance(module, Fault):
        return {}
    found = {}
    for name in symbols(module):
        function = find_function(module, name)
        assert function is not None, "it was just listed"
        found[name] = ast.unparse(function), tuple(parameters(function))
    return found
