"""Functions of a file whose result depends on their arguments and on constants alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

import libcst as cst

from whet.agents.catalogue.python.hoisting import is_constant, owner_of
from whet.agents.catalogue.python.kinds import bound_value, kind_of_value
from whet.agents.catalogue.python.source import PythonSource, Scope
from whet.agents.catalogue.python.uses import (
    PURE_FUNCTIONS,
    READING_METHODS,
    How,
    Use,
    bindings,
    names_in,
    parameter,
    uses,
)

_IMPURE = (cst.Yield, cst.Await, cst.Global, cst.Nonlocal, cst.FunctionDef, cst.ClassDef, cst.With, cst.Del)
_CONTAINERS = frozenset({"list", "dict", "set", "deque", "iterator", "view"})


def is_pure(source: PythonSource, function: cst.FunctionDef, callers: frozenset[str] = frozenset()) -> bool:
    """Whether a function changes nothing that outlives a call of it, and reads nothing that changes.

    Args:
        source: the file.
        function: one of its functions.
        callers: names of functions that are held to be pure, since their own purity hangs on this answer.
    """
    known = callers | {function.name.value}
    for node in source.walk(function):
        if isinstance(node, _IMPURE) and node is not function:
            return False
        if isinstance(node, cst.Call) and not _is_harmless(source, node, known):
            return False
    return all(_is_kept(source, function, name) for name in names_in(source, function))


def helper(source: PythonSource, name: str) -> cst.FunctionDef | None:
    """Returns the one function at the top of the file that has this name, if it has neither decorator nor ``async``."""
    found = [
        node
        for node in source.walk(source.module, nested=False)
        if isinstance(node, cst.FunctionDef | cst.ClassDef) and node.name.value == name
    ]
    if len(found) != 1 or found[0] not in source.module.body or bindings(uses(source, source.module, name)):
        return None
    function = found[0]
    if not isinstance(function, cst.FunctionDef) or function.decorators or function.asynchronous:
        return None
    return function


@lru_cache(maxsize=1024)
def pure_helpers(source: PythonSource, scope: Scope) -> frozenset[str]:
    """Returns the names of those functions of the file that a scope calls and that are pure."""
    called = {
        node.func.value
        for node in source.walk(scope, nested=False)
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and not parameter(scope, node.func.value)
    }
    found = {name: helper(source, name) for name in called}
    return frozenset(name for name, each in found.items() if each is not None and is_pure(source, each))


def helper_calls(
    source: PythonSource, scope: Scope, pure: frozenset[str]
) -> Iterator[tuple[cst.FunctionDef, list[cst.Call]]]:
    """Yields each of some helpers that a scope calls in a loop, with those calls whose arguments are plain positions.

    Helpers that give a list or the like are left out, for one object must not be handed out twice.
    """
    calls: dict[str, list[cst.Call]] = {}
    for node in source.walk(scope, nested=False):
        match node:
            case cst.Call(func=cst.Name(value=name)) if name in pure and source.repetitions(node):
                calls.setdefault(name, []).append(node)
    for name, same in calls.items():
        function = helper(source, name)
        if function is None or function is scope or not _is_plain(function.params):
            continue
        plain = [call for call in same if _fits(call, function)]
        if plain and not _gives_container(source, function):
            yield function, plain


@lru_cache(maxsize=4)
def imported(source: PythonSource) -> Mapping[str, str]:
    """Returns the names that imports at the top of the file bind, and the module that each comes from."""
    found: dict[str, str] = {}
    for node in source.walk(source.module, nested=False):
        match node:
            case cst.Import(names=aliases):
                for alias in aliases:
                    name = alias.asname.name if alias.asname else alias.name
                    if isinstance(name, cst.Name):
                        found[name.value] = source.code(alias.name)
            case cst.ImportFrom(names=[*aliases], module=cst.Name(value=module)):
                for alias in aliases:
                    name = alias.asname.name if alias.asname else alias.name
                    if isinstance(name, cst.Name):
                        found[name.value] = module
    return {name: module for name, module in found.items() if not _is_rebound(source, name)}


def _is_rebound(source: PythonSource, name: str) -> bool:
    """Whether the file binds a name otherwise than by ``import ... as``."""
    sites = [source.parent(use.site) for use in bindings(uses(source, source.module, name))]
    return not all(isinstance(site, cst.ImportAlias) for site in sites)


def _is_kept(source: PythonSource, function: cst.FunctionDef, name: str) -> bool:
    """Whether a function leaves a variable of others as it is; its own ones it may change, if it made them."""
    found = uses(source, function, name)
    is_changed = any(_changes(use) for use in found)
    if parameter(function, name) is not None:
        return not is_changed
    binds = bindings(found)
    if binds:
        return not is_changed or all(_is_new(bound_value(source, use)) for use in binds)
    if imported(source).get(name) == "math":
        return True
    return not is_changed and is_constant(source, name, owner_of(source, function, name))


def _changes(use: Use) -> bool:
    return use.how is How.STORE or (use.how is How.METHOD and use.word not in READING_METHODS)


def _is_new(value: cst.BaseExpression | None) -> bool:
    if isinstance(value, cst.BinaryOperation) and isinstance(value.operator, cst.Multiply):
        return _is_new(value.left)
    return kind_of_value(value) is not None


def _is_harmless(source: PythonSource, call: cst.Call, known: frozenset[str]) -> bool:
    match call.func:
        case cst.Name(value=name):
            if name in known or (name in PURE_FUNCTIONS and name != "print"):
                return True
            if imported(source).get(name) == "math":
                return True
            other = helper(source, name)
            return other is not None and is_pure(source, other, known)
        case cst.Attribute(value=cst.Name(value=module)) if imported(source).get(module) == "math":
            return True
        case cst.Attribute(attr=cst.Name(value=method)):
            return method in READING_METHODS or method in ("append", "add", "extend")
        case _:
            return False


def _is_plain(params: cst.Parameters) -> bool:
    stars = isinstance(params.star_arg, cst.Param | cst.ParamStar)
    return bool(params.params) and not (stars or params.posonly_params or params.kwonly_params or params.star_kwarg)


def _fits(call: cst.Call, function: cst.FunctionDef) -> bool:
    return len(call.args) == len(function.params.params) and not any(arg.star or arg.keyword for arg in call.args)


def _gives_container(source: PythonSource, function: cst.FunctionDef) -> bool:
    for node in source.walk(function):
        if isinstance(node, cst.Return) and node.value is not None:
            values = [node.value]
            if isinstance(node.value, cst.Name):
                found = bindings(uses(source, function, node.value.value))
                values = [value for use in found if (value := bound_value(source, use)) is not None]
            if any(kind_of_value(v) in _CONTAINERS and not isinstance(v, cst.Tuple) for v in values):
                return True
    return False
