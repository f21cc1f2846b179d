"""Ordered containers whose order nobody asks for."""

from __future__ import annotations

from collections.abc import Iterator

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.cpp.edit import CppEdit, Replacement, Splice, include
from whet.agents.catalogue.cpp.source import CppSource, Region

_HASHABLE = frozenset({
    "int", "long", "long long", "unsigned", "unsigned int", "unsigned long", "unsigned long long", "short", "char",
    "bool", "size_t", "std :: size_t", "int64_t", "uint64_t", "int32_t", "uint32_t", "string", "std :: string",
    "ll", "LL", "ull", "i64", "u64", "long int", "long long int", "double", "float",
})  # fmt: skip
_UNORDERED = frozenset({
    "find", "count", "insert", "emplace", "erase", "size", "empty", "at", "clear", "end", "contains", "try_emplace",
    "insert_or_assign",
})  # fmt: skip


class UnorderedContainers(CppEdit):
    """Takes a hash table for a ``map`` or ``set`` that is only looked into."""

    name = "ordered-to-unordered"
    label = Label.DATA_STRUCTURE
    summary = "takes unordered_map or unordered_set for a map or set whose order is never used"
    needs = "a map or set with a simple key that is neither iterated, nor compared, nor handed on"
    unsafe = "iterators kept over an insertion; keys chosen so that their hashes collide"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change a declaration."""
        for index, token in enumerate(source.tokens):
            if token.text not in ("map", "set") or source.word(index + 1) != "<":
                continue
            names = _declared(source, index)
            looks = [_looks(source, name, index) for name in names]
            if looks and all(looks):
                splices = [
                    Splice(token.start, token.end, f"unordered_{token.text}"),
                    *include(source, f"unordered_{token.text}"),
                ]
                why = f"the order of '{names[0]}' is never used; a hash table finds a key at once"
                first = min(each[0] for each in looks if each)
                yield Replacement(source.tokens[first].line, splices, why)


def _declared(source: CppSource, index: int) -> list[str]:
    """Returns the variables that a declaration with this type makes; none where it is no such declaration."""
    before = index - 2 if source.word(index - 1) == "::" else index
    before -= 1
    while source.word(before) in ("static", "const", "thread_local"):
        before -= 1
    close = source.template_end(index + 1)
    if close is None or source.word(before) not in ("", ";", "{", "}", ")", ":"):
        return []
    arguments = list(source.split(Region(index + 2, close)))
    is_map = source.word(index) == "map"
    if len(arguments) != (2 if is_map else 1) or " ".join(source.words(arguments[0])) not in _HASHABLE:
        return []
    names: list[str] = []
    here = close + 1
    while source.tokens[here].kind == "name":
        names.append(source.word(here))
        here += 1
        if source.word(here) == "=" and source.word(here + 1) == "{":
            here += 1
        if source.word(here) == "{":
            here = source.partner[here] + 1
        if source.word(here) == ";":
            return names
        if source.word(here) != ",":
            return []
        here += 1
    return []


def _looks(source: CppSource, name: str, declaration: int) -> list[int]:
    """Returns the places that look into a container; none where one of them needs an order."""
    region = source.block_around(declaration)
    is_member = _is_class(source, region)
    where = range(len(source.tokens)) if is_member else region
    statement_end = source.statement_end(declaration)
    found = [
        index
        for index in where
        if source.word(index) == name
        and not declaration < index < statement_end
        and (is_member or source.word(index - 1) not in (".", "->"))
    ]
    return found if all(_is_looked_into(source, index) for index in found) else []


def _is_class(source: CppSource, block: Region) -> bool:
    here = block.first - 2
    while here >= 0 and source.word(here) not in (";", "{", "}", ")"):
        if source.word(here) in ("struct", "class"):
            return True
        here -= 1
    return False


def _is_looked_into(source: CppSource, index: int) -> bool:
    """Whether one occurrence does nothing that needs an order."""
    after = source.word(index + 1)
    if after == "[":
        return source.word(index - 1) != "&"
    if after not in (".", "->"):
        return False
    method = source.word(index + 2)
    if method not in _UNORDERED or source.word(index + 3) != "(":
        return False
    behind = source.partner[index + 3] + 1
    if method == "end":
        return "==" in (source.word(index - 1), source.word(behind)) or "!=" in (
            source.word(index - 1),
            source.word(behind),
        )
    return not _is_stepped(source, index)


def _is_stepped(source: CppSource, index: int) -> bool:
    """Whether the iterator that ``it = name.find(...)`` gives is moved on, or is of a written-out type."""
    if source.word(index - 1) != "=":
        return source.word(index - 1) in ("++", "--") or source.word(index - 2) in ("prev", "next")
    kept = source.word(index - 2)
    if source.word(index - 3) == "iterator" or source.word(index - 3) == "const_iterator":
        return True
    return any(
        {source.word(each - 1), source.word(each + 1)} & {"++", "--"} or source.word(each - 2) in ("prev", "next")
        for each in source.occurrences(kept, source.block_around(index))
    )
