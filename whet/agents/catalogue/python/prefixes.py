"""`sum(xs[:i])`, `sum(xs[i:j])` and the extremes of `xs[:i]` in a loop: the same elements gone through each time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.python.edit import PythonEdit, Replacement
from whet.agents.catalogue.python.hoisting import hoist
from whet.agents.catalogue.python.kinds import kind_of
from whet.agents.catalogue.python.rewrite import Rewrite
from whet.agents.catalogue.python.source import PythonSource, Scope
from whet.agents.catalogue.python.uses import bindings, only_argument, uses

_RESULTS = {"sum": "sums", "max": "maxima", "min": "minima"}


class PrefixTotals(PythonEdit):
    """Adds up, or compares, once from the front, and reads each slice's result off."""

    name = "prefix-sums"
    label = Label.ALGORITHM
    summary = "computes the sums (maxima, minima) of all prefixes once with accumulate, and reads each slice's off"
    needs = "`sum(xs[:i])`, `sum(xs[i:j])`, `max(xs[:i])` or `min(xs[:i])` in a loop that does not change the list xs"
    unsafe = "floats are rounded otherwise; negative bounds; a slice whose end stands before its start"
    assumes: tuple[str, ...] = ("non-negative", "in-range", "no-nan")

    def changes(self, source: PythonSource) -> Iterator[Replacement]:
        """Yields one change a function of a list."""
        for scope in source.scopes:
            same: dict[tuple[str, str], list[_Total]] = {}
            for node in source.walk(scope, nested=False):
                total = _total(source, node)
                if total is not None:
                    same.setdefault((total.function, total.name), []).append(total)
            for (function, name), totals in same.items():
                if kind_of(source, scope, name, uses(source, scope, name)) in ("list", "array", None):
                    yield from _read_off(source, scope, function, name, totals)


class _Total(NamedTuple):
    """A call such as ``sum(name[start:end])``; an end that is left out is None."""

    call: cst.Call
    function: str
    name: str
    start: cst.BaseExpression | None
    end: cst.BaseExpression | None


def _total(source: PythonSource, node: cst.CSTNode) -> _Total | None:
    part = only_argument(node)
    match node, part:
        case (
            cst.Call(func=cst.Name(value=function)) as call,
            cst.Subscript(
                value=cst.Name(value=name),
                slice=[cst.SubscriptElement(slice=cst.Slice(lower=start, upper=end, step=None))],
            ),
        ) if function in _RESULTS:
            if function != "sum" and (end is None or not (start is None or source.code(start) == "0")):
                return None
            return _Total(call, function, name, start, end)
    return None


def _read_off(
    source: PythonSource, scope: Scope, function: str, name: str, totals: list[_Total]
) -> Iterator[Replacement]:
    results = source.fresh(f"{name}_{_RESULTS[function]}")
    replacements: dict[cst.CSTNode, str] = {}
    for total in totals:
        bounds = [bound for bound in (total.start, total.end) if bound is not None]
        if bounds and not any(_may_be_negative(source, scope, bound) for bound in bounds):
            replacements[total.call] = _text(source, scope, total, results)
    rewrite = Rewrite(source)
    made = f"[0, *accumulate({name})]" if function == "sum" else f"[*accumulate({name}, {function})]"
    moved = hoist(rewrite, scope, replacements, {name}, f"{results} = {made}")
    if moved and rewrite.import_name("itertools", "accumulate"):
        why = f"'{function}' goes through a slice of '{name}' each time; one pass gives the results of all prefixes"
        yield Replacement(moved[0], rewrite.code(), why)


def _text(source: PythonSource, scope: Scope, total: _Total, results: str) -> str:
    if total.function != "sum":
        assert total.end is not None
        return f"{results}[{_last(source, scope, total, total.end)}]"
    whole = f"{results}[-1]" if total.end is None else f"{results}[{_within(source, scope, total, total.end)}]"
    if total.start is None or source.code(total.start) == "0":
        return whole
    return f"({whole} - {results}[{_within(source, scope, total, total.start)}])"


def _within(source: PythonSource, scope: Scope, total: _Total, bound: cst.BaseExpression) -> str:
    """Returns a bound as an index of the sums: slices forgive ends beyond the list, indices do not."""
    text = source.code(bound)
    inside = bound.left if _adds_one(source, bound) and isinstance(bound, cst.BinaryOperation) else bound
    if text == f"len({total.name})" or _counts(source, scope, inside, total.name):
        return text
    return f"min({text}, len({total.name}))"


def _last(source: PythonSource, scope: Scope, total: _Total, end: cst.BaseExpression) -> str:
    """Returns the index of the last element before an end."""
    is_next = isinstance(end, cst.BinaryOperation) and _adds_one(source, end)
    text = source.code(end.left) if isinstance(end, cst.BinaryOperation) and is_next else f"{source.code(end)} - 1"
    counted = end.left if isinstance(end, cst.BinaryOperation) and is_next else end
    return text if _counts(source, scope, counted, total.name) else f"min({text}, len({total.name}) - 1)"


def _adds_one(source: PythonSource, bound: cst.BaseExpression) -> bool:
    return (
        isinstance(bound, cst.BinaryOperation)
        and isinstance(bound.operator, cst.Add)
        and source.code(bound.right) == "1"
    )


def _counts(source: PythonSource, scope: Scope, bound: cst.BaseExpression, name: str) -> bool:
    """Whether an expression is the variable of loops that count the elements of a list."""
    return bool(_origins(source, scope, bound)) and all(
        iterable == f"enumerate({name})" or (iterable.startswith("range(") and iterable.endswith(f"len({name}))"))
        for iterable in _origins(source, scope, bound)
    )


def _origins(source: PythonSource, scope: Scope, bound: cst.BaseExpression) -> list[str]:
    """Returns what a variable's loops go through; nothing where it is bound by other means too."""
    if not isinstance(bound, cst.Name):
        return []
    found: list[str] = []
    for use in bindings(uses(source, scope, bound.value)):
        around = source.ancestors(use.node)
        loop = next((above for above in around if isinstance(above, cst.For | cst.CompFor)), None)
        if loop is None or use.node not in source.walk(loop.target):
            return []
        found.append(source.code(loop.iter))
    return found


def _may_be_negative(source: PythonSource, scope: Scope, bound: cst.BaseExpression) -> bool:
    """Whether something is subtracted from a bound and no ``max(0, ...)`` guards it.

    A variable less than the start of its ``range`` is known not to be negative.
    """
    text = source.code(bound)
    if text.startswith(("max(0,", "len(")) or text.endswith(", 0)"):
        return False
    match bound:
        case cst.BinaryOperation(left=cst.Name() as variable, operator=cst.Subtract(), right=cst.Integer(value=less)):
            starts = [iterable.removeprefix("range(").split(",")[0] for iterable in _origins(source, scope, variable)]
            return not starts or not all(start.isdecimal() and int(start) >= int(less) for start in starts)
    return any(isinstance(node, cst.Subtract | cst.Minus | cst.BitInvert) for node in source.walk(bound))
