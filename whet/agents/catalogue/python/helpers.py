"""Pure helpers that a loop calls with arguments that come again."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.python.edit import PythonEdit, Replacement
from whet.agents.catalogue.python.hoisting import is_stable
from whet.agents.catalogue.python.kinds import kind_of
from whet.agents.catalogue.python.purity import helper_calls, imported, pure_helpers
from whet.agents.catalogue.python.rewrite import Rewrite
from whet.agents.catalogue.python.source import PythonSource, Scope, last_name
from whet.agents.catalogue.python.uses import How, free_names, uses

_PARSERS = frozenset({"strptime", "fromisoformat", "Decimal", "Fraction", "ip_address", "ip_network", "UUID"})
_UNHASHABLE = frozenset({"list", "dict", "set", "deque", "array", "iterator"})
_REDUCERS = frozenset({"min", "max", "sum", "sorted", "reversed"})
_FEW_CALLS = 3
"""Calls in a helper without a loop from which it counts as costly. A smaller value proposes caches for helpers that
take little more than a lookup; a larger one misses costly helpers."""


class CachedHelpers(PythonEdit):
    """Remembers what a pure helper gave, from before the loop that calls it to the end of the function.

    Arguments that stay the same all through the loop stay out of the key, and need not be hashable.
    """

    name = "cache-helper"
    label = Label.CACHING
    summary = "remembers the results of a pure helper, or of a parser of dates and numbers, while a loop runs"
    needs = (
        "a function of the file without effects, or `strptime` and the like, called in a loop with few distinct values"
    )
    unsafe = "arguments that cannot be hashed, or are equal but of other types; results that somebody changes"
    assumes: tuple[str, ...] = ("hashable", "one-type")

    def changes(self, source: PythonSource) -> Iterator[Replacement]:
        """Yields one change a helper and caller, and one a parser and caller."""
        for scope in source.scopes:
            pure = pure_helpers(source, scope)
            for function, calls in helper_calls(source, scope, pure):
                if _is_costly(source, function):
                    yield from _cached(source, scope, function, calls, pure)
            yield from _cached_parsers(source, scope)


def _is_costly(source: PythonSource, function: cst.FunctionDef) -> bool:
    nodes = list(source.walk(function))
    repeats = any(isinstance(node, cst.For | cst.While | cst.CompFor) for node in nodes)
    return repeats or sum(isinstance(node, cst.Call) for node in nodes) >= _FEW_CALLS


def _cached(
    source: PythonSource, scope: Scope, function: cst.FunctionDef, calls: list[cst.Call], pure: frozenset[str]
) -> Iterator[Replacement]:
    loop = source.repetitions(calls[0])[-1]
    point = source.statement_of(loop)
    inside = [
        call
        for call in calls
        if source.repetitions(call)[-1] is loop
        and not all(is_stable(source, scope, name, loop, pure) for arg in call.args for name in free_names(source, arg))
    ]
    if not inside:
        return
    fixed = _fixed(source, scope, inside, loop, pure)
    keys = [position for position in range(len(function.params.params)) if position not in fixed]
    if not keys or any(_is_unhashable(source, scope, call.args[key].value) for call in inside for key in keys):
        return
    if any(_is_sequence(source, function, function.params.params[key].name.value) for key in keys):
        return
    name = function.name.value
    cached = source.fresh(f"{name}_cached")
    rewrite = Rewrite(source)
    if not rewrite.import_name("functools", "cache"):
        return
    if fixed:
        params = [each.name.value for each in function.params.params]
        handed = [fixed.get(position, params[position]) for position in range(len(params))]
        if any(params[key] in source.names(inside[0].args[position].value) for position in fixed for key in keys):
            return
        head = f"@cache\ndef {cached}({', '.join(params[key] for key in keys)}):\n"
        rewrite.before(point, f"{head}    return {name}({', '.join(handed)})")
    else:
        rewrite.before(point, f"{cached} = cache({name})")
    for call in inside:
        rewrite.expression(call, f"{cached}({', '.join(source.code(call.args[key].value) for key in keys)})")
    yield Replacement(inside[0], rewrite.code(), f"'{name}' may be asked the same again and again; once each is enough")


def _fixed(
    source: PythonSource, scope: Scope, calls: list[cst.Call], loop: cst.CSTNode, pure: frozenset[str]
) -> dict[int, str]:
    """Returns, by position, the arguments that all calls have in common and that the loop leaves alone."""
    first = calls[0].args
    return {
        position: source.code(arg.value)
        for position, arg in enumerate(first)
        if all(source.code(call.args[position].value) == source.code(arg.value) for call in calls)
        and all(is_stable(source, scope, name, loop, pure) for name in free_names(source, arg.value))
    }


def _is_unhashable(source: PythonSource, scope: Scope, argument: cst.BaseExpression) -> bool:
    if isinstance(argument, cst.Name):
        return kind_of(source, scope, argument.value, uses(source, scope, argument.value)) in _UNHASHABLE
    if isinstance(argument, cst.Subscript):
        return any(isinstance(part.slice, cst.Slice) for part in argument.slice)
    return isinstance(argument, cst.List | cst.Dict | cst.Set | cst.ListComp | cst.DictComp | cst.SetComp)


def _is_sequence(source: PythonSource, function: cst.FunctionDef, name: str) -> bool:
    """Whether a helper treats a parameter as a list may be treated: reduces it, or walks through it by index."""
    found = uses(source, function, name)
    if kind_of(source, function, name, found) == "str":
        return False
    for use in found:
        if use.how is How.ARGUMENT and use.word in _REDUCERS:
            return True
        if use.how is How.ITEM and isinstance(use.site, cst.Subscript) and use.site.slice:
            index = use.site.slice[0].slice
            if not isinstance(index, cst.Index) or not isinstance(index.value, cst.Integer | cst.SimpleString):
                return True
    return False


def _cached_parsers(source: PythonSource, scope: Scope) -> Iterator[Replacement]:
    groups: dict[tuple[str, cst.CSTNode], list[cst.Call]] = {}
    known = imported(source).keys()
    for node in source.walk(scope, nested=False):
        if isinstance(node, cst.Call) and last_name(node.func) in _PARSERS:
            loops = source.repetitions(node)
            if loops and free_names(source, node.func) <= known:
                groups.setdefault((source.code(node.func), loops[-1]), []).append(node)
    for (function, loop), calls in groups.items():
        rewrite = Rewrite(source)
        if not rewrite.import_name("functools", "cache"):
            continue
        cached = source.fresh(f"{last_name(calls[0].func)}_cached")
        rewrite.before(source.statement_of(loop), f"{cached} = cache({function})")
        for call in calls:
            rewrite.expression(call.func, cached)
        yield Replacement(calls[0], rewrite.code(), f"'{function}' parses each text anew; equal ones need it once")
