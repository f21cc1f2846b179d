"""Loops that add up, count, look for an extreme or search, left to a built-in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.python.edit import PythonEdit, Replacement
from whet.agents.catalogue.python.kinds import bound_value, kind_of, kind_of_value
from whet.agents.catalogue.python.loops import Nest, only_part, operand, read_nest, statements
from whet.agents.catalogue.python.rewrite import Rewrite
from whet.agents.catalogue.python.source import PythonSource, Scope
from whet.agents.catalogue.python.uses import How, bindings, leaves_unread, parameter, uses, within

_EXTREMES = {"GreaterThan": "max", "LessThan": "min"}
_MIRRORED = {"max": "min", "min": "max"}


class LoopBuiltins(PythonEdit):
    """Turns a loop with one result into a call of ``sum``, ``max``, ``min``, ``any``, ``all`` or ``in``."""

    name = "loop-to-builtin"
    label = Label.LIBRARY_CALL
    summary = "lets sum, max, min, any, all or `in` walk through the elements instead of a loop"
    needs = "a loop whose only act is `total += ...`, `if x > best: best = x`, or to stop where a test holds"
    unsafe = "floats, whose sum a newer Python rounds less often; NaN among elements that are compared by `in`"
    assumes: tuple[str, ...] = ("no-nan",)

    def changes(self, source: PythonSource) -> Iterator[Replacement]:
        """Yields one change a loop."""
        for scope in source.scopes:
            for node in source.walk(scope, nested=False):
                if isinstance(node, cst.For):
                    nest = read_nest(source, node)
                    if nest is not None:
                        yield from _accumulated(source, scope, node, nest)
                    yield from _searched(source, scope, node)


class _ReducedLoop(NamedTuple):
    """The variable that a loop leaves, the expression that computes it, and how often the loop names it."""

    name: str
    expression: str
    acts: int
    is_sum: bool


def _accumulated(source: PythonSource, scope: Scope, loop: cst.For, nest: Nest) -> Iterator[Replacement]:
    result = _sum(source, nest) or _extreme(source, nest) or _larger(source, nest)
    if result is None or result.name in nest.targets or loop not in source.block(loop):
        return
    found = uses(source, scope, result.name)
    inside = within(source, found, loop)
    if len(inside) != result.acts or any(use.how is How.CAPTURED for use in found):
        return
    starts = [use for use in bindings(found) if use not in inside]
    kinds = {kind_of_value(bound_value(source, use)) for use in starts}
    declared = parameter(scope, result.name)
    if result.is_sum and (kinds != {"number"} or declared is not None):
        return
    if not result.is_sum and not starts and declared is None:
        return
    if leaves_unread(source, scope, loop, nest.targets):
        rewrite = Rewrite(source)
        rewrite.statement(loop, f"{result.name} = {result.expression}")
        why = f"'{result.name}' is brought up to date once a turn; a built-in takes all elements at once"
        yield Replacement(nest.statement, rewrite.code(), why)


def _sum(source: PythonSource, nest: Nest) -> _ReducedLoop | None:
    """Reads ``total += e`` and ``total = total + e``."""
    match only_part(nest.statement):
        case cst.AugAssign(target=cst.Name(value=name), operator=cst.AddAssign(), value=term):
            acts = 1
        case cst.Assign(
            targets=[cst.AssignTarget(target=cst.Name(value=name))],
            value=cst.BinaryOperation(left=cst.Name(value=left), operator=cst.Add(), right=term, lpar=[]),
        ) if left == name:
            acts = 2
        case _:
            return None
    body = " ".join([operand(source, term), *nest.clauses])
    return _ReducedLoop(name, f"sum([{body}], {name})", acts, True)


def _extreme(source: PythonSource, nest: Nest) -> _ReducedLoop | None:
    """Reads ``if e > best: best = e``, and the same with sides swapped or with ``<``."""
    assigned = _assigned(nest)
    if assigned is None or not nest.tests or nest.clauses[-1] != f"if {operand(source, nest.tests[-1])}":
        return None
    name, value = assigned
    match nest.tests[-1]:
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=operator, comparator=right)]):
            function = _EXTREMES.get(type(operator).__name__)
        case _:
            return None
    sides = [source.code(left), source.code(right)]
    if function is None or sorted(sides) != sorted([name, source.code(value)]) or sides[0] == sides[1]:
        return None
    if sides[0] == name:
        function = _MIRRORED[function]
    body = " ".join([operand(source, value), *nest.clauses[:-1]])
    return _ReducedLoop(name, f"{function}([{name}, *[{body}]])", 2, False)


def _larger(source: PythonSource, nest: Nest) -> _ReducedLoop | None:
    """Reads ``best = max(best, e)``."""
    assigned = _assigned(nest)
    if assigned is None:
        return None
    name, value = assigned
    match value:
        case cst.Call(
            func=cst.Name(value="max" | "min" as function),
            args=[
                cst.Arg(value=cst.Name(value=first), keyword=None, star=""),
                cst.Arg(value=other, keyword=None, star=""),
            ],
        ) if first == name:
            body = " ".join([operand(source, other), *nest.clauses])
            return _ReducedLoop(name, f"{function}([{name}, *[{body}]])", 2, False)
    return None


def _assigned(nest: Nest) -> tuple[str, cst.BaseExpression] | None:
    match only_part(nest.statement):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
            return name, value
    return None


def _searched(source: PythonSource, scope: Scope, loop: cst.For) -> Iterator[Replacement]:
    """Replaces ``for x in xs: if test: return True`` before ``return False``, and what ``all`` says likewise."""
    block = statements(loop.body)
    siblings = source.block(loop)
    place = siblings.index(loop) + 1 if loop in siblings else len(siblings)
    if len(block) != 1 or place >= len(siblings) or loop.orelse is not None or loop.asynchronous is not None:
        return
    match block[0]:
        case cst.If(test=test, orelse=None, body=body) if len(statements(body)) == 1:
            inside, after = _returned(statements(body)[0]), _returned(siblings[place])
        case _:
            return
    if {inside, after} != {"True", "False"} or any(isinstance(n, cst.Await | cst.NamedExpr) for n in source.walk(loop)):
        return
    targets = {node.value for node in source.walk(loop.target) if isinstance(node, cst.Name)}
    if not leaves_unread(source, scope, loop, targets):
        return
    rewrite = Rewrite(source)
    rewrite.statement(siblings[place], f"return {_answer(source, scope, loop, test, inside == 'True')}", gone=loop)
    why = "each element is tested by a turn of a loop; a built-in that stops at the same element does it"
    yield Replacement(test, rewrite.code(), why)


def _answer(source: PythonSource, scope: Scope, loop: cst.For, test: cst.BaseExpression, found: bool) -> str:
    target, items = source.code(loop.target), operand(source, loop.iter)
    match test:
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=cst.Equal(), comparator=right)]):
            wanted = {source.code(left): right, source.code(right): left}.get(target)
            if wanted is not None and target not in source.names(wanted) and not _is_text(source, scope, loop.iter):
                return f"{operand(source, wanted)} {'in' if found else 'not in'} {items}"
    answer = f"any({operand(source, test)} for {target} in {items})"
    return answer if found else f"not {answer}"


def _is_text(source: PythonSource, scope: Scope, items: cst.BaseExpression) -> bool:
    """Whether ``in`` would ask for more than an element: for a part of a text, or all of an array at once."""
    if not isinstance(items, cst.Name):
        return kind_of_value(items) in ("str", "bytes")
    return kind_of(source, scope, items.value, uses(source, scope, items.value)) in ("str", "bytes", "array")


def _returned(statement: cst.CSTNode) -> str:
    match only_part(statement):
        case cst.Return(value=cst.Name(value=name)):
            return name
    return ""
