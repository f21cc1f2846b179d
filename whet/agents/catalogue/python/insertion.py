"""Lists that are sorted again after each element that is added."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.python.edit import PythonEdit, Replacement
from whet.agents.catalogue.python.kinds import bound_value
from whet.agents.catalogue.python.rewrite import Rewrite
from whet.agents.catalogue.python.source import PythonSource, Scope, last_name
from whet.agents.catalogue.python.uses import How, Use, bindings, names_in, only_argument, parameter, uses


class InsertedInOrder(PythonEdit):
    """Inserts each element at its place."""

    name = "insert-in-order"
    label = Label.ALGORITHM
    summary = "inserts an element at its place by bisection instead of sorting the whole list again"
    needs = "`xs.append(x)` followed by `xs.sort()` in a loop, on a list that begins empty or sorted"
    unsafe = "elements that change while they are in the list; NaN"
    assumes: tuple[str, ...] = ("no-nan",)

    def changes(self, source: PythonSource) -> Iterator[Replacement]:
        """Yields one change a list."""
        for scope in source.scopes:
            for name in names_in(source, scope):
                found = uses(source, scope, name)
                pairs = _pairs(source, found)
                if pairs and _stays_sorted(source, scope, name, found, pairs):
                    yield from _inserted(source, name, pairs)


def _inserted(source: PythonSource, name: str, pairs: list[tuple[Use, Use]]) -> Iterator[Replacement]:
    rewrite = Rewrite(source)
    if not rewrite.import_name("bisect", "insort"):
        return
    for append, sort in pairs:
        element = only_argument(append.site)
        assert element is not None
        assert isinstance(sort.site, cst.Call)
        options = "".join(f", {source.code(each)}" for each in sort.site.args)
        inserted = f"insort({name}, {source.code(element)}{options})"
        rewrite.statement(source.statement_of(sort.node), inserted, gone=source.statement_of(append.node))
    yield Replacement(pairs[0][1].site, rewrite.code(), f"'{name}' is sorted whole for each element that is added")


def _pairs(source: PythonSource, found: list[Use]) -> list[tuple[Use, Use]]:
    """Returns each append with the sort in the next line, where a loop repeats them."""
    pairs: list[tuple[Use, Use]] = []
    for sort in found:
        if not sort.calls("sort") or not source.has_line(sort.node) or not source.repetitions(sort.node):
            continue
        statement = source.statement_of(sort.node)
        siblings = source.block(statement)
        at = siblings.index(statement)
        for append in found:
            is_before = at > 0 and source.statement_of(append.node) is siblings[at - 1]
            if append.calls("append") and is_before and only_argument(append.site) is not None:
                pairs.append((append, sort))
    return pairs


def _stays_sorted(
    source: PythonSource, scope: Scope, name: str, found: list[Use], pairs: list[tuple[Use, Use]]
) -> bool:
    """Whether nothing but the appends brings a list of the function out of order, always by the same key."""
    if parameter(scope, name) is not None or len({source.code(sort.site) for _, sort in pairs}) != 1:
        return False
    call = pairs[0][1].site
    assert isinstance(call, cst.Call)
    if not all(each.keyword is not None and each.keyword.value == "key" for each in call.args):
        return False
    values = [bound_value(source, use) for use in bindings(found)]
    if not values or not all(_is_sorted(source, value, call) for value in values):
        return False
    paired = [use for pair in pairs for use in pair]
    harmless = (How.BIND, How.ARGUMENT, How.OTHER)
    return all(
        use in paired or use.how in harmless or use.reads or use.calls("pop", "remove", "clear") for use in found
    )


def _is_sorted(source: PythonSource, value: cst.BaseExpression | None, sort: cst.Call) -> bool:
    if isinstance(value, cst.List):
        return len(value.elements) < 2 and not any(isinstance(each, cst.StarredElement) for each in value.elements)
    if not isinstance(value, cst.Call) or last_name(value.func) != "sorted":
        return False
    return [source.code(each) for each in value.args[1:]] == [source.code(each) for each in sort.args]
