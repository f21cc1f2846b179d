"""`xs.count(x)` in a loop: one pass over the list for each element."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.python.edit import PythonEdit, Replacement
from whet.agents.catalogue.python.hoisting import hoist
from whet.agents.catalogue.python.kinds import kind_of, kind_of_value
from whet.agents.catalogue.python.rewrite import Rewrite
from whet.agents.catalogue.python.source import PythonSource, Scope, last_name
from whet.agents.catalogue.python.uses import (
    PURE_FUNCTIONS,
    How,
    Use,
    bindings,
    free_names,
    names_in,
    only_argument,
    parameter,
    uses,
)


class CountedOnce(PythonEdit):
    """Counts all elements once before the loop, with ``collections.Counter``."""

    name = "count-once"
    label = Label.ALGORITHM
    summary = "counts all elements once with a Counter instead of once for each element"
    needs = "`xs.count(x)` in a loop, or `key=xs.count`, while the list xs does not change"
    unsafe = "elements that cannot be hashed; a string asked for parts longer than one character"
    assumes: tuple[str, ...] = ("hashable", "no-string", "reiterable")

    def changes(self, source: PythonSource) -> Iterator[Replacement]:
        """Yields one change a list."""
        for scope in source.scopes:
            for name in names_in(source, scope):
                found = uses(source, scope, name)
                if bindings(found) or parameter(scope, name) is not None:
                    yield from _counted_once(source, scope, name, found)
                    yield from _key(source, name, found)


def _counted_once(source: PythonSource, scope: Scope, name: str, found: list[Use]) -> Iterator[Replacement]:
    kind = kind_of(source, scope, name, found)
    counts = source.fresh(f"{name}_counts")
    replacements: dict[cst.CSTNode, str] = {}
    for use in found:
        element = only_argument(use.site) if use.calls("count") else None
        if element is None or kind_of_value(element) == "str" or kind not in ("list", "str", "deque", None):
            continue
        if kind != "str" or _is_character_of(source, element, name):
            replacements[use.site] = f"{counts}[{source.code(element)}]"
    rewrite = Rewrite(source)
    moved = hoist(rewrite, scope, replacements, {name}, f"{counts} = Counter({name})")
    if moved and rewrite.import_name("collections", "Counter"):
        yield Replacement(moved[0], rewrite.code(), _why(name))


def _key(source: PythonSource, name: str, found: list[Use]) -> Iterator[Replacement]:
    """Replaces ``max(set(xs), key=xs.count)``."""
    for use in found:
        argument, statement = source.parent(use.site), source.statement_of(use.site)
        if use.how is not How.ATTRIBUTE or last_name(use.site) != "count":
            continue
        call = source.parent(argument) if isinstance(argument, cst.Arg) else None
        if not isinstance(call, cst.Call) or last_name(call.func) not in ("max", "min", "sorted"):
            continue
        rewrite = Rewrite(source)
        if isinstance(statement, cst.SimpleStatementLine) and rewrite.import_name("collections", "Counter"):
            counts = source.fresh(f"{name}_counts")
            rewrite.before(statement, f"{counts} = Counter({name})")
            rewrite.expression(use.site, f"{counts}.__getitem__")
            yield Replacement(use.site, rewrite.code(), _why(name))


def _why(name: str) -> str:
    return f"'{name}.count' reads the whole list for each element; a Counter reads it once"


def _is_character_of(source: PythonSource, element: cst.BaseExpression, name: str) -> bool:
    """Whether an expression is the variable of a loop over the characters of a string."""
    if not isinstance(element, cst.Name):
        return False
    binds = bindings(uses(source, source.scope_of(element), element.value))
    return bool(binds) and all(
        isinstance(use.site, cst.For | cst.CompFor)
        and use.site.target is use.node
        and free_names(source, use.site.iter) - PURE_FUNCTIONS == {name}
        for use in binds
    )
