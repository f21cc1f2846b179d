"""Faults in how Python code keeps state: what a second call, or the state after the first one, shows.

A write that is dropped and ``+=`` in another's place are among the usual operators.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
import libcst.matchers as m

StateMutation = tuple[cst.CSTNode, cst.CSTNode]
"""A node and what takes its place."""
REBOUND = {"append": "[{}]", "add": "{{{}}}", "extend": "list({})", "update": "dict({})"}
"""What a container is rebound to in place of a call of its method."""
WRITES = (cst.Assign, cst.AnnAssign, cst.AugAssign)


def faults(scope: cst.CSTNode) -> Iterator[StateMutation]:
    """Yields faults of state in a function, or in a whole file."""
    for function in m.findall(scope, m.FunctionDef()):
        assert isinstance(function, cst.FunctionDef)
        yield from _swapped_attributes(function)
        yield from _early_returns(function)
    for call in m.findall(scope, m.Expr(m.Call(m.Attribute(), [m.AtLeastN(n=1)]))):
        assert isinstance(call, cst.Expr)
        yield from _rebound(call)


def _swapped_attributes(function: cst.FunctionDef) -> Iterator[StateMutation]:
    """``self.low = x`` to ``self.high = x``, where the function writes both."""
    targets = [target for write in _writes(function) for target in _targets(write)]
    names = dict.fromkeys(target.attr.value for target in targets)
    for target in targets:
        yield from ((target, target.with_changes(attr=cst.Name(name))) for name in names if name != target.attr.value)


def _early_returns(function: cst.FunctionDef) -> Iterator[StateMutation]:
    """A write to an attribute or an item, and all behind it, to the return at the end of the function."""
    last = function.body.body[-1]
    returned: cst.BaseSmallStatement = cst.Return()
    if isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], cst.Return):
        returned = last.body[-1]
    for write in _writes(function):
        if any(isinstance(target, (cst.Attribute, cst.Subscript)) for target in _all_targets(write)):
            yield write, returned.deep_clone()


def _rebound(call: cst.Expr) -> Iterator[StateMutation]:
    """``x.append(y)`` to ``x = [y]``."""
    value = cst.ensure_type(call.value, cst.Call)
    method = cst.ensure_type(value.func, cst.Attribute)
    form = REBOUND.get(method.attr.value)
    argument = value.args[0]
    if form is None or len(value.args) != 1 or argument.keyword or argument.star:
        return
    if isinstance(method.value, (cst.Name, cst.Attribute, cst.Subscript)):
        made = cst.parse_expression(form.format(cst.Module([]).code_for_node(argument.value)))
        yield call, cst.Assign([cst.AssignTarget(method.value)], made)


def _writes(function: cst.FunctionDef) -> Iterator[cst.CSTNode]:
    yield from (node for kind in WRITES for node in m.findall(function, getattr(m, kind.__name__)()))


def _all_targets(write: cst.CSTNode) -> list[cst.CSTNode]:
    if isinstance(write, cst.Assign):
        found = [target.target for target in write.targets]
        return [
            part for one in found for part in ([e.value for e in one.elements] if isinstance(one, cst.Tuple) else [one])
        ]
    return [write.target] if isinstance(write, (cst.AnnAssign, cst.AugAssign)) else []


def _targets(write: cst.CSTNode) -> Iterator[cst.Attribute]:
    """Yields the attributes of plain names that a statement writes."""
    for target in _all_targets(write):
        if isinstance(target, cst.Attribute) and isinstance(target.value, cst.Name):
            yield target
