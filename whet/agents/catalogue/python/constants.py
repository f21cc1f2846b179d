"""Membership in constant lists: of the file, and written out in the test."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.python.edit import PythonEdit, Replacement
from whet.agents.catalogue.python.hoisting import is_constant
from whet.agents.catalogue.python.kinds import bound_value, kind_of_value
from whet.agents.catalogue.python.rewrite import Rewrite
from whet.agents.catalogue.python.source import PythonSource
from whet.agents.catalogue.python.uses import How, bindings, names_in, parameter, uses

_LONG_ENOUGH = 4
"""Elements of a list from which a set may replace it. A smaller value proposes more edits whose gain is small; a larger
one leaves out lists where a set is faster."""
_LONG = 8
"""Elements from which a list written at the top of the file is replaced although no loop holds the test. A smaller
value proposes more edits of little gain; a larger one misses functions that are called often."""


class ConstantMembership(PythonEdit):
    """Asks a set instead of a constant list or tuple."""

    name = "constant-membership"
    label = Label.DATA_STRUCTURE
    summary = "asks a set instead of a list of constants, at the top of the file or written out in the test"
    needs = "`x in NAMES` with a list that the file binds once, or in a loop `x in [...]` with four constants or more"
    unsafe = "elements asked for that cannot be hashed; another file that changes the list"
    assumes: tuple[str, ...] = ("hashable",)

    def changes(self, source: PythonSource) -> Iterator[Replacement]:
        """Yields one change a constant of the file, and one a written-out list."""
        for name in names_in(source, source.module):
            yield from _named(source, name)
        for scope in source.scopes:
            for node in source.walk(scope, nested=False):
                if not isinstance(node, cst.ComparisonTarget) or not source.repetitions(node):
                    continue
                if isinstance(node.operator, cst.In | cst.NotIn):
                    yield from _written_out(source, node.comparator)


def _named(source: PythonSource, name: str) -> Iterator[Replacement]:
    binds = bindings(uses(source, source.module, name))
    if len(binds) != 1 or not is_constant(source, name, source.module):
        return
    statement = source.statement_of(binds[0].node)
    if statement not in source.module.body or not _is_long_list(bound_value(source, binds[0])):
        return
    tests = [
        use.node
        for scope in source.scopes
        if scope is source.module or not (parameter(scope, name) or bindings(uses(source, scope, name)))
        for use in uses(source, scope, name)
        if use.how is How.MEMBER
    ]
    value = bound_value(source, binds[0])
    is_short = isinstance(value, cst.List | cst.Tuple) and len(value.elements) < _LONG
    if not tests or (is_short and not any(source.repetitions(test) for test in tests)):
        return
    twin = source.fresh(f"{name}_SET" if name.isupper() else f"{name}_set")
    rewrite = Rewrite(source)
    rewrite.after(statement, f"{twin} = frozenset({name})")
    for test in tests:
        rewrite.expression(test, twin)
    yield Replacement(tests[0], rewrite.code(), f"the constant list '{name}' is looked through each time; a set is not")


def _written_out(source: PythonSource, value: cst.BaseExpression) -> Iterator[Replacement]:
    if not isinstance(value, cst.List | cst.Tuple) or not _is_long_list(value):
        return
    constants = cst.SimpleString | cst.ConcatenatedString | cst.Integer
    if all(isinstance(each, cst.Element) and isinstance(each.value, constants) for each in value.elements):
        rewrite = Rewrite(source)
        rewrite.expression(value, "{" + ", ".join(source.code(each.value) for each in value.elements) + "}")
        why = f"{len(value.elements)} constants are compared one by one; a set of them is looked up"
        yield Replacement(value, rewrite.code(), why)


def _is_long_list(value: cst.BaseExpression | None) -> bool:
    if isinstance(value, cst.List | cst.Tuple):
        return len(value.elements) >= _LONG_ENOUGH
    return isinstance(value, cst.Call) and kind_of_value(value) == "list"
