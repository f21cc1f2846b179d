"""Look-ups that are tried, and fail often, as questions with an answer for what is missing."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.python.edit import PythonEdit, Replacement
from whet.agents.catalogue.python.loops import only_part, statements
from whet.agents.catalogue.python.rewrite import Rewrite
from whet.agents.catalogue.python.source import PythonSource


class TriedLookups(PythonEdit):
    """Asks ``d.get(k, default)`` where a loop tries ``d[k]`` and catches ``KeyError``."""

    name = "tried-lookup"
    label = Label.DATA_STRUCTURE
    summary = "asks a dictionary with a default instead of catching KeyError in a loop"
    needs = "`try: v = d[k]` or `d[k] += n` in a loop, with `except KeyError` that gives a constant"
    unsafe = "a KeyError from elsewhere in the expression; a dictionary that makes what is missing"
    assumes: tuple[str, ...] = ("plain-dict",)

    def changes(self, source: PythonSource) -> Iterator[Replacement]:
        """Yields one change a ``try``."""
        for scope in source.scopes:
            for node in source.walk(scope, nested=False):
                if isinstance(node, cst.Try) and source.repetitions(node):
                    new = _asked(source, node)
                    if new is not None:
                        rewrite = Rewrite(source)
                        rewrite.statement(node, new)
                        why = "an exception for a missing key costs more than a look-up with a default"
                        yield Replacement(node, rewrite.code(), why)


def _asked(source: PythonSource, tried: cst.Try) -> str | None:
    if len(tried.handlers) != 1 or tried.orelse is not None or tried.finalbody is not None:
        return None
    handler = tried.handlers[0]
    body, other = statements(tried.body), statements(handler.body)
    if handler.type is None or source.code(handler.type) != "KeyError" or handler.name is not None:
        return None
    if len(body) != 1 or len(other) != 1:
        return None
    match only_part(body[0]), only_part(other[0]):
        case (
            cst.Assign(targets=[first], value=cst.Subscript() as looked_up),
            cst.Assign(targets=[second], value=default),
        ) if source.code(first) == source.code(second) and _is_constant(default):
            get = _get(source, looked_up, default)
            return f"{source.code(first.target)} = {get}" if get else None
        case (
            cst.AugAssign(target=cst.Subscript() as looked_up, operator=cst.AddAssign(), value=term),
            cst.Assign(targets=[second], value=start),
        ) if source.code(second.target) == source.code(looked_up) and source.code(term) == source.code(start):
            get = _get(source, looked_up, cst.Integer("0"))
            is_number = isinstance(term, cst.Integer)
            return f"{source.code(looked_up)} = {get} + {source.code(term)}" if get and is_number else None
    return None


def _is_constant(value: cst.BaseExpression) -> bool:
    return isinstance(value, cst.Name | cst.Integer | cst.Float | cst.SimpleString)


def _get(source: PythonSource, looked_up: cst.Subscript, default: cst.BaseExpression) -> str | None:
    """Returns ``d.get(k, default)`` for ``d[k]``; None where a slice or something that may raise KeyError is in it."""
    match looked_up:
        case cst.Subscript(
            value=cst.Name() | cst.Attribute() as owner,
            slice=[
                cst.SubscriptElement(slice=cst.Index(value=cst.Name() | cst.SimpleString() | cst.Attribute() as key))
            ],
        ):
            return f"{source.code(owner)}.get({source.code(key)}, {source.code(default)})"
    return None
