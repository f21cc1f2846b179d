"""Vectors that are searched from the front to learn whether they hold a value."""

from __future__ import annotations

from collections.abc import Iterator

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.cpp.edit import CppEdit, Replacement, Splice, include, indentation, newline, whole
from whet.agents.catalogue.cpp.source import CppSource, Region
from whet.agents.catalogue.cpp.variables import Variable, uses, variables

_HASHABLE = frozenset({
    "int", "long", "long long", "unsigned", "unsigned int", "unsigned long", "unsigned long long", "size_t", "char",
    "string", "int64_t", "uint64_t", "int32_t", "uint32_t", "short",
})  # fmt: skip
_READING = frozenset({"size", "empty", "begin", "end", "cbegin", "cend", "reserve", "rbegin", "rend", "capacity"})
_REORDERING = frozenset({"sort", "stable_sort", "reverse", "shuffle", "rotate"})
_SEARCHING = frozenset({"find", "count", "accumulate", "max_element", "min_element", "binary_search", "lower_bound"})


class SearchedVectors(CppEdit):
    """Keeps a hash set beside a vector that only grows, and asks that."""

    name = "vector-membership"
    label = Label.DATA_STRUCTURE
    summary = "asks a hash set, kept beside a vector, whether the vector holds a value"
    needs = "`find(v.begin(), v.end(), x) == v.end()` on a local vector of numbers or strings that only grows"
    unsafe = "keys chosen so that their hashes collide; a searched value of another type than the elements"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change a vector."""
        for found in variables(source):
            element = found.type.removeprefix("vector < ").removesuffix(" >")
            is_local = not found.marks and not found.is_member and source.word(found.at + 1) == ";"
            if not is_local or found.type != f"vector < {element} >" or element not in _HASHABLE:
                continue
            places = uses(source, found)
            searches = [search for index in places if (search := _search(source, found, index))]
            pushes = [index for index in places if source.words(range(index + 1, index + 3)) == [".", "push_back"]]
            spans = [search for search, _ in searches]
            if not searches or not all(_is_kept(source, found, index, pushes, spans) for index in places):
                continue
            yield _change(source, found, searches, pushes)


def _change(source: CppSource, found: Variable, searches: list[tuple[Region, str]], pushes: list[int]) -> Replacement:
    name = source.fresh(f"{found.name}_seen")
    words = source.words(range(found.first, found.at))
    scope = "std::" if "std" in words else ""
    opening = found.first + words.index("<")
    element = source.slice(Region(opening + 1, source.template_end(opening) or found.at))
    behind = source.tokens[found.at + 1].end
    declared = f"{newline(source)}{indentation(source, found.first)}{scope}unordered_set<{element}> {name};"
    splices = [Splice(behind, behind, declared), *include(source, "unordered_set")]
    for search, text in searches:
        splices.append(whole(source, search, text.format(f"{name}.count")))
    for push in pushes:
        start, close = source.tokens[push].start, source.partner[push + 3]
        end = source.tokens[close].end
        splices += [Splice(start, start, "("), Splice(end, end, f", {name}.insert({found.name}.back()))")]
    why = f"'{found.name}' is searched from its front for each value"
    return Replacement(source.tokens[searches[0][0].first].line, splices, why)


def _search(source: CppSource, found: Variable, index: int) -> tuple[Region, str] | None:
    """Returns a whole comparison of ``find`` with the end, and its new text, for the first name in it."""
    begin = [found.name, ".", "begin", "(", ")", ",", found.name, ".", "end", "(", ")", ","]
    if source.words(range(index, index + 12)) != begin or source.words(range(index - 2, index)) != ["find", "("]:
        return None
    first = index - 4 if source.word(index - 3) == "::" else index - 2
    close = source.partner[index - 1]
    value = source.slice(Region(index + 12, close))
    end = [found.name, ".", "end", "(", ")"]
    if source.words(range(close + 2, close + 7)) != end or source.word(close + 1) not in ("==", "!="):
        return None
    sign = "!" if source.word(close + 1) == "==" else ""
    return Region(first, close + 7), f"{sign}{{}}({value.replace('{', '{{').replace('}', '}}')})"


def _is_kept(source: CppSource, found: Variable, index: int, pushes: list[int], searches: list[Region]) -> bool:
    """Whether a place only reads the elements, orders them anew, or is a push or search that is changed."""
    if index in pushes:
        close = source.partner[index + 3]
        return source.word(close + 1) == ";" and source.word(index - 1) in (";", "{", "}", ")", "else")
    if any(index in search for search in searches):
        return True
    after = source.word(index + 1)
    if after == ".":
        return source.word(index + 2) in _READING and _is_reading_call(source, index)
    if after == "[":
        behind = source.partner[index + 1] + 1
        is_written = source.word(behind) in ("=", "+=", "-=", "*=", "++", "--", "|=", "&=", "^=", ".", "[")
        return not is_written and source.word(index - 1) not in ("&", "++", "--", ">>")
    loop = next((each for each in source.loops if index in each.header), None)
    return loop is not None and after == ")" and source.word(index - 1) == ":" and "&" not in source.words(loop.header)


def _is_reading_call(source: CppSource, index: int) -> bool:
    """Whether iterators go nowhere but to an algorithm that keeps the elements."""
    if source.word(index + 2) not in ("begin", "end", "cbegin", "cend", "rbegin", "rend"):
        return True
    here = index - 1
    while here >= 0 and source.word(here) not in ("(", ";", "{", "}"):
        here = source.partner[here] - 1 if source.word(here) in (")", "]") else here - 1
    return source.word(here) == "(" and source.word(here - 1) in _REORDERING | _SEARCHING
