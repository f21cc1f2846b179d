"""Functions that call themselves again and again with the same arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import libcst as cst

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.python.edit import PythonEdit, Replacement
from whet.agents.catalogue.python.kinds import kind_of
from whet.agents.catalogue.python.purity import is_pure
from whet.agents.catalogue.python.rewrite import Rewrite
from whet.agents.catalogue.python.source import PythonSource
from whet.agents.catalogue.python.uses import How, uses


class CachedRecursion(PythonEdit):
    """Remembers the results of a pure recursive function while one call of it lasts.

    The cached function is made anew in each outer call, so that nothing is carried over from one call to the
    next. Arguments that every inner call hands on unchanged stay out of the key, and need not be hashable.
    """

    name = "cache-recursion"
    label = Label.CACHING
    summary = "remembers the results of a recursive function for the length of one outer call"
    needs = "a function that calls itself twice, or in a loop, and touches nothing but its own variables"
    unsafe = "arguments that cannot be hashed; results that somebody changes; recursion near the depth limit"
    assumes: tuple[str, ...] = ("hashable", "shallow", "one-type")

    def changes(self, source: PythonSource) -> Iterator[Replacement]:
        """Yields one change a recursive function."""
        for scope in source.scopes:
            if not isinstance(scope, cst.FunctionDef) or scope.decorators or scope.asynchronous:
                continue
            calls = _self_calls(source, scope)
            branches = len(calls) > 1 or any(source.repetitions(call) for call in calls)
            if not branches or not (is_pure(source, scope) and _has_keys(source, scope)):
                continue
            rewrite = Rewrite(source)
            if not rewrite.import_name("functools", "cache"):
                continue
            if isinstance(source.scope_of(scope), cst.FunctionDef):
                rewrite.change(scope, _decorated)
            elif scope not in source.module.body or not _wrap(rewrite, scope, calls):
                continue
            why = f"'{scope.name.value}' computes the same sub-results many times; each is needed once"
            yield Replacement(calls[0], rewrite.code(), why)


def _self_calls(source: PythonSource, function: cst.FunctionDef) -> list[cst.Call]:
    """Returns the calls of a function in its own body; none where it uses its name in another way."""
    found = uses(source, function, function.name.value)
    calls = [use.site for use in found if use.how is How.CALL and isinstance(use.site, cst.Call)]
    return calls if len(calls) == len(found) else []


def _has_keys(source: PythonSource, function: cst.FunctionDef) -> bool:
    """Whether no parameter is known to be something that cannot be hashed, or is used up."""
    unfit = ("dict", "set", "deque", "iterator", "array")
    return not any(kind_of(source, function, each.name.value, []) in unfit for each in function.params.params)


def _decorated(function: cst.CSTNode) -> cst.CSTNode:
    return function.with_changes(decorators=[cst.Decorator(cst.Name("cache"))])


def _wrap(rewrite: Rewrite, function: cst.FunctionDef, calls: list[cst.Call]) -> bool:
    """Puts the body of a function into a cached one inside it; false where its signature is too rich."""
    params = function.params
    if params.posonly_params or params.kwonly_params or params.star_kwarg or not _is_plain(params.star_arg):
        return False
    order = [each.name.value for each in params.params]
    passed = [_arguments(call, order) for call in calls]
    handed_on = {
        name
        for name in order
        if all(isinstance(each.get(name), cst.Name) and _name(each[name]) == name for each in passed)
        and not any(use.how in (How.BIND, How.AUGMENT) for use in uses(rewrite.source, function, name))
    }
    keys = [each for each in params.params if each.name.value not in handed_on]
    if not keys or not all(passed) or not all(_is_hashable(rewrite.source, function, each) for each in keys):
        return False
    inner = rewrite.source.fresh(f"{function.name.value}_cached")
    for call in calls:
        rewrite.change(call, lambda updated: _renamed(cast(cst.Call, updated), inner, order, handed_on))
    rewrite.change(function, lambda updated: _wrapped(cast(cst.FunctionDef, updated), inner, keys))
    return True


def _is_plain(star: object) -> bool:
    return not isinstance(star, cst.Param | cst.ParamStar)


def _name(value: cst.BaseExpression) -> str:
    return value.value if isinstance(value, cst.Name) else ""


def _arguments(call: cst.Call, order: list[str]) -> dict[str, cst.BaseExpression]:
    """Returns what each parameter gets; empty where the text does not tell."""
    if any(arg.star for arg in call.args) or len(call.args) > len(order):
        return {}
    return {arg.keyword.value if arg.keyword else order[position]: arg.value for position, arg in enumerate(call.args)}


def _is_hashable(source: PythonSource, function: cst.FunctionDef, each: cst.Param) -> bool:
    constants = cst.Integer | cst.Float | cst.SimpleString | cst.Name
    annotation = source.code(each.annotation.annotation) if each.annotation else ""
    is_list = annotation.lower().startswith("list")
    return not is_list and (each.default is None or isinstance(each.default, constants))


def _renamed(call: cst.Call, inner: str, order: list[str], handed_on: set[str]) -> cst.Call:
    kept = [
        arg.with_changes(comma=cst.MaybeSentinel.DEFAULT)
        for position, arg in enumerate(call.args)
        if (arg.keyword.value if arg.keyword else order[position]) not in handed_on
    ]
    return call.with_changes(func=cst.Name(inner), args=kept)


def _wrapped(function: cst.FunctionDef, inner: str, keys: list[cst.Param]) -> cst.FunctionDef:
    plain = [each.with_changes(comma=cst.MaybeSentinel.DEFAULT) for each in keys]
    cached = function.with_changes(
        name=cst.Name(inner),
        params=cst.Parameters(params=plain),
        decorators=[cst.Decorator(cst.Name("cache"))],
        leading_lines=[],
    )
    call = cst.Call(cst.Name(inner), [cst.Arg(each.name) for each in keys])
    answer = cst.SimpleStatementLine([cst.Return(call)])
    body: list[cst.BaseStatement] = [cached, answer]
    statements = function.body.body
    if isinstance(function.body, cst.IndentedBlock) and len(statements) > 1 and function.get_docstring():
        body = [
            cast(cst.SimpleStatementLine, statements[0]),
            cached.with_changes(body=function.body.with_changes(body=statements[1:])),
            answer,
        ]
    return function.with_changes(body=cst.IndentedBlock(body))
