"""Loops that do nothing but fill a list, a set or a dictionary."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.python.edit import Change, PythonEdit
from whet.agents.catalogue.python.kinds import bound_value
from whet.agents.catalogue.python.rewrite import Rewrite
from whet.agents.catalogue.python.source import PythonSource, Scope
from whet.agents.catalogue.python.uses import How, Use, bindings, free_names, only_argument, uses, within

_EMPTY = {"[]": "[]", "list()": "[]", "set()": "{}", "{}": "{}", "dict()": "{}"}
_NEEDS_ITS_FRAME = frozenset({"super", "locals", "vars", "eval", "exec", "dir"})


class Comprehensions(PythonEdit):
    """Turns a loop that only fills a container into a comprehension."""

    name = "loop-to-comprehension"
    label = Label.ALGORITHM
    summary = "fills a list, set or dictionary by a comprehension instead of a call for each element"
    needs = "a loop, perhaps with conditions, whose only act is `xs.append(...)`, `s.add(...)` or `d[k] = v`"
    unsafe = "expressions that look at the half-filled container through another name"

    def changes(self, source: PythonSource) -> Iterator[Change]:
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


def _rewritten(source: PythonSource, scope: Scope, loop: cst.For, filled: _Filled) -> Iterator[Change]:
    found = uses(source, scope, filled.name)
    if len(within(source, found, loop)) != filled.acts or any(use.how is How.CAPTURED for use in found):
        return
    for target in filled.targets:
        if not all(_needs_no_rest(source, loop, use) for use in uses(source, scope, target)):
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
    yield Change(filled.at, rewrite.code(), f"'{filled.name}' is filled one call at a time; a comprehension makes none")


def _needs_no_rest(source: PythonSource, loop: cst.For, use: Use) -> bool:
    """Whether a use of a loop's variable cannot read the value that the loop leaves behind."""
    around = list(source.ancestors(use.node))
    if any(isinstance(above, cst.For) and use.node.value in free_names(source, above.target) for above in around):
        return True
    comes_again = any(isinstance(above, cst.For | cst.While) for above in source.ancestors(loop) if above in around)
    return use.how is not How.CAPTURED and source.line(use.node) < source.line(loop) and not comes_again


def _kind(empty: str) -> str:
    return {"[]": "list", "list()": "list", "set()": "set"}.get(empty, "dict")


def _filled(source: PythonSource, loop: cst.For) -> _Filled | None:
    clauses: list[str] = []
    targets: set[str] = set()
    statement: cst.CSTNode = loop
    while True:
        match statement:
            case cst.For(asynchronous=None, orelse=None):
                clauses.append(f"for {source.code(statement.target)} in {_operand(source, statement.iter)}")
                targets |= free_names(source, statement.target)
            case cst.If(orelse=None):
                clauses.append(f"if {_operand(source, statement.test)}")
            case _:
                break
        block = _statements(statement.body)
        if len(block) == 2 and (skipped := _skip_condition(block[0])) is not None:
            clauses.append(f"if not ({source.code(skipped)})")
        elif len(block) != 1:
            return None
        statement = block[-1]
    if any(_is_bound_to_frame(node) for node in source.walk(loop)):
        return None
    either = _either(source, statement)
    act = either or _act(source, statement)
    if act is None:
        return None
    name, kind, element = act
    if isinstance(loop.target, cst.Tuple | cst.Name) and name not in targets:
        return _Filled(name, kind, element, clauses, targets, 2 if either else 1, statement)
    return None


def _operand(source: PythonSource, expression: cst.BaseExpression) -> str:
    """Returns an expression's text, in brackets where a clause would read it otherwise."""
    text = source.code(expression)
    loose = isinstance(expression, cst.IfExp | cst.Lambda | cst.Tuple)
    return f"({text})" if loose and not expression.lpar else text


def _skip_condition(statement: cst.CSTNode) -> cst.BaseExpression | None:
    """Returns the test of ``if test: continue``."""
    if not isinstance(statement, cst.If) or statement.orelse is not None:
        return None
    lines = _statements(statement.body)
    return statement.test if len(lines) == 1 and isinstance(_only_part(lines[0]), cst.Continue) else None


def _either(source: PythonSource, statement: cst.CSTNode) -> tuple[str, str, str] | None:
    """Reads ``if test: xs.append(a)`` / ``else: xs.append(b)``."""
    if not isinstance(statement, cst.If) or not isinstance(statement.orelse, cst.Else):
        return None
    yes, no = _statements(statement.body), _statements(statement.orelse.body)
    first, second = _act(source, yes[-1]), _act(source, no[-1])
    if len(yes) != 1 or len(no) != 1 or not first or not second:
        return None
    if first[:2] != second[:2] or first[1] == "dict":
        return None
    return first[0], first[1], f"({first[2]}) if ({source.code(statement.test)}) else ({second[2]})"


def _act(source: PythonSource, statement: cst.CSTNode) -> tuple[str, str, str] | None:
    """Reads ``xs.append(e)``, ``s.add(e)`` and ``d[k] = v``: the name, the kind, the comprehension's element."""
    match _only_part(statement):
        case cst.Expr(
            value=cst.Call(func=cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value=method))) as call
        ) if method in ("append", "add"):
            element = only_argument(call)
            if element is None:
                return None
            return name, "list" if method == "append" else "set", _operand(source, element)
        case cst.Assign(
            targets=[cst.AssignTarget(target=cst.Subscript(value=cst.Name(value=name), slice=parts))],
            value=value,
        ):
            indices = [part.slice.value for part in parts if isinstance(part.slice, cst.Index)]
            if len(indices) != len(parts):
                return None
            keys = [source.code(index) for index in indices]
            key = _operand(source, indices[0]) if len(keys) == 1 else f"({', '.join(keys)})"
            return name, "dict", f"{key}: {_operand(source, value)}"
    return None


def _statements(body: cst.BaseSuite) -> list[cst.CSTNode]:
    """Returns the statements of a block; a block on the line of its header is one statement or refused."""
    return [body] if isinstance(body, cst.SimpleStatementSuite) else list(body.body)


def _only_part(statement: cst.CSTNode) -> cst.CSTNode | None:
    """Returns the small statement that a line consists of, if it is one alone."""
    parts = statement.body if isinstance(statement, cst.SimpleStatementLine | cst.SimpleStatementSuite) else ()
    return parts[0] if len(parts) == 1 else None


def _is_bound_to_frame(node: cst.CSTNode) -> bool:
    if isinstance(node, cst.Await | cst.Yield | cst.NamedExpr):
        return True
    return isinstance(node, cst.Name) and node.value in _NEEDS_ITS_FRAME
