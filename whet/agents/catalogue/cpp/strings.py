"""Strings that are built anew where they could be changed in place."""

from __future__ import annotations

from collections.abc import Iterator

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.cpp.edit import CppEdit, Replacement, Splice, include, statement_start, whole
from whet.agents.catalogue.cpp.source import CppSource, Region
from whet.agents.catalogue.cpp.variables import Variable, uses, variables

_LOWER = frozenset({"?", "<", ">", "==", "!=", "<=", ">=", "<<", "&&", "||", "=", ",", "-", "+=", ":"})


class StringsInPlace(CppEdit):
    """Writes ``s += t`` for ``s = s + t``, and cuts a string off without a copy."""

    name = "string-in-place"
    label = Label.ALGORITHM
    summary = "appends to a string, or cuts it off, in place instead of building a new one"
    needs = "`s = s + t` or `s = s.substr(0, n)` with a std::string s"
    unsafe = "`s = s.substr(n)` with n beyond the end, which throws and erases nothing"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change a string."""
        for found in variables(source):
            if found.type != "string" or found.marks not in ("", "&"):
                continue
            splices: list[Splice] = []
            lines = []
            for index in uses(source, found):
                is_rebuilt = source.words(range(index, index + 3)) == [found.name, "=", found.name]
                if is_rebuilt and statement_start(source, index) == index:
                    new = list(_rebuilt(source, found, index))
                    splices += new
                    lines += [source.tokens[index].line] if new else []
            if splices:
                why = f"'{found.name}' is copied as a whole to change its end"
                yield Replacement(lines[0], _once(splices), why)


def _rebuilt(source: CppSource, found: Variable, index: int) -> Iterator[Splice]:
    end = source.statement_end(index) - 1
    name = found.name
    if source.word(end) != ";":
        return
    if source.word(index + 3) == "+":
        parts = _parts(source, Region(index + 4, end))
        if not parts or any(name in source.words(part) for part in parts[1:]):
            return
        text = name
        for number, part in enumerate(parts):
            text = f"({text}) += {source.slice(part)}" if number else f"{text} += {source.slice(part)}"
        yield whole(source, Region(index, end), text)
    elif source.words(range(index + 3, index + 6)) == [".", "substr", "("] and source.partner[index + 5] == end - 1:
        arguments = list(source.split(Region(index + 6, end - 1)))
        words = [" ".join(source.words(part)) for part in arguments]
        if len(words) == 1:
            yield whole(source, Region(index, end), f"{name}.erase(0, {source.slice(arguments[0])})")
        elif len(words) == 2 and words[0] == "0":
            if words[1] in (f"{name} . size ( ) - 1", f"{name} . length ( ) - 1"):
                text = f"{name}.resize({name}.empty() ? 0 : {name}.size() - 1)"
            else:
                text = f"{name}.resize(std::min<std::size_t>({name}.size(), {source.slice(arguments[1])}))"
                yield from include(source, "algorithm")
            yield whole(source, Region(index, end), text)


def _parts(source: CppSource, region: Region) -> list[Region]:
    """Returns the operands of a sum; none where other operators bind less."""
    parts = []
    first = here = region.first
    while here < region.end:
        word = source.word(here)
        if word in _LOWER and source.tokens[here].kind == "operator":
            return []
        if word == "+" and here > first:
            parts.append(Region(first, here))
            first = here + 1
        here = source.partner[here] + 1 if word in ("(", "[", "{") else here + 1
    return [*parts, Region(first, region.end)] if first < region.end else []


def _once(splices: list[Splice]) -> list[Splice]:
    return list(dict.fromkeys(splices))
