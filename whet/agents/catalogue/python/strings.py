"""Strings that grow piece by piece in a loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.python.edit import PythonEdit, Replacement
from whet.agents.catalogue.python.kinds import bound_value, kind_of_value
from whet.agents.catalogue.python.operands import summands
from whet.agents.catalogue.python.rewrite import Rewrite
from whet.agents.catalogue.python.source import PythonSource, Scope
from whet.agents.catalogue.python.uses import How, Use, bindings, names_in, uses, within


class JoinedStrings(PythonEdit):
    """Collects the pieces of a string in a list and joins them after the loop."""

    name = "join-strings"
    label = Label.ALGORITHM
    summary = "collects the pieces of a string in a list, and joins them once after the loop"
    needs = "`s += piece`, `s = s + piece` or `s = piece + s` in a loop that does not read s otherwise"
    unsafe = "code that sees the half-built string when the loop is left by an exception"
    assumes: tuple[str, ...] = ()

    def changes(self, source: PythonSource) -> Iterator[Replacement]:
        """Yields one change a string and loop."""
        for scope in source.scopes:
            for name in names_in(source, scope):
                yield from _joined(source, scope, name)


class _Piece(NamedTuple):
    statement: cst.CSTNode
    texts: list[str]
    in_front: bool
    uses: list[Use]


def _joined(source: PythonSource, scope: Scope, name: str) -> Iterator[Replacement]:
    found = uses(source, scope, name)
    if any(use.how is How.CAPTURED for use in found):
        return
    pieces = [piece for use in found if (piece := _piece(source, name, use, found)) is not None]
    grown = [use for piece in pieces for use in piece.uses]
    starts = [use for use in bindings(found) if use not in grown]
    kinds = {kind_of_value(bound_value(source, use)) for use in starts}
    if kinds not in ({"str"}, {"bytes"}):
        return
    empty = '""' if kinds == {"str"} else 'b""'
    loops: dict[cst.CSTNode, list[_Piece]] = {}
    for piece in pieces:
        outermost = None
        for loop in source.repetitions(piece.statement):
            if all(use in grown for use in within(source, found, loop)):
                outermost = loop
        if outermost is not None and not source.is_tried(outermost):
            loops.setdefault(outermost, []).append(piece)
    for loop, inside in loops.items():
        if len({piece.in_front for piece in inside}) == 1:
            code = _rewritten(source, name, empty, loop, inside, starts)
            why = f"'{name}' may be copied whole for each piece that is added; a list is joined once"
            yield Replacement(inside[0].statement, code, why)


def _rewritten(
    source: PythonSource, name: str, empty: str, loop: cst.CSTNode, pieces: list[_Piece], starts: list[Use]
) -> str:
    rewrite = Rewrite(source)
    parts = source.fresh(f"{name}_parts")
    siblings = source.block(loop)
    previous = siblings[siblings.index(loop) - 1] if siblings[0] is not loop else None
    start = next((use for use in starts if source.statement_of(use.node) is previous), None)
    if start is not None and previous is not None and source.has_line(start.node):
        value = bound_value(source, start)
        text = source.code(value) if value is not None else name
        rewrite.statement(previous, f"{parts} = []" if text.replace("'", '"') == empty else f"{parts} = [{text}]")
    else:
        rewrite.before(loop, f"{parts} = [{name}]")
    for piece in pieces:
        added = f"append({piece.texts[0]})" if len(piece.texts) == 1 else f"extend(({', '.join(piece.texts)}))"
        rewrite.statement(piece.statement, f"{parts}.{added}")
    ordered = f"reversed({parts})" if pieces[0].in_front else parts
    rewrite.after(loop, f"{name} = {empty}.join({ordered})")
    return rewrite.code()


def _piece(source: PythonSource, name: str, use: Use, found: list[Use]) -> _Piece | None:
    """Returns what a statement adds to the string, where it does nothing else with it."""
    if use.how not in (How.AUGMENT, How.BIND) or not source.has_line(use.node):
        return None
    statement = source.statement_of(use.node)
    same = within(source, found, statement)
    if isinstance(use.site, cst.AugAssign):
        is_sum = isinstance(use.site.operator, cst.AddAssign) and len(same) == 1
        return _Piece(statement, [source.code(use.site.value)], False, same) if is_sum else None
    value = bound_value(source, use)
    terms = summands(value) if value is not None else []
    if len(terms) < 2 or len(same) != 2:
        return None
    if isinstance(terms[0], cst.Name) and terms[0].value == name:
        return _Piece(statement, [source.code(term) for term in terms[1:]], False, same)
    if isinstance(terms[-1], cst.Name) and terms[-1].value == name:
        return _Piece(statement, [" + ".join(source.code(term) for term in terms[:-1])], True, same)
    return None
