"""`xs = xs + [x]`: the whole list copied for each element that is added."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.python.edit import PythonEdit, Replacement
from whet.agents.catalogue.python.kinds import bound_value, kind_of_value
from whet.agents.catalogue.python.operands import summands
from whet.agents.catalogue.python.rewrite import Rewrite
from whet.agents.catalogue.python.source import PythonSource, Scope, last_name
from whet.agents.catalogue.python.uses import How, bindings, parameter, uses, within


class GrownInPlace(PythonEdit):
    """Appends to a list instead of making a longer one."""

    name = "append-in-place"
    label = Label.ALGORITHM
    summary = "appends to the list instead of copying it into a longer one"
    needs = "`xs = xs + [x]` in a loop, where nothing else keeps the list; or the same for an attribute or an item"
    unsafe = "another name for the list, which now grows too"
    assumes: tuple[str, ...] = ("no-alias",)

    def changes(self, source: PythonSource) -> Iterator[Replacement]:
        """Yields one change a list, for all its places."""
        for scope in source.scopes:
            places: dict[str, list[cst.Assign]] = {}
            for node in source.walk(scope, nested=False):
                if isinstance(node, cst.Assign) and _grown(source, scope, node):
                    places.setdefault(source.code(node.targets[0].target), []).append(node)
            for target, assigned in places.items():
                rewrite = Rewrite(source)
                for each in assigned:
                    rewrite.statement(source.statement_of(each), _in_place(source, target, each))
                why = f"'{target}' is copied whole for each element that is added"
                yield Replacement(assigned[0], rewrite.code(), why)


def _in_place(source: PythonSource, target: str, assigned: cst.Assign) -> str:
    first, *others = summands(assigned.value)
    if source.code(first) != target:
        assert isinstance(first, cst.List)
        return f"{target}.insert(0, {source.code(first.elements[0].value)})"
    if len(others) == 1 and _has_one_element(others[0]):
        assert isinstance(others[0], cst.List)
        return f"{target}.append({source.code(others[0].elements[0].value)})"
    return f"{target} += {' + '.join(source.code(each) for each in others)}"


def _grown(source: PythonSource, scope: Scope, assigned: cst.Assign) -> bool:
    """Whether a statement is ``xs = xs + [x]`` or ``xs = [x] + xs``, and may grow the list itself."""
    if len(assigned.targets) != 1 or not source.has_line(assigned):
        return False
    target = assigned.targets[0].target
    terms = summands(assigned.value)
    texts = [source.code(term) for term in terms]
    text = source.code(target)
    if texts.count(text) != 1 or len(terms) < 2:
        return False
    if texts[0] != text and not (len(terms) == 2 and texts[1] == text and _has_one_element(terms[0])):
        return False
    if isinstance(target, cst.Name):
        return _is_own(source, scope, target.value, assigned)
    added = terms[1] if texts[0] == text else terms[0]
    is_repeated = bool(source.repetitions(assigned)) or isinstance(target, cst.Attribute)
    return is_repeated and kind_of_value(added) == "list" and not isinstance(added, cst.Tuple)


def _is_own(source: PythonSource, scope: Scope, name: str, assigned: cst.Assign) -> bool:
    """Whether a variable is a list of the function that nothing else refers to while it grows."""
    found = uses(source, scope, name)
    starts: list[cst.Name] = []
    for use in bindings(found):
        value = bound_value(source, use)
        if value is not None and name in [source.code(term) for term in summands(value)]:
            continue
        if kind_of_value(value) != "list" or isinstance(value, cst.Tuple) or _is_tuple_call(value):
            return False
        starts.append(use.node)
    if not starts or parameter(scope, name) is not None or any(use.how is How.CAPTURED for use in found):
        return False
    loops = [
        loop for loop in source.repetitions(assigned) if not any(loop in source.ancestors(start) for start in starts)
    ]
    return bool(loops) and all(use.how is How.BIND or use.reads for use in within(source, found, loops[-1]))


def _is_tuple_call(value: cst.BaseExpression | None) -> bool:
    return isinstance(value, cst.Call) and last_name(value.func) == "tuple"


def _has_one_element(value: cst.BaseExpression) -> bool:
    return isinstance(value, cst.List) and len(value.elements) == 1 and isinstance(value.elements[0], cst.Element)
