"""Helpers that add up from the start to an index, asked for one index after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.python.edit import PythonEdit, Replacement
from whet.agents.catalogue.python.hoisting import is_stable
from whet.agents.catalogue.python.kinds import kind_of_value
from whet.agents.catalogue.python.loops import only_part, statements
from whet.agents.catalogue.python.purity import helper_calls, pure_helpers
from whet.agents.catalogue.python.rewrite import Rewrite
from whet.agents.catalogue.python.source import PythonSource, Scope
from whet.agents.catalogue.python.uses import free_names


class RunningTotals(PythonEdit):
    """Keeps the totals that a helper adds up anew for each index, and adds the missing terms only.

    The terms are added in the helper's order, so that no float differs in its last bit.
    """

    name = "running-totals"
    label = Label.ALGORITHM
    summary = "keeps the totals of a helper that adds up from the start to an index, and goes on from the last one"
    needs = "`total = 0; for i in range(n): total += ...; return total` in a helper without effects, called in a loop"
    unsafe = "data that the loop changes through another name"
    assumes: tuple[str, ...] = ("no-alias",)

    def changes(self, source: PythonSource) -> Iterator[Replacement]:
        """Yields one change a helper and caller."""
        for scope in source.scopes:
            pure = pure_helpers(source, scope)
            for function, calls in helper_calls(source, scope, pure):
                total = _read(source, function)
                if total is not None:
                    yield from _kept(source, scope, calls, total, pure)


class _Total(NamedTuple):
    """The helper, the position of the index among its parameters, its loop's variable, the first value and the term."""

    function: cst.FunctionDef
    position: int
    variable: str
    start: str
    term: str


def _kept(
    source: PythonSource, scope: Scope, calls: list[cst.Call], total: _Total, pure: frozenset[str]
) -> Iterator[Replacement]:
    function = total.function
    loop = source.repetitions(calls[0])[-1]
    params = [each.name.value for each in function.params.params]
    others = [position for position in range(len(params)) if position != total.position]
    first = [source.code(arg.value) for arg in calls[0].args]
    inside = [
        call
        for call in calls
        if source.repetitions(call)[-1] is loop and all(source.code(call.args[k].value) == first[k] for k in others)
    ]
    fixed = set().union(*(free_names(source, calls[0].args[k].value) for k in others))
    if not all(is_stable(source, scope, name, loop, pure) for name in fixed):
        return
    name, totals = source.fresh(f"{function.name.value}_kept"), source.fresh("totals")
    index = params[total.position]
    signature = ", ".join([index, *(f"{params[k]}={first[k]}" for k in others)])
    rewrite = Rewrite(source)
    point = source.statement_of(loop)
    rewrite.before(point, f"{totals} = [{total.start}]")
    rewrite.before(
        point,
        f"def {name}({signature}):\n"
        f"    for {total.variable} in range(len({totals}) - 1, {index}):\n"
        f"        {totals}.append({totals}[-1] + {total.term})\n"
        f"    return {totals}[max({index}, 0)]",
    )
    for call in inside:
        rewrite.expression(call, f"{name}({source.code(call.args[total.position].value)})")
    why = f"'{function.name.value}' adds up from the start for each index; each total goes on from the one before"
    yield Replacement(inside[0], rewrite.code(), why)


def _read(source: PythonSource, function: cst.FunctionDef) -> _Total | None:
    """Reads a helper that adds terms up, from a number and over ``range`` of one of its parameters."""
    block = statements(function.body)
    if function.get_docstring() is not None:
        block = block[1:]
    if len(block) != 3 or not isinstance(block[1], cst.For) or block[1].orelse is not None:
        return None
    loop = block[1]
    added = statements(loop.body)
    match only_part(block[0]), loop, only_part(added[0]), only_part(block[2]):
        case (
            cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=start),
            cst.For(
                target=cst.Name(value=variable),
                iter=cst.Call(func=cst.Name(value="range"), args=[cst.Arg(value=cst.Name(value=index), star="")]),
            ),
            cst.AugAssign(target=cst.Name(value=augmented), operator=cst.AddAssign(), value=term),
            cst.Return(value=cst.Name(value=returned)),
        ) if len(added) == 1 and name == augmented == returned and kind_of_value(start) == "number":
            params = [each.name.value for each in function.params.params]
            inside = source.names(term)
            if index in params and index not in inside and name not in inside and variable not in params:
                return _Total(function, params.index(index), variable, source.code(start), f"({source.code(term)})")
    return None
