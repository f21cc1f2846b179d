"""Built-ins called for each element, and texts changed one character at a time."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.python.edit import PythonEdit, Replacement
from whet.agents.catalogue.python.hoisting import is_stable
from whet.agents.catalogue.python.kinds import kind_of
from whet.agents.catalogue.python.rewrite import Rewrite
from whet.agents.catalogue.python.source import PythonSource, Scope
from whet.agents.catalogue.python.uses import only_argument, uses

_MAPPED = frozenset(
    {"abs", "bin", "bool", "chr", "float", "hash", "hex", "int", "len", "ord", "repr", "set", "str", "tuple"}
)


class MappedBuiltins(PythonEdit):
    """Lets ``map`` call a built-in, and ``str.translate`` change characters."""

    name = "map-builtin"
    label = Label.LIBRARY_CALL
    summary = "calls a built-in through map, and changes characters through str.translate"
    needs = "`[int(x) for x in xs]`, or `''.join(table.get(c, c) for c in text)`"
    unsafe = "keys of more than one character; something other than a text that is walked through"
    assumes: tuple[str, ...] = ("hashable", "no-string")

    def changes(self, source: PythonSource) -> Iterator[Replacement]:
        """Yields one change a comprehension."""
        for scope in source.scopes:
            for node in source.walk(scope, nested=False):
                new = _mapped(source, node) or _translated(source, scope, node)
                if new is not None:
                    rewrite = Rewrite(source)
                    rewrite.expression(node, new)
                    text = " ".join(source.code(node).split())
                    why = f"'{text}' takes a step of Python for each element; a built-in takes none"
                    yield Replacement(node, rewrite.code(), why)


def _mapped(source: PythonSource, node: cst.CSTNode) -> str | None:
    match node:
        case cst.ListComp(
            elt=cst.Call(func=cst.Name(value=function)) as call,
            for_in=cst.CompFor(target=cst.Name(value=name), iter=items, ifs=[], inner_for_in=None, asynchronous=None),
        ) if function in _MAPPED:
            argument = only_argument(call)
            if isinstance(argument, cst.Name) and argument.value == name:
                return f"list(map({function}, {source.code(items)}))"
    return None


def _translated(source: PythonSource, scope: Scope, node: cst.CSTNode) -> str | None:
    """Reads ``"".join(table.get(c, c) for c in text)``."""
    inner = only_argument(node)
    match node, inner:
        case (
            cst.Call(func=cst.Attribute(value=cst.SimpleString(value="''" | '""'), attr=cst.Name(value="join"))),
            cst.GeneratorExp(
                elt=cst.Call(
                    func=cst.Attribute(value=cst.Name(value=table), attr=cst.Name(value="get")),
                    args=[cst.Arg(value=cst.Name(value=first)), cst.Arg(value=cst.Name(value=second))],
                ),
                for_in=clause,
            )
            | cst.ListComp(
                elt=cst.Call(
                    func=cst.Attribute(value=cst.Name(value=table), attr=cst.Name(value="get")),
                    args=[cst.Arg(value=cst.Name(value=first)), cst.Arg(value=cst.Name(value=second))],
                ),
                for_in=clause,
            ),
        ) if first == second and not clause.ifs and clause.inner_for_in is None and clause.asynchronous is None:
            name, items = source.code(clause.target), clause.iter
            if name != first or not isinstance(items, cst.Name) or not is_stable(source, scope, table, node):
                return None
            if kind_of(source, scope, items.value, uses(source, scope, items.value)) in ("str", None):
                return f"{items.value}.translate(str.maketrans({table}))"
    return None
