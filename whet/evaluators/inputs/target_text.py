"""What a target's own text says about its domain: exceptions, literals, whether it orders or looks up."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from whet.core.task import Task
from whet.core.trees import parse_python
from whet.evaluators.languages.registry import language_of_task
from whet.evaluators.outcomes import CallOutcome
from whet.evaluators.screen import find_function

CONFUSIONS = frozenset(
    {"TypeError", "AttributeError", "RecursionError", "MemoryError", "OverflowError", "IndexError", "KeyError",
     "ZeroDivisionError", "FloatingPointError", "AxisError", "LinAlgError", "UnboundLocalError"}
)  # fmt: skip
"""What Python raises where code meets a value that it was not written for."""
ORDERINGS = frozenset(
    {"sorted", "min", "max", "sort", "heapq", "bisect", "argsort", "heappush", "bisect_left", "insort"}
)


@dataclass(frozen=True, slots=True)
class Text:
    """What a target's own text says about its domain.

    Attributes:
        raises: names of the exceptions that it raises itself.
        literals: scalars that stand in it.
        orders: whether it compares by order, so that NaN would leave its result to chance.
        subscripts: whether it looks things up by computed places.
        hinted: whether the target's parameters have type hints.
    """

    raises: frozenset[str] = frozenset()
    literals: tuple[Any, ...] = ()
    orders: bool = False
    subscripts: bool = False
    hinted: bool = False


NO_TEXT = Text()


def read_text(task: Task) -> Text:
    """Returns what a task's text in Python says; nothing for other languages."""
    if not language_of_task(task).interpreted:
        return Text()
    sources = [parse_python(text) for text in (task.source, *task.support.values()) if _parses(text)]
    nodes = [node for source in sources for node in ast.walk(source)]
    function = find_function(sources[0], task.symbol) if sources and task.symbol else None
    own = list(ast.walk(function)) if function is not None else list(ast.walk(sources[0])) if sources else []
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    orders = any(
        isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE)
        for node in nodes
        if isinstance(node, ast.Compare)
        for op in node.ops
    )
    parameters = [node for node in own if isinstance(node, ast.arg)]
    return Text(
        frozenset(_raised(nodes)),
        tuple(_literals(own)),
        orders or bool(names & ORDERINGS),
        any(isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Constant) for node in nodes),
        any(parameter.annotation is not None for parameter in parameters),
    )


def _parses(text: str) -> bool:
    try:
        parse_python(text)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True


def _raised(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Assert):
            yield "AssertionError"
        elif isinstance(node, ast.Raise) and node.exc is not None:
            raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            yield raised.attr if isinstance(raised, ast.Attribute) else getattr(raised, "id", "")


def _literals(nodes: Iterable[ast.AST]) -> Iterator[Any]:
    documentation = {
        id(node.body[0].value)
        for node in nodes
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    seen: set[tuple[str, Any]] = set()
    for node in nodes:
        if isinstance(node, ast.Constant) and id(node) not in documentation:
            key = (type(node.value).__name__, node.value)
            if key not in seen and isinstance(node.value, (int, float, str, bytes)):
                seen.add(key)
                yield node.value


class RequiredOutcome(Enum):
    """What the baseline's outcome on an input that nobody promised asks of a candidate."""

    SAME = "the same outcome"
    RAISE = "any exception"
    NOTHING = "nothing"


def wanted(outcome: CallOutcome, text: Text, natural: frozenset[str], textual: bool) -> RequiredOutcome:
    """Returns what is asked of a candidate on an edited input.

    An exception that the target's text raises, or that drawn inputs met too, is part of what it does. Any other is
    what Python says of a value that the code was not written for: only malformed text has to be refused, somehow.

    Args:
        outcome: the baseline's.
        text: of the target.
        natural: names of the exceptions that drawn inputs met.
        textual: whether a text was edited.
    """
    if outcome.kind == "value":
        return RequiredOutcome.SAME
    if outcome.kind != "raise":
        return RequiredOutcome.NOTHING
    name = outcome.error
    if name in text.raises or name in natural:
        return RequiredOutcome.SAME
    return RequiredOutcome.RAISE if textual and name not in CONFUSIONS else RequiredOutcome.NOTHING
