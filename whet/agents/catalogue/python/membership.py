"""`x in xs` on a list, in a loop: a set answers at once what a list answers by looking through."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.python.edit import PythonEdit, Replacement
from whet.agents.catalogue.python.hoisting import hoist
from whet.agents.catalogue.python.kinds import bound_value, kind_of, kind_of_value
from whet.agents.catalogue.python.rewrite import Rewrite
from whet.agents.catalogue.python.source import PythonSource, Scope
from whet.agents.catalogue.python.uses import (
    How,
    Use,
    bindings,
    names_in,
    only_argument,
    parameter,
    uses,
    within,
)


class ListMembership(PythonEdit):
    """Asks a set instead of a list.

    A list that grows by ``append`` alone becomes a set, or gets one beside it where the list itself is
    needed; a list that stays as it is gets a set made once before the loop.
    """

    name = "list-membership"
    label = Label.DATA_STRUCTURE
    summary = "asks a set instead of a list whether it holds an element"
    needs = "`x in xs` in a loop, where the list xs grows by append alone or does not change"
    unsafe = "elements that cannot be hashed, or that are equal with unequal hashes"
    assumes: tuple[str, ...] = ("hashable", "no-string", "reiterable", "rest-unread")

    def changes(self, source: PythonSource) -> Iterator[Replacement]:
        """Yields one change a list."""
        for scope in source.scopes:
            for name in names_in(source, scope):
                found = uses(source, scope, name)
                tests = [use for use in found if use.how is How.MEMBER]
                if not tests:
                    continue
                code = _grown(source, scope, name, found) or _unchanged(source, scope, name, found)
                if code is not None:
                    why = f"each look into the list '{name}' costs its whole length; a set answers at once"
                    yield Replacement(tests[0].node, code, why)


def _grown(source: PythonSource, scope: Scope, name: str, found: list[Use]) -> str | None:
    """Returns the file with a set for, or beside, a list that is built by append in the loop that asks it."""
    binds = bindings(found)
    appends = [use for use in found if use.calls("append")]
    others = [use for use in found if use not in binds and use not in appends]
    if parameter(scope, name) is not None or not all(use.reads for use in others):
        return None
    values = [bound_value(source, bind) for bind in binds]
    if any(kind_of_value(value) != "list" or isinstance(value, cst.Tuple) for value in values):
        return None
    elements = [only_argument(append.site) for append in appends]
    if None in elements or not all(source.has_line(use.node) for use in (*binds, *appends)):
        return None
    if not any(
        not within(source, binds, loop) and within(source, appends, loop)
        for test in others
        if test.how is How.MEMBER
        for loop in source.repetitions(test.node)
    ):
        return None
    rewrite = Rewrite(source)
    if all(use.how is How.MEMBER for use in others):
        for bind, value in zip(binds, values, strict=True):
            made = "set()" if _is_empty(value) or value is None else f"set({source.code(value)})"
            rewrite.statement(source.statement_of(bind.node), f"{name} = {made}")
        for append, element in zip(appends, elements, strict=True):
            if element is not None:
                rewrite.expression(append.site, f"{name}.add({source.code(element)})")
        return rewrite.code()
    twin = source.fresh(f"{name}_set")
    for bind, value in zip(binds, values, strict=True):
        made = "set()" if _is_empty(value) else f"set({name})"
        rewrite.after(source.statement_of(bind.node), f"{twin} = {made}")
    for append, element in zip(appends, elements, strict=True):
        added = element.value if isinstance(element, cst.Name) else f"{name}[-1]"
        rewrite.after(source.statement_of(append.node), f"{twin}.add({added})")
    for test in others:
        if test.how is How.MEMBER:
            rewrite.expression(test.node, twin)
    return rewrite.code()


def _unchanged(source: PythonSource, scope: Scope, name: str, found: list[Use]) -> str | None:
    """Returns the file with a set that is made from a list once before the loop that asks it."""
    if name in ("self", "cls") or not (bindings(found) or parameter(scope, name)):
        return None
    if kind_of(source, scope, name, found) not in ("list", "deque", None):
        return None
    tests = [use for use in found if use.how is How.MEMBER]
    if any(_is_key(source, test, found) for test in tests):
        return None
    value = f"set({name} or ())" if _may_be_none(scope, name, found) else f"set({name})"
    twin = source.fresh(f"{name}_set")
    rewrite = Rewrite(source)
    moved = hoist(rewrite, scope, {test.node: twin for test in tests}, {name}, f"{twin} = {value}")
    return rewrite.code() if moved else None


def _is_key(source: PythonSource, test: Use, found: list[Use]) -> bool:
    """Whether what is asked for is also an index, so that the container is a dictionary rather than a list."""
    asked = source.code(test.site.left) if isinstance(test.site, cst.Comparison) else ""
    return any(
        isinstance(use.site, cst.Subscript) and [source.code(each) for each in use.site.slice] == [asked]
        for use in found
    )


def _is_empty(value: cst.BaseExpression | None) -> bool:
    return isinstance(value, cst.List) and not value.elements


def _may_be_none(scope: Scope, name: str, found: list[Use]) -> bool:
    declared = parameter(scope, name)
    if declared is not None and isinstance(declared.default, cst.Name) and declared.default.value == "None":
        return True
    return any(
        use.how is How.TRUTH
        or (
            isinstance(use.site, cst.Comparison)
            and any(isinstance(each.operator, cst.Is | cst.IsNot) for each in use.site.comparisons)
        )
        for use in found
    )
