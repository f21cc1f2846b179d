"""Loops that a single expression can replace: what stands in them, and what they leave behind."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from whet.agents.catalogue.python.source import PythonSource
from whet.agents.catalogue.python.uses import free_names

_NEEDS_ITS_FRAME = frozenset({"super", "locals", "vars", "eval", "exec", "dir"})


@dataclass(frozen=True, slots=True)
class Nest:
    """Loops and conditions around one statement.

    Attributes:
        clauses: the texts of the clauses of a comprehension.
        tests: the conditions among them that a statement ``if`` of its own asks, outermost first.
        targets: the variables of the loops.
        statement: the innermost statement.
    """

    clauses: list[str]
    tests: list[cst.BaseExpression]
    targets: set[str]
    statement: cst.CSTNode


def read_nest(source: PythonSource, loop: cst.For) -> Nest | None:
    """Reads a loop down to the one statement that is no loop, condition or guard; None where there are several."""
    nest = Nest([], [], set(), loop)
    statement: cst.CSTNode = loop
    while True:
        match statement:
            case cst.For(asynchronous=None, orelse=None):
                nest.clauses.append(f"for {source.code(statement.target)} in {operand(source, statement.iter)}")
                nest.targets.update(free_names(source, statement.target))
            case cst.If(orelse=None):
                nest.clauses.append(f"if {operand(source, statement.test)}")
                nest.tests.append(statement.test)
            case _:
                break
        block = statements(statement.body)
        if len(block) == 2 and (skipped := _skip_condition(block[0])) is not None:
            nest.clauses.append(f"if not ({source.code(skipped)})")
        elif len(block) != 1:
            return None
        statement = block[-1]
    if any(_is_bound_to_frame(node) for node in source.walk(loop)):
        return None
    return Nest(nest.clauses, nest.tests, nest.targets, statement)


def operand(source: PythonSource, expression: cst.BaseExpression) -> str:
    """Returns an expression's text, in brackets where a clause would read it otherwise."""
    text = source.code(expression)
    loose = isinstance(expression, cst.IfExp | cst.Lambda | cst.Tuple)
    return f"({text})" if loose and not expression.lpar else text


def statements(body: cst.BaseSuite) -> list[cst.CSTNode]:
    """Returns the statements of a block; a block on the line of its header is one statement or refused."""
    return [body] if isinstance(body, cst.SimpleStatementSuite) else list(body.body)


def only_part(statement: cst.CSTNode) -> cst.CSTNode | None:
    """Returns the small statement that a line consists of, if it is one alone."""
    parts = statement.body if isinstance(statement, cst.SimpleStatementLine | cst.SimpleStatementSuite) else ()
    return parts[0] if len(parts) == 1 else None


def _skip_condition(statement: cst.CSTNode) -> cst.BaseExpression | None:
    """Returns the test of ``if test: continue``."""
    if not isinstance(statement, cst.If) or statement.orelse is not None:
        return None
    lines = statements(statement.body)
    return statement.test if len(lines) == 1 and isinstance(only_part(lines[0]), cst.Continue) else None


def _is_bound_to_frame(node: cst.CSTNode) -> bool:
    if isinstance(node, cst.Await | cst.Yield | cst.NamedExpr):
        return True
    return isinstance(node, cst.Name) and node.value in _NEEDS_ITS_FRAME
