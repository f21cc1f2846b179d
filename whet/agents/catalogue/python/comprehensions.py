"""Loops that do nothing but fill a list, a set or a dictionary."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.python.edit import PythonEdit, Replacement
from whet.agents.catalogue.python.kinds import bound_value
from whet.agents.catalogue.python.loops import only_part, operand, read_nest, statements
from whet.agents.catalogue.python.rewrite import Rewrite
from whet.agents.catalogue.python.source import PythonSource, Scope
from whet.agents.catalogue.python.uses import How, bindings, leaves_unread, only_argument, uses, within

_EMPTY = {"[]": "[]", "list()": "[]", "set()": "{}", "{}": "{}", "dict()": "{}"}


class Comprehensions(PythonEdit):
    """Turns a loop that only fills a container into a comprehension."""

    name = "loop-to-comprehension"
    label = Label.ALGORITHM
    summary = "fills a list, set or dictionary by a comprehension instead of a call for each element"
    needs = "a loop, perhaps with conditions, whose only act is `xs.append(...)`, `s.add(...)` or `d[k] = v`"
    unsafe = "expressions that look at the half-filled container through another name"
    assumes: tuple[str, ...] = ("no-alias",)

    def changes(self, source: PythonSource) -> Iterator[Replacement]:
        """Yields one change a loop."""
        for scope in source.scopes:
            for node in source.walk(scope, nested=False):
                if isinstance(node, cst.For):
                    filled = _filled(source, node)
                    if filled is not None:
                        yield from _rewritten(source, scope, node, filled)


class _Filled(NamedTuple):
    """What a loop does: the container, the brackets and the element of a comprehension, and its clauses."""

    name: str
    kind: str
    element: str
    clauses: list[str]
    targets: set[str]
    acts: int
    at: cst.CSTNode


def _rewritten(source: PythonSource, scope: Scope, loop: cst.For, filled: _Filled) -> Iterator[Replacement]:
    found = uses(source, scope, filled.name)
    if len(within(source, found, loop)) != filled.acts or any(use.how is How.CAPTURED for use in found):
        return
    if not leaves_unread(source, scope, loop, filled.targets):
        return
    siblings = source.block(loop)
    start = None
    for statement in reversed(siblings[: siblings.index(loop)] if loop in siblings else []):
        if within(source, found, statement):
            start = statement
            break
    bound = [use for use in bindings(found) if source.statement_of(use.node) is start]
    value = bound_value(source, bound[0]) if bound and start is not None else None
    if value is None or start is None or not source.has_line(bound[0].node):
        return
    text = source.code(value)
    brackets = _EMPTY.get(text)
    if brackets is None or _kind(text) != filled.kind:
        return
    rewrite = Rewrite(source)
    body = " ".join([filled.element, *filled.clauses])
    rewrite.statement(loop, f"{filled.name} = {brackets[0]}{body}{brackets[1]}", gone=start)
    yield Replacement(
        filled.at, rewrite.code(), f"'{filled.name}' is filled one call at a time; a comprehension makes none"
    )


def _kind(empty: str) -> str:
    return {"[]": "list", "list()": "list", "set()": "set"}.get(empty, "dict")


def _filled(source: PythonSource, loop: cst.For) -> _Filled | None:
    nest = read_nest(source, loop)
    if nest is None:
        return None
    either = _either(source, nest.statement)
    act = either or _act(source, nest.statement)
    if act is None:
        return None
    name, kind, element = act
    if isinstance(loop.target, cst.Tuple | cst.Name) and name not in nest.targets:
        return _Filled(name, kind, element, nest.clauses, nest.targets, 2 if either else 1, nest.statement)
    return None


def _either(source: PythonSource, statement: cst.CSTNode) -> tuple[str, str, str] | None:
    """Reads ``if test: xs.append(a)`` / ``else: xs.append(b)``."""
    if not isinstance(statement, cst.If) or not isinstance(statement.orelse, cst.Else):
        return None
    yes, no = statements(statement.body), statements(statement.orelse.body)
    first, second = _act(source, yes[-1]), _act(source, no[-1])
    if len(yes) != 1 or len(no) != 1 or not first or not second:
        return None
    if first[:2] != second[:2] or first[1] == "dict":
        return None
    return first[0], first[1], f"({first[2]}) if ({source.code(statement.test)}) else ({second[2]})"


def _act(source: PythonSource, statement: cst.CSTNode) -> tuple[str, str, str] | None:
    """Reads ``xs.append(e)``, ``s.add(e)`` and ``d[k] = v``: the name, the kind, the comprehension's element."""
    match only_part(statement):
        case cst.Expr(
            value=cst.Call(func=cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value=method))) as call
        ) if method in ("append", "add"):
            element = only_argument(call)
            if element is None:
                return None
            return name, "list" if method == "append" else "set", operand(source, element)
        case cst.Assign(
            targets=[cst.AssignTarget(target=cst.Subscript(value=cst.Name(value=name), slice=parts))],
            value=value,
        ):
            indices = [part.slice.value for part in parts if isinstance(part.slice, cst.Index)]
            if len(indices) != len(parts):
                return None
            keys = [source.code(index) for index in indices]
            key = operand(source, indices[0]) if len(keys) == 1 else f"({', '.join(keys)})"
            return name, "dict", f"{key}: {operand(source, value)}"
    return None
