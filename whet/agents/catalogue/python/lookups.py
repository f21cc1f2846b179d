"""Cheap look-ups that a loop repeats, kept in local variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.python.edit import PythonEdit, Replacement
from whet.agents.catalogue.python.hoisting import hoist
from whet.agents.catalogue.python.rewrite import Rewrite
from whet.agents.catalogue.python.source import PythonSource
from whet.agents.catalogue.python.uses import bindings, only_argument, uses


class Lookups(PythonEdit):
    """Keeps ``len(xs)`` and functions of modules in local variables while a loop runs."""

    name = "hoist-lookup"
    label = Label.ALGORITHM
    summary = "keeps the length of an unchanged variable, or a function of a module, in a local variable"
    needs = "`len(xs)` or `module.function(...)` in a loop that changes neither"
    unsafe = "code called in the loop that changes the variable, or rebinds the module's attribute"
    assumes: tuple[str, ...] = ()

    def changes(self, source: PythonSource) -> Iterator[Replacement]:
        """Yields one change a length, and one a function of a module."""
        modules = _imported_modules(source)
        for scope in source.scopes:
            if isinstance(scope, cst.Module):  # its variables are no cheaper than a look-up
                continue
            sites: dict[str, list[tuple[cst.CSTNode, _Lookup]]] = {}
            for node in source.walk(scope, nested=False):
                lookup = _lookup(node, source.parent(node), modules)
                if lookup is not None:
                    sites.setdefault(source.code(node), []).append((node, lookup))
            for text, same in sites.items():
                lookup = same[0][1]
                if lookup.module and bindings(uses(source, scope, lookup.module)):
                    continue
                local = source.fresh(lookup.wish)
                rewrite = Rewrite(source)
                replacements = {node: local for node, _ in same}
                if hoist(rewrite, scope, replacements, set(lookup.variables), f"{local} = {text}"):
                    why = f"'{text}' is looked up in every turn of the loop; a local variable is cheaper"
                    yield Replacement(same[0][0], rewrite.code(), why)


class _Lookup(NamedTuple):
    wish: str
    variables: tuple[str, ...] = ()
    module: str = ""


def _imported_modules(source: PythonSource) -> set[str]:
    return {  # for those of `re` there is an edit that does better
        alias.name.value
        for node in source.walk(source.module, nested=False)
        if isinstance(node, cst.Import)
        for alias in node.names
        if alias.asname is None and isinstance(alias.name, cst.Name) and alias.name.value != "re"
    }


def _lookup(node: cst.CSTNode, above: cst.CSTNode | None, modules: set[str]) -> _Lookup | None:
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "len":
        argument = only_argument(node)
        return _Lookup(f"len_{argument.value}", (argument.value,)) if isinstance(argument, cst.Name) else None
    if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name) and node.value.value in modules:
        module = node.value.value
        if isinstance(above, cst.Call) and above.func is node:
            return _Lookup(f"{module}_{node.attr.value}", module=module)
    return None
