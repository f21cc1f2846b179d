"""Containers that are copied for each call."""

from __future__ import annotations

from collections.abc import Iterator

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.cpp.edit import CppEdit, Replacement, Splice
from whet.agents.catalogue.cpp.source import CppSource, Function, Region
from whet.agents.catalogue.cpp.uses import may_change

CONTAINERS = frozenset({
    "vector", "string", "wstring", "map", "set", "multimap", "multiset", "unordered_map", "unordered_set",
    "deque", "list", "array", "pair", "tuple", "bitset", "shared_ptr", "function",
})  # fmt: skip
_INSERTS_ON_INDEX = frozenset({"map", "unordered_map"})


class ConstReferences(CppEdit):
    """Takes ``const T&`` for a container that a function takes by value and only reads."""

    name = "const-reference"
    label = Label.ALGORITHM
    summary = "passes a container or string by const reference instead of copying it for each call"
    needs = "a parameter of a standard container type, taken by value, that the function does not change"
    unsafe = "a function that changes the caller's object by another way while it reads the parameter"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change a function."""
        for function in source.functions:
            same = [each for each in source.functions if each.name == function.name]
            is_only = [each for each in same if each.body is not None] == [function]
            if not is_only or function.body is None or function.name == source.symbol:
                continue
            copied = {
                position: splices
                for position, param in enumerate(function.params)
                if (splices := _by_reference(source, param, function.body))
            }
            splices = [each for found in copied.values() for each in found]
            for position in copied:
                splices += _in_declarations(source, same, function, position)
            if splices:
                names = ", ".join(f"'{source.word(_name_at(source, function.params[p]))}'" for p in copied)
                why = f"'{function.name}' copies {names} on each call and only reads it"
                yield Replacement(source.tokens[function.at].line, splices, why, _calls(source, function.name))


def _calls(source: CppSource, name: str) -> tuple[int, ...]:
    """Returns the lines on which a function is called: the copies are made there, and profiles say so."""
    everywhere = source.occurrences(name, Region(0, len(source.tokens)))
    return tuple(dict.fromkeys(source.tokens[at].line for at in everywhere if source.word(at + 1) == "("))


def _by_reference(source: CppSource, param: Region, body: Region) -> list[Splice]:
    """Returns what makes a const reference of a parameter; nothing where it is none to be changed."""
    end = type_end(source, param)
    name = _name_at(source, param)
    if end is None or end != name or name >= param.end:
        return []
    word = source.word(name)
    container = next(each for each in source.words(param) if each in CONTAINERS)
    if may_change(source, word, body):
        return []
    indexed = [index for index in source.occurrences(word, body) if source.word(index + 1) == "["]
    if container not in _INSERTS_ON_INDEX or not indexed:
        return _splices(source, param, end)
    if len(indexed) < len(source.occurrences(word, body)):  # another look could tell that nothing was inserted
        return []
    looked_up = [_looked_up(source, index, param) for index in indexed]
    return [*_splices(source, param, end), *(each for each in looked_up if each)] if all(looked_up) else []


def _looked_up(source: CppSource, index: int, param: Region) -> Splice | None:
    """Returns what reads ``m[k]`` without inserting it; None where the key's evaluation may have an effect."""
    opening = param.first + source.words(param).index("<")
    parts = list(source.split(Region(opening + 1, source.template_end(opening) or param.end)))
    close = source.partner[index + 1]
    key = Region(index + 2, close)
    if len(parts) < 2 or set(source.words(key)) & {"(", "++", "--", "="}:
        return None
    name, text = source.word(index), source.slice(key)
    found = f"({name}.count({text}) ? {name}.at({text}) : {source.slice(parts[1])}())"
    return Splice(source.tokens[index].start, source.tokens[close].end, found)


def _splices(source: CppSource, param: Region, end: int) -> list[Splice]:
    first, last = source.tokens[param.first], source.tokens[end - 1]
    const = [] if first.text == "const" else [Splice(first.start, first.start, "const ")]
    return [*const, Splice(last.end, last.end, "&")]


def _in_declarations(source: CppSource, same: list[Function], definition: Function, position: int) -> Iterator[Splice]:
    """Yields the same change of the function's declarations."""
    wanted = definition.params[position]
    wanted_type = source.words(Region(wanted.first, type_end(source, wanted) or wanted.end))
    for each in same:
        if each.body is None and len(each.params) == len(definition.params):
            param = each.params[position]
            end = type_end(source, param)
            if end is not None and source.words(Region(param.first, end)) == wanted_type:
                yield from _splices(source, param, end)


def type_end(source: CppSource, region: Region) -> int | None:
    """Returns the index behind a container's type at the start of a region; None where there is another."""
    here = region.first
    while source.word(here) in ("const", "std", "::"):
        here += 1
    if source.word(here) not in CONTAINERS:
        return None
    here += 1
    if source.word(here) == "<":
        close = source.template_end(here)
        return None if close is None else close + 1
    return here


def _name_at(source: CppSource, param: Region) -> int:
    """Returns the index of a parameter's name."""
    words = source.words(param)
    return param.first + (words.index("=") if "=" in words else len(words)) - 1
