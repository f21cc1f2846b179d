"""The variables of a C or C++ file: their types and where they are seen."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from whet.agents.catalogue.cpp.source import CppSource, Region

_BEFORE = frozenset({"", ";", "{", "}", "(", ",", ")", ":", "<"})
_QUALIFIERS = frozenset({"const", "static", "constexpr", "mutable", "register", "thread_local", "inline", "volatile"})
_SIZES = frozenset({"unsigned", "signed", "long", "short"})
_FUNDAMENTAL = frozenset({"int", "char", "double", "float", "bool", "auto"})
_NO_TYPES = frozenset({
    "return", "else", "delete", "new", "throw", "case", "goto", "using", "typedef", "namespace", "class", "struct",
    "enum", "union", "operator", "template", "typename", "public", "private", "protected", "break", "continue", "do",
    "default", "extern", "friend", "sizeof", "not", "and", "or", "if", "for", "while", "switch", "co_return",
})  # fmt: skip
_MARKS = frozenset({"&", "*", "&&"})
_AFTER_MARKS = frozenset({"const", "restrict", "__restrict", "__restrict__"})
_BEHIND = frozenset({";", "=", ",", ")", "(", "{", "[", ":"})


class Variable(NamedTuple):
    """A variable, parameter or member.

    Attributes:
        name: as written.
        type: its type without ``std::``, qualifiers, ``&`` and ``*``; words of one type are joined by a blank.
        marks: the ``&`` and ``*`` of the declarator, ``[`` behind them for an array.
        is_const: whether it is declared so.
        at: index of the name.
        first: index at which its type begins.
        scope: the tokens that may use the name.
        is_member: whether it belongs to a class.
    """

    name: str
    type: str
    marks: str
    is_const: bool
    at: int
    first: int
    scope: Region
    is_member: bool


def variable(source: CppSource, name: str, index: int) -> Variable | None:
    """Returns the variable that a name means at a place; None where no declaration is seen."""
    seen = [each for each in variables(source) if each.name == name and index in each.scope]
    return min(seen, key=lambda each: each.scope.end - each.scope.first, default=None)


@lru_cache(maxsize=4)
def variables(source: CppSource) -> tuple[Variable, ...]:
    """Returns all variables of a file, in the order of the text."""
    return tuple(_all(source))


def uses(source: CppSource, found: Variable) -> list[int]:
    """Returns the indices at which a variable is used; its declaration and namesakes are left out."""
    return [
        index
        for index in found.scope
        if source.word(index) == found.name
        and index != found.at
        and (found.is_member or source.word(index - 1) not in (".", "->", "::"))
        and (found.is_member or variable(source, found.name, index) == found)
    ]


def is_global(source: CppSource, found: Variable) -> bool:
    """Whether a variable is seen by all functions."""
    return found.scope.end == len(source.tokens)


def _all(source: CppSource) -> Iterator[Variable]:
    for index, token in enumerate(source.tokens):
        before = source.word(index - 1)
        if token.kind != "name" or before not in _BEFORE or token.text in _NO_TYPES:
            continue
        if before == "<" or (before == "," and not _is_in_parameters(source, index)):
            continue
        end = type_end(source, index)
        if end is None:
            continue
        words = [word for word in source.words(range(index, end)) if word not in _QUALIFIERS]
        is_const = "const" in source.words(range(index, end))
        text = " ".join(words).replace("std :: ", "")
        is_statement = before not in ("(", ",")
        for at, marks in _declarators(source, end, is_statement):
            scope, is_member = _scope(source, index, at)
            yield Variable(source.word(at), text, marks, is_const, at, index, scope, is_member)


def type_end(source: CppSource, index: int) -> int | None:
    """Returns the index behind a type that begins at ``index``, without ``&`` and ``*``; None where there is none."""
    here = index
    while source.word(here) in _QUALIFIERS:
        here += 1
    if source.word(here) in _SIZES:
        while source.word(here) in _SIZES or source.word(here) in _QUALIFIERS:
            here += 1
        return here + 1 if source.word(here) in _FUNDAMENTAL else here
    if source.word(here) in ("struct", "class", "typename"):
        here += 1
    while source.word(here + 1) == "::":
        here += 2
    is_name = 0 <= here < len(source.tokens) and source.tokens[here].kind == "name"
    if not is_name or source.word(here) in _NO_TYPES:
        return None
    here += 1
    if source.word(here) == "<":
        close = source.template_end(here)
        if close is None:
            return None
        here = close + 1
        if source.word(here) == "::":
            return here + 2
    if source.word(here) == "const":
        here += 1
    return here


def _declarators(source: CppSource, here: int, is_statement: bool) -> Iterator[tuple[int, str]]:
    """Yields the names that follow a type, each with its marks."""
    while True:
        marks = ""
        while source.word(here) in _MARKS or source.word(here) in _AFTER_MARKS:
            marks += source.word(here) if source.word(here) in _MARKS else ""
            here += 1
        is_name = here < len(source.tokens) and source.tokens[here].kind == "name"
        behind = source.word(here + 1)
        if not is_name or source.word(here) in _NO_TYPES or behind not in _BEHIND:
            return
        if behind == "(" and source.word(source.partner.get(here + 1, here) + 1) in ("{", "const", "noexcept", "->"):
            return  # a function
        at = here
        yield at, marks + ("[" if behind == "[" else "")
        while is_statement and here < len(source.tokens) and source.word(here) not in (",", ";", ")", "}", ":"):
            here = source.partner[here] + 1 if source.word(here) in ("(", "[", "{") else here + 1
        if not is_statement or source.word(here) != ",":
            return
        here += 1


def _is_in_parameters(source: CppSource, index: int) -> bool:
    return (
        any(index in param for each in source.functions for param in each.params) or _lambda(source, index) is not None
    )


def _scope(source: CppSource, first: int, at: int) -> tuple[Region, bool]:
    """Returns where a declared name is seen, and whether it is a member."""
    for function in source.functions:
        if any(first in param for param in function.params):
            return Region(at, function.body.end if function.body else at + 1), False
    if source.word(first - 1) == "(":
        for loop in source.loops:
            if first == loop.header.first:
                return Region(at, loop.body.end), False
    body = _lambda(source, first)
    if body is not None:
        return Region(at, body.end), False
    block = source.block_around(at)
    is_member = is_class(source, block)
    return (Region(0, len(source.tokens)) if is_member else Region(at, block.end)), is_member


def _lambda(source: CppSource, index: int) -> Region | None:
    """Returns the body of the lambda in whose parameters a token stands."""
    here = index - 1
    while here >= 0 and source.word(here) not in ("(", ";", "{", "}"):
        here = source.partner[here] - 1 if source.word(here) in (")", "]") else here - 1
    if source.word(here) != "(" or source.word(here - 1) != "]":
        return None
    after = source.partner[here] + 1
    while source.word(after) not in ("{", ";", ")", ""):
        after += 1
    return Region(after + 1, source.partner[after]) if source.word(after) == "{" else None


def is_class(source: CppSource, block: Region) -> bool:
    """Whether a block holds the members of a class."""
    here = block.first - 2
    while here >= 0 and source.word(here) not in (";", "{", "}", ")"):
        if source.word(here) in ("struct", "class"):
            return True
        here -= 1
    return False
