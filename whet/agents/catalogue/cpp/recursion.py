"""Functions that compute the same value again and again by calling themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.cpp.edit import CppEdit, Replacement, Splice, include, newline, spliced
from whet.agents.catalogue.cpp.source import CppSource, Function, Region
from whet.agents.catalogue.cpp.uses import CONST_METHODS, MATH, may_change
from whet.agents.catalogue.cpp.variables import Variable, variables

_WHOLE = frozenset({
    "int", "long", "long long", "unsigned", "unsigned int", "unsigned long", "unsigned long long", "size_t", "short",
    "char", "bool", "int64_t", "uint64_t", "int32_t", "uint32_t",
})  # fmt: skip
_PURE = MATH | CONST_METHODS | {"abs", "min", "max", "if", "for", "while", "switch", "return", "sizeof", "push_back"}
_EFFECTS = ("cin", "cout", "cerr", "printf", "scanf", "static", "new", "delete", "rand", "getchar", "putchar", "goto")


class KeptRecursion(CppEdit):
    """Keeps the values that a recursion has computed for as long as the outermost call lasts."""

    name = "keep-recursion"
    label = Label.CACHING
    summary = "keeps what a recursive function has computed for the same numbers, until the outermost call returns"
    needs = "a function that calls itself at two places, depends on whole numbers, and passes all else on as it is"
    unsafe = "data behind the parameters, or global, that changes while the call lasts"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change a function."""
        for function in source.functions:
            body = function.body
            same = [each for each in source.functions if each.name == function.name and each.body is not None]
            if body is None or same != [function] or source.block_around(function.at).first != 0:
                continue
            params = _params(source, function)
            calls = [i for i in source.occurrences(function.name, body) if source.word(i + 1) == "("]
            if params and len(calls) > 1 and _is_pure(source, function, params, calls):
                yield _change(source, function, params, calls)


class _Param(NamedTuple):
    found: Variable
    is_key: bool


def _params(source: CppSource, function: Function) -> list[_Param]:
    """Returns the parameters; none where one is neither a number nor passed by const reference."""
    params = []
    for region in function.params:
        found = next((each for each in variables(source) if each.at in region), None)
        is_key = found is not None and found.type in _WHOLE and found.marks == ""
        if found is None or not (is_key or (found.is_const and found.marks in ("&", "*"))):
            return []
        params.append(_Param(found, is_key))
    return params if any(each.is_key for each in params) else []


def _is_pure(source: CppSource, function: Function, params: list[_Param], calls: list[int]) -> bool:
    body = function.body or Region(0, 0)
    head = source.words(range(_start(source, function.at), body.first))
    if {"template", "void", "="} & set(head) or any(source.word(index) in _EFFECTS for index in body):
        return False
    for call in calls:
        arguments = list(source.split(Region(call + 2, source.partner[call + 1])))
        if len(arguments) != len(params):
            return False
        for argument, param in zip(arguments, params, strict=True):
            if not param.is_key and source.words(argument) != [param.found.name]:
                return False
    called = {source.word(i) for i in body if source.tokens[i].kind == "name" and source.word(i + 1) == "("}
    local = {each.name for each in variables(source) if each.at in body}
    if called - _PURE - {function.name} - local:
        return False
    outside = {each.name for each in variables(source) if each.scope.end == len(source.tokens)} - local
    names = outside | {each.found.name for each in params if not each.is_key}
    return not any(may_change(source, name, body) for name in names if name != function.name)


def _change(source: CppSource, function: Function, params: list[_Param], calls: list[int]) -> Replacement:
    body = function.body or Region(0, 0)
    first = _start(source, function.at)
    result = source.slice(Region(first, function.at)).replace("static ", "").replace("inline ", "").strip()
    kept, inner = source.fresh(f"{function.name}_kept"), source.fresh(f"{function.name}_inner")
    table = source.fresh("kept")
    keys = [each.found for each in params if each.is_key]
    types = ", ".join(source.slice(Region(each.first, each.at)).replace("const ", "").strip() for each in keys)
    kind = f"std::map<std::tuple<{types}>, {result}>"
    given = source.slice(Region(function.params[0].first, function.params[-1].end))
    names = ", ".join(each.found.name for each in params)
    key = f"std::tuple<{types}>({', '.join(each.name for each in keys)})"
    renamed = [Splice(source.tokens[i].start, source.tokens[i].end, kept) for i in calls]
    ends = [source.tokens[source.partner[i + 1]].start for i in calls]
    start, end = source.tokens[body.first - 1].start, source.tokens[body.end].end
    # the calls of a call's arguments are changed with it, so its text is put together by offsets
    changed = [*renamed, *(Splice(each, each, f", {table}") for each in ends)]
    text = spliced(source.text[:end], changed)[start:]
    lines = [
        f"{result} {kept}({given}, {kind} &{table});",
        f"{result} {inner}({given}, {kind} &{table}) {text}",
        f"{result} {kept}({given}, {kind} &{table}) {{",
        f"    const auto key = {key};",
        f"    const auto found = {table}.find(key);",
        f"    if (found != {table}.end()) return found->second;",
        f"    return {table}.emplace(key, {inner}({names}, {table})).first->second;",
        "}",
        f"{source.slice(Region(first, function.at))} {function.name}({given}) {{",
        f"    {kind} {table};",
        f"    return {kept}({names}, {table});",
        "}",
    ]
    splice = Splice(source.tokens[first].start, end, newline(source).join(lines))
    why = f"'{function.name}' computes the same values again and again"
    return Replacement(source.tokens[calls[0]].line, [*include(source, "map"), *include(source, "tuple"), splice], why)


def _start(source: CppSource, index: int) -> int:
    """Returns the index at which a function's definition begins."""
    here = index
    while here > 0 and source.word(here - 1) not in (";", "}"):
        here -= 1
    return here
