"""`sum(xs)`, `max(xs)` and `min(xs)` of a list that grows in the same loop."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.python.edit import PythonEdit, Replacement
from whet.agents.catalogue.python.kinds import bound_value
from whet.agents.catalogue.python.rewrite import Rewrite
from whet.agents.catalogue.python.source import PythonSource, Scope
from whet.agents.catalogue.python.uses import How, Use, bindings, names_in, only_argument, parameter, uses, within

_STARTS = {"sum": "0", "max": "None", "min": "None"}


class GrowingTotals(PythonEdit):
    """Keeps the total, or the extreme, up to date while the list grows."""

    name = "total-of-growing-list"
    label = Label.ALGORITHM
    summary = "keeps the sum, maximum or minimum of a growing list up to date instead of going through it again"
    needs = "`sum(xs)`, `max(xs)` or `min(xs)` in the loop in which the list xs grows, by append alone"
    unsafe = "floats may be rounded otherwise; the extreme of an empty list is None instead of an error"
    assumes: tuple[str, ...] = ("no-nan",)

    def changes(self, source: PythonSource) -> Iterator[Replacement]:
        """Yields one change a function of a list."""
        for scope in source.scopes:
            for name in names_in(source, scope):
                found = uses(source, scope, name)
                for function in _STARTS:
                    asked = [use for use in found if _is_call_of(use, function)]
                    if asked and _only_grows(source, scope, name, found):
                        yield from _kept(source, name, function, asked, found)


def _kept(source: PythonSource, name: str, function: str, asked: list[Use], found: list[Use]) -> Iterator[Replacement]:
    binds = bindings(found)
    appends = [use for use in found if use.calls("append")]
    repeated = [
        use
        for use in asked
        if any(
            within(source, appends, loop) and not within(source, binds, loop) for loop in source.repetitions(use.node)
        )
    ]
    if not repeated:
        return
    kept = source.fresh(f"{name}_{function}")
    rewrite = Rewrite(source)
    for bind in binds:
        rewrite.after(source.statement_of(bind.node), f"{kept} = {_STARTS[function]}")
    new = f"{name}[-1]"
    longer = f"{new} if len({name}) == 1 else {function}({kept}, {new})"
    for append in appends:
        updated = f"{kept} += {new}" if function == "sum" else f"{kept} = {longer}"
        rewrite.after(source.statement_of(append.node), updated)
    for use in asked:
        rewrite.expression(use.site, kept)
    why = f"'{function}({name})' goes through the whole list in each turn; what is added can be added to the result"
    yield Replacement(repeated[0].site, rewrite.code(), why)


def _is_call_of(use: Use, function: str) -> bool:
    if use.how is not How.ARGUMENT or not isinstance(use.site, cst.Call) or only_argument(use.site) is not use.node:
        return False
    return isinstance(use.site.func, cst.Name) and use.site.func.value == function


def _only_grows(source: PythonSource, scope: Scope, name: str, found: list[Use]) -> bool:
    """Whether a list of the function begins empty and is changed by append alone."""
    changing = [use for use in found if use.how is How.BIND or use.calls("append")]
    if parameter(scope, name) is not None or not all(source.has_line(use.node) for use in changing):
        return False
    values = [bound_value(source, use) for use in bindings(found)]
    if not values or not all(isinstance(value, cst.List) and not value.elements for value in values):
        return False
    return all(use in changing or use.reads for use in found)
