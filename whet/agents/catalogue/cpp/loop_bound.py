"""Lengths that a loop asks for in each turn."""

from __future__ import annotations

from collections.abc import Iterator

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.cpp.edit import CppEdit, Replacement, Splice, before_statement
from whet.agents.catalogue.cpp.source import CppSource, LoopStatement, Region
from whet.agents.catalogue.cpp.uses import may_change

_WRITES_LENGTH = frozenset({"strcat", "strcpy", "strncat", "strncpy", "strtok", "memset", "memmove", "fgets", "gets",
    "scanf", "sscanf", "sprintf", "snprintf", "read", "fread", "getline"})  # fmt: skip


class LoopBounds(CppEdit):
    """Asks for ``strlen(s)`` or ``v.size()`` once before the loop whose condition it stands in."""

    name = "hoist-length"
    languages: tuple[str, ...] = ("c", "cpp")
    label = Label.ALGORITHM
    summary = "asks for the length in a loop's condition once before the loop"
    needs = "`strlen(s)` or `v.size()` in the condition of a loop that does not change the length"
    unsafe = "a loop that writes a zero byte into the string, or changes the container by another way"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change a loop and length."""
        for loop in source.loops:
            for call, name, function in _lengths(source, _condition(source, loop)):
                if function == "strlen":
                    is_kept = not _may_change_length(source, name, loop)
                    type_name = (
                        "const size_t" if source.has_name("size_t") or _knows_size(source) else "const unsigned long"
                    )
                else:
                    is_kept = not may_change(source, name, Region(loop.at, loop.body.end), elements=False)
                    type_name = "const auto"
                if not is_kept:
                    continue
                local = source.fresh(f"{name}_length")
                text = source.slice(call)
                first, last = source.tokens[call.first], source.tokens[call.end - 1]
                splices = [
                    *before_statement(source, loop.at, loop.body.end, f"{type_name} {local} = {text};"),
                    Splice(first.start, last.end, local),
                ]
                why = f"'{text}' is asked for in each turn of the loop; it stays the same"
                yield Replacement(source.tokens[loop.at].line, splices, why)


def _condition(source: CppSource, loop: LoopStatement) -> Region:
    if source.word(loop.at) == "while":
        return loop.header
    semicolons = [index for index in loop.header if source.word(index) == ";"]
    return Region(semicolons[0] + 1, semicolons[1]) if len(semicolons) == 2 else Region(0, 0)


def _lengths(source: CppSource, region: Region) -> Iterator[tuple[Region, str, str]]:
    """Yields ``strlen(s)`` and ``v.size()`` of a condition: the tokens, the variable, the function."""
    for index in region:
        word = source.word(index)
        if word == "strlen" and source.word(index + 1) == "(" and source.partner[index + 1] == index + 3:
            start = index - 2 if source.word(index - 1) == "::" else index
            yield Region(start, index + 4), source.word(index + 2), word
        is_method = word in ("size", "length") and source.word(index - 1) == "."
        if is_method and source.words(range(index + 1, index + 3)) == ["(", ")"]:
            yield from _length_method(source, index)


def _length_method(source: CppSource, index: int) -> Iterator[tuple[Region, str, str]]:
    if source.tokens[index - 2].kind == "name" and source.word(index - 3) not in (".", "->", "::"):
        yield Region(index - 2, index + 3), source.word(index - 2), source.word(index)


def _knows_size(source: CppSource) -> bool:
    return source.includes("string.h", "stdlib.h", "stdio.h", "stddef.h", "cstring", "cstdio", "bits/stdc++.h")


def _may_change_length(source: CppSource, name: str, loop: LoopStatement) -> bool:
    """Whether a loop may end a string earlier or later, or make the pointer point elsewhere."""
    for index in source.occurrences(name, Region(loop.header.first, loop.body.end)):
        if source.word(index - 1) in ("++", "--", "&") or source.word(index + 1) in ("=", "+=", "-=", "++", "--"):
            return True
        if source.word(index + 1) == "[":
            after = source.partner[index + 1] + 1
            if source.word(after) == "=" and source.word(after + 1) in ("0", r"'\0'"):
                return True
        opening = next((i for i in range(index - 1, -1, -1) if source.word(i) in ("(", ";", "{", "}")), 0)
        if source.word(opening) == "(" and source.word(opening - 1) in _WRITES_LENGTH:
            return True
    return False
