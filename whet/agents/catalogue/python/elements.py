"""Loops over indices that only serve to reach the elements."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.python.edit import PythonEdit, Replacement
from whet.agents.catalogue.python.hoisting import is_stable
from whet.agents.catalogue.python.kinds import kind_of
from whet.agents.catalogue.python.purity import pure_helpers
from whet.agents.catalogue.python.rewrite import Rewrite
from whet.agents.catalogue.python.source import PythonSource, Scope
from whet.agents.catalogue.python.uses import How, leaves_unread, uses, within


class ElementLoops(PythonEdit):
    """Takes the elements of a sequence from an iterator instead of by their indices."""

    name = "index-to-element"
    label = Label.LIBRARY_CALL
    summary = "iterates over elements, with enumerate or zip, instead of over indices"
    needs = "`for i in range(len(xs))` whose body reads `xs[i]` and leaves xs alone"
    unsafe = "dictionaries with numbers as keys; a second sequence that is shorter than the first"
    assumes: tuple[str, ...] = ()

    def changes(self, source: PythonSource) -> Iterator[Replacement]:
        """Yields one change a loop."""
        for scope in source.scopes:
            for node in source.walk(scope, nested=False):
                if isinstance(node, cst.For) and node in source.block(node):
                    yield from _by_element(source, scope, node)


def _by_element(source: PythonSource, scope: Scope, loop: cst.For) -> Iterator[Replacement]:
    match loop:
        case cst.For(
            target=cst.Name(value=index) as target,
            iter=cst.Call(
                func=cst.Name(value="range"),
                args=[
                    cst.Arg(value=cst.Call(func=cst.Name(value="len"), args=[cst.Arg(value=cst.Name(value=measured))]))
                ],
            ) as iterable,
            asynchronous=None,
        ):
            pass
        case _:
            return
    if not leaves_unread(source, scope, loop, {index}):
        return
    places = [use for use in within(source, uses(source, scope, index), loop) if use.node is not target]
    if any(use.how in (How.BIND, How.AUGMENT, How.CAPTURED) for use in places):
        return
    pure = pure_helpers(source, scope)
    reads: dict[str, list[cst.CSTNode]] = {}
    for use in places:
        name, site = _indexed(source, use.node)
        if site is None or not is_stable(source, scope, name, loop, pure):
            continue
        if kind_of(source, scope, name, uses(source, scope, name)) not in ("dict", "array", "range"):
            reads.setdefault(name, []).append(site)
    if measured not in reads:
        return
    rewrite = Rewrite(source)
    elements = {name: source.fresh(f"{name}_{index}") for name in reads}
    for name, sites in reads.items():
        for site in sites:
            rewrite.expression(site, elements[name])
    needs_index = sum(map(len, reads.values())) < len(places)
    ordered = [measured, *(name for name in reads if name != measured)]
    items = f"zip({', '.join(ordered)})" if len(ordered) > 1 else measured
    variables = ", ".join(elements[name] for name in ordered)
    if needs_index:
        items = f"enumerate({items})"
        variables = f"{index}, ({variables})" if len(ordered) > 1 else f"{index}, {variables}"
    rewrite.change(target, lambda _: cst.parse_expression(variables))
    rewrite.expression(iterable, items)
    why = f"'{measured}[{index}]' looks each element up by its number; an iterator hands it over"
    yield Replacement(loop, rewrite.code(), why)


def _indexed(source: PythonSource, node: cst.Name) -> tuple[str, cst.CSTNode | None]:
    """Returns the name and the whole of ``xs[i]`` for its index ``i``, where it is only read."""
    part = source.parent(source.parent(node) or node)
    subscript = source.parent(part) if part is not None else None
    match subscript:
        case cst.Subscript(value=cst.Name(value=name), slice=[cst.SubscriptElement(slice=cst.Index(value=index))]) if (
            index is node
        ):
            return name, subscript
    return "", None
