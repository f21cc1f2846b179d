"""Elements counted that are smaller or larger than a value, by going through all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.python.edit import PythonEdit, Replacement
from whet.agents.catalogue.python.hoisting import hoist
from whet.agents.catalogue.python.operands import operands
from whet.agents.catalogue.python.rewrite import Rewrite
from whet.agents.catalogue.python.source import PythonSource, Scope
from whet.agents.catalogue.python.uses import free_names, leaves_unread, only_argument

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_SEARCHES = {"<": "bisect_left", "<=": "bisect_right", ">": "bisect_right", ">=": "bisect_left"}


class CountedByBisect(PythonEdit):
    """Sorts once, and finds how many elements lie below (above, between) by bisection."""

    name = "count-by-bisect"
    label = Label.ALGORITHM
    summary = "sorts the elements once, and counts those below or above a value by bisection"
    needs = "`sum(1 for x in xs if x < v)`, `len([...])` or a loop that counts so, repeated while xs does not change"
    unsafe = "elements that do not compare with each other; NaN"
    assumes: tuple[str, ...] = ("ordered", "real", "no-nan")

    def changes(self, source: PythonSource) -> Iterator[Replacement]:
        """Yields one change a count."""
        for scope in source.scopes:
            for node in source.walk(scope, nested=False):
                count = _count(source, scope, node)
                if count is not None:
                    yield from _bisected(source, scope, count)


class _Count(NamedTuple):
    """How many elements of a list fulfil conditions: the node that says so, and what it adds them to, if any."""

    node: cst.Call | cst.For
    items: cst.Name
    variable: str
    tests: list[cst.BaseExpression]
    total: str = ""


def _count(source: PythonSource, scope: Scope, node: cst.CSTNode) -> _Count | None:
    match node:
        case cst.Call(func=cst.Name(value="sum" | "len" as function)):
            return _counting_call(source, node, only_argument(node), function)
        case cst.For(
            target=cst.Name(value=variable),
            iter=cst.Name() as items,
            orelse=None,
            body=cst.IndentedBlock(
                body=[
                    cst.If(
                        test=test,
                        orelse=None,
                        body=cst.IndentedBlock(
                            body=[
                                cst.SimpleStatementLine(
                                    body=[
                                        cst.AugAssign(
                                            target=cst.Name(value=total),
                                            operator=cst.AddAssign(),
                                            value=cst.Integer(value="1"),
                                        )
                                    ]
                                )
                            ]
                        ),
                    )
                ]
            ),
        ) if leaves_unread(source, scope, node, {variable}):
            tests = operands(test, cst.And)
            if not any(total in free_names(source, each) for each in tests):
                return _Count(node, items, variable, tests, total)
    return None


def _counting_call(
    source: PythonSource, call: cst.Call, argument: cst.BaseExpression | None, function: str
) -> _Count | None:
    match argument:
        case cst.ListComp() | cst.GeneratorExp() if isinstance(argument, cst.ListComp) or function == "sum":
            clause = argument.for_in
        case _:
            return None
    if not isinstance(clause.target, cst.Name) or not isinstance(clause.iter, cst.Name) or clause.inner_for_in:
        return None
    tests = [each for condition in clause.ifs for each in operands(condition.test, cst.And)]
    if function == "sum" and isinstance(argument.elt, cst.Comparison):
        tests.append(argument.elt)
    elif function == "sum" and source.code(argument.elt) != "1":
        return None
    return _Count(call, clause.iter, clause.target.value, tests)


def _bisected(source: PythonSource, scope: Scope, count: _Count) -> Iterator[Replacement]:
    below: list[str] = []
    above: list[str] = []
    ordered = source.fresh(f"{count.items.value}_sorted")
    for test in count.tests:
        bounds = _bounds(source, test, count.variable)
        if not bounds:
            return
        for operator, value in bounds:
            found = f"{_SEARCHES[operator]}({ordered}, {value})"
            (below if operator in ("<", "<=") else above).append(found)
    if len(below) > 1 or len(above) > 1 or not (below or above):
        return
    end = below[0] if below else f"len({ordered})"
    text = f"max(0, {end} - {above[0]})" if below and above else f"({end} - {above[0]})" if above else end
    rewrite = Rewrite(source)
    place = count.node.iter if isinstance(count.node, cst.For) else count.node
    name = count.items.value
    if not hoist(rewrite, scope, {place: text}, {name}, f"{ordered} = sorted({name})"):
        return
    if count.total:
        rewrite.statement(count.node, f"{count.total} += {text}")
    if rewrite.import_name("bisect", *(each for each in ("bisect_left", "bisect_right") if each in text)):
        why = f"all of '{name}' is gone through to count; sorted once, it is bisected"
        yield Replacement(count.node, rewrite.code(), why)


def _bounds(source: PythonSource, test: cst.BaseExpression, variable: str) -> list[tuple[str, str]]:
    """Returns the bounds that a comparison sets to a variable, as operator and value; none where it does more."""
    if not isinstance(test, cst.Comparison) or len(test.comparisons) > 2:
        return []
    sides = [test.left, *(each.comparator for each in test.comparisons)]
    operators = [source.code(each.operator).strip() for each in test.comparisons]
    if not all(operator in _MIRRORED for operator in operators):
        return []
    places = [at for at, side in enumerate(sides) if isinstance(side, cst.Name) and side.value == variable]
    if len(places) != 1 or any(variable in free_names(source, side) for side in sides if side is not sides[places[0]]):
        return []
    at = places[0]
    if len(sides) == 3 and at != 1:
        return []
    bounds = [(operators[at], source.code(sides[at + 1]))] if at < len(operators) else []
    if at > 0:
        bounds.append((_MIRRORED[operators[at - 1]], source.code(sides[at - 1])))
    return bounds
