"""Elements that are copied in each turn of a range-based loop."""

from __future__ import annotations

from collections.abc import Iterator

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.cpp.const_ref import CONTAINERS, type_end
from whet.agents.catalogue.cpp.edit import CppEdit, Replacement, Splice
from whet.agents.catalogue.cpp.source import CppSource, LoopStatement, Region
from whet.agents.catalogue.cpp.uses import may_change


class LoopReferences(CppEdit):
    """Takes ``const T&`` for a loop variable that copies each element and only reads it."""

    name = "loop-reference"
    label = Label.ALGORITHM
    summary = "looks at the elements of a container by const reference instead of copying each"
    needs = "`for (T x : xs)` with a container, string, pair or auto as T, where the body changes neither x nor xs"
    unsafe = "a body that changes the container by another way"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change a loop."""
        for loop in source.loops:
            words = source.words(loop.header)
            if source.word(loop.at) != "for" or ":" not in words or ";" in words:
                continue
            colon = loop.header.first + words.index(":")
            splices = _by_reference(source, loop, colon)
            if splices:
                why = f"'{source.slice(loop.header)}' copies each element and only reads it"
                yield Replacement(source.tokens[loop.at].line, splices, why)


def _by_reference(source: CppSource, loop: LoopStatement, colon: int) -> list[Splice]:
    declared = Region(loop.header.first, colon)
    over = Region(colon + 1, loop.header.end)
    end = _type_end(source, declared, over)
    if end is None or source.word(end) in ("&", "&&", "*"):
        return []
    names = [source.word(i) for i in range(end, colon) if source.tokens[i].kind == "name"]
    watched = [*names, *(source.word(i) for i in over if source.tokens[i].kind == "name")]
    if not names or any(may_change(source, name, loop.body) for name in watched):
        return []
    first, last = source.tokens[declared.first], source.tokens[end - 1]
    const = [] if first.text == "const" else [Splice(first.start, first.start, "const ")]
    return [*const, Splice(last.end, last.end, "&")]


def _type_end(source: CppSource, declared: Region, over: Region) -> int | None:
    here = declared.first + 1 if source.word(declared.first) == "const" else declared.first
    if source.word(here) != "auto":
        return type_end(source, declared)
    return here + 1 if _holds_containers(source, source.word(over.first)) else None


def _holds_containers(source: CppSource, name: str) -> bool:
    """Whether a variable is declared as a container of things that cost something to copy."""
    for index in source.occurrences(name):
        before = index - 1
        while source.word(before) in ("&", "const"):
            before -= 1
        if source.word(before) != ">":
            continue
        depth, here = 0, before
        while here >= 0 and (here == before or depth > 0):
            depth += {">": 1, "<": -1}.get(source.word(here), 0)
            here -= 1
        inner = set(source.words(range(here + 1, before)))
        if source.word(here) in ("map", "unordered_map", "multimap") or inner & CONTAINERS:
            return True
    return False
