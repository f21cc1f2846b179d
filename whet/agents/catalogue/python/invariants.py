"""Costly calls whose value does not change in a loop, made once before it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.python.edit import PythonEdit, Replacement
from whet.agents.catalogue.python.hoisting import hoist
from whet.agents.catalogue.python.kinds import kind_of
from whet.agents.catalogue.python.rewrite import Rewrite
from whet.agents.catalogue.python.source import PythonSource
from whet.agents.catalogue.python.uses import PURE_FUNCTIONS, only_argument, uses

_GIVES_A_VALUE = frozenset({"max", "min", "sum"})
_GIVES_A_COPY = frozenset({"sorted", "set", "frozenset", "list", "tuple"})


class InvariantCalls(PythonEdit):
    """Computes ``max(xs)``, ``sum(xs)``, ``sorted(xs)``, ``set(xs)`` and the like once before the loop."""

    name = "hoist-invariant-call"
    label = Label.ALGORITHM
    summary = "computes max, min, sum, sorted, set and the like of an unchanged variable once before the loop"
    needs = "a call of such a built-in on a variable that the loop does not change"
    unsafe = "a loop that never ran now evaluates the call; an iterator gives its items once only"
    assumes: tuple[str, ...] = ("reiterable",)

    def changes(self, source: PythonSource) -> Iterator[Replacement]:
        """Yields one change a distinct call of a function."""
        for scope in source.scopes:
            calls: dict[tuple[str, str], list[cst.CSTNode]] = {}
            for node in source.walk(scope, nested=False):
                argument = only_argument(node)
                if isinstance(node, cst.Call) and isinstance(argument, cst.Name) and _is_wanted(source, node):
                    calls.setdefault((source.code(node.func), argument.value), []).append(node)
            for (function, name), same in calls.items():
                if kind_of(source, scope, name, uses(source, scope, name)) == "iterator":
                    continue
                # an empty sequence must not raise where the loop would never have asked
                extra = ", default=None" if function in ("max", "min") else ""
                local = source.fresh(f"{function}_{name}")
                rewrite = Rewrite(source)
                statement = f"{local} = {function}({name}{extra})"
                if hoist(rewrite, scope, dict.fromkeys(same, local), {name}, statement):
                    why = f"'{function}({name})' gives the same in every turn of the loop; once is enough"
                    yield Replacement(same[0], rewrite.code(), why)


def _is_wanted(source: PythonSource, call: cst.Call) -> bool:
    if not isinstance(call.func, cst.Name):
        return False
    if call.func.value in _GIVES_A_VALUE:
        return True
    return call.func.value in _GIVES_A_COPY and _is_read_at_once(source, call)


def _is_read_at_once(source: PythonSource, call: cst.Call) -> bool:
    """Whether nobody can keep or change the new object: it is indexed, iterated, asked or read."""
    above = source.parent(call)
    match above:
        case cst.Subscript():
            is_stored = isinstance(source.parent(above), cst.AssignTarget | cst.AugAssign | cst.Del)
            return above.value is call and not is_stored
        case cst.For() | cst.CompFor():
            return above.iter is call
        case cst.ComparisonTarget():
            return True
        case cst.Arg():
            outer = source.parent(above)
            function = outer.func if isinstance(outer, cst.Call) else None
            return isinstance(function, cst.Name) and function.value in PURE_FUNCTIONS
        case _:
            return False
