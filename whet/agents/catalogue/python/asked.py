"""`x in [...]` with a list that is made for the question: a comprehension, or a copy."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.python.edit import PythonEdit, Replacement
from whet.agents.catalogue.python.hoisting import constants_end, hoist
from whet.agents.catalogue.python.rewrite import Rewrite
from whet.agents.catalogue.python.source import PythonSource, Scope
from whet.agents.catalogue.python.uses import free_names, only_argument

_COPIES = frozenset({"list", "tuple", "sorted", "set", "frozenset"})
_ELEMENTS = (cst.ListComp, cst.SetComp, cst.GeneratorExp)


class MembershipOfMade(PythonEdit):
    """Asks a set that is made once, or the collection itself, instead of a list made for each question."""

    name = "membership-of-made-list"
    label = Label.DATA_STRUCTURE
    summary = "asks a set made once, or a dictionary itself, instead of a list made for each question"
    needs = "`x in [f(y) for y in ys]` or `any(f(y) == x for y in ys)` in a loop that leaves ys alone; `x in list(ys)`"
    unsafe = "elements that cannot be hashed; elements that change meanwhile; texts, where `in` asks for parts"
    assumes: tuple[str, ...] = ("hashable", "no-string")

    def changes(self, source: PythonSource) -> Iterator[Replacement]:
        """Yields one change a question."""
        for scope in source.scopes:
            for node in source.walk(scope, nested=False):
                if isinstance(node, cst.ComparisonTarget) and isinstance(node.operator, cst.In | cst.NotIn):
                    asked = node.comparator
                    if isinstance(asked, _ELEMENTS):
                        yield from _made_once(source, scope, asked, asked.elt, asked, "")
                    else:
                        yield from _unwrapped(source, asked)
                elif isinstance(node, cst.Call) and source.code(node.func) == "any":
                    yield from _any(source, scope, node)


def _any(source: PythonSource, scope: Scope, call: cst.Call) -> Iterator[Replacement]:
    """Replaces ``any(f(y) == x for y in ys)``."""
    match only_argument(call):
        case (
            cst.GeneratorExp(
                elt=cst.Comparison(
                    left=left, comparisons=[cst.ComparisonTarget(operator=cst.Equal(), comparator=right)]
                )
            ) as made
        ):
            targets = _targets(source, made)
            for element, sought in ((left, right), (right, left)):
                if free_names(source, element) & targets and not free_names(source, sought) & targets:
                    yield from _made_once(source, scope, made, element, call, f"{_operand(source, sought)} in ")


def _made_once(
    source: PythonSource,
    scope: Scope,
    made: cst.ListComp | cst.SetComp | cst.GeneratorExp,
    element: cst.BaseExpression,
    replaced: cst.BaseExpression,
    question: str,
) -> Iterator[Replacement]:
    variables = free_names(source, made.for_in) | free_names(source, element)
    variables -= _targets(source, made)
    base = made.for_in.iter.value if isinstance(made.for_in.iter, cst.Name) else "asked"
    name = source.fresh(f"{base}_SET" if base.isupper() else f"{base}_set")
    statement = f"{name} = {{{source.code(element)}{_clauses(source, made.for_in)}}}"
    rewrite = Rewrite(source)
    answer = f"({question}{name})" if question else name
    constants = constants_end(source, scope, variables)
    if constants is not None:
        rewrite.after(constants, statement)
        rewrite.expression(replaced, answer)
    elif not hoist(rewrite, scope, {replaced: answer}, variables, statement):
        return
    yield Replacement(
        made, rewrite.code(), "the same list is made for each question; a set that is made once answers all"
    )


def _unwrapped(source: PythonSource, asked: cst.BaseExpression) -> Iterator[Replacement]:
    """Replaces ``list(d.keys())``, ``list(d)``, ``sorted(xs)`` and the like by what they copy."""
    copied = only_argument(asked)
    if not isinstance(asked, cst.Call) or copied is None or source.code(asked.func) not in _COPIES:
        return
    if isinstance(copied, cst.Call) and isinstance(copied.func, cst.Attribute) and copied.func.attr.value == "keys":
        copied = copied.func.value
    elif source.code(asked.func) in ("set", "frozenset"):
        return
    if isinstance(copied, cst.Name | cst.Attribute | cst.Subscript):
        rewrite = Rewrite(source)
        rewrite.expression(asked, source.code(copied))
        why = f"'{source.code(asked)}' copies all elements to ask for one"
        yield Replacement(asked, rewrite.code(), why)


def _targets(source: PythonSource, made: cst.ListComp | cst.SetComp | cst.GeneratorExp) -> set[str]:
    found: set[str] = set()
    clause: cst.CompFor | None = made.for_in
    while clause is not None:
        found |= free_names(source, clause.target)
        clause = clause.inner_for_in
    return found


def _clauses(source: PythonSource, clause: cst.CompFor) -> str:
    text = source.code(clause)
    return text if text.startswith(" ") else f" {text}"


def _operand(source: PythonSource, expression: cst.BaseExpression) -> str:
    is_tight = isinstance(expression, cst.Name | cst.Attribute | cst.Subscript | cst.Call) or expression.lpar
    return source.code(expression) if is_tight else f"({source.code(expression)})"
