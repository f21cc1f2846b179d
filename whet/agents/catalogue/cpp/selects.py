"""Branches on data in a loop, where a choice would do."""

from __future__ import annotations

from collections.abc import Iterator

from whet.agents.catalogue.cpp.counted import element, is_integer
from whet.agents.catalogue.cpp.edit import FunctionEdit, Replacement, Splice
from whet.agents.catalogue.cpp.source import CppSource, Region

_SIGNS = ("+=", "-=", "|=", "^=")
_EFFECTS = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--", "{", "}"})


class Selects(FunctionEdit):
    """Writes a choice of values for a branch, so that no turn depends on a guess of the processor."""

    name = "branch-free-select"
    summary = "chooses a value instead of branching around an addition, a store, or an element that is kept"
    needs = "in a loop, `if (c) sum += x;` or `k++` on integers, `if (c) y[i] = x;`, or `if (c) out[k++] = x;`"
    unsafe = "an element that may not be touched where the condition is false: behind the array, or another thread's"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change a branch."""
        for index, token in enumerate(source.tokens):
            if token.text != "if" or source.word(index + 1) != "(" or source.word(index - 1) == "else":
                continue
            if not any(index in loop.body for loop in source.loops):
                continue
            close = source.partner[index + 1]
            test = Region(index + 2, close)
            end = source.statement_end(index)
            text = _chosen(source, test, close + 1, end)
            if text and "{" not in source.words(test):
                splice = Splice(token.start, source.tokens[end - 1].end, text)
                why = f"the processor has to guess '{source.slice(test)}' in each turn"
                yield Replacement(token.line, [splice], why)


def _chosen(source: CppSource, test: Region, start: int, end: int) -> str:
    """Returns the statement without a branch; an empty text where it cannot be one."""
    middle = source.statement_end(start)
    then = _statement(source, Region(start, middle))
    asked = f"({source.slice(test)})"
    if source.word(middle) == "else":
        other = _statement(source, Region(middle + 1, end))
        return _either(source, asked, then, other)
    words = source.words(then)
    if words[1:] == ["++"] or words[:1] == ["++"] or words[1:] == ["+=", "1"]:
        name = then.first + (words[0] == "++")
        return f"{source.word(name)} += {asked} ? 1 : 0;" if then and is_integer(source, name) else ""
    if words[1:2] and words[1] in _SIGNS and is_integer(source, then.first):
        value = Region(then.first + 2, then.end)
        return f"{words[0]} {words[1]} {asked} ? {source.slice(value)} : 0;" if _is_pure(source, value) else ""
    return _kept(source, asked, then) or _stored(source, asked, then)


def _statement(source: CppSource, region: Region) -> Region:
    """Returns a single statement without its semicolon and braces; an empty region where they are several."""
    if source.word(region.first) == "{":
        region = Region(region.first + 1, region.end - 1)
    inner = Region(region.first, region.end - 1)
    is_single = source.word(inner.end) == ";" and ";" not in source.words(inner)
    return inner if is_single else Region(region.first, region.first)


def _element(source: CppSource, statement: Region) -> Region | None:
    """Returns the tokens of ``y[...]`` in ``y[...] = value``, whose index has no effect."""
    if source.word(statement.first + 1) != "[" or element(source, statement.first) is None:
        return None
    place = Region(statement.first, source.partner[statement.first + 1] + 1)
    return place if source.word(place.end) == "=" and _is_pure(source, place) else None


def _either(source: CppSource, asked: str, then: Region, other: Region) -> str:
    places = _element(source, then), _element(source, other)
    if places[0] is None or places[1] is None or source.words(places[0]) != source.words(places[1]):
        return ""
    values = [Region(place.end + 1, part.end) for place, part in zip(places, (then, other), strict=True) if place]
    if not all(_is_pure(source, value) for value in values):
        return ""
    return f"{source.slice(places[0])} = {asked} ? {source.slice(values[0])} : {source.slice(values[1])};"


def _stored(source: CppSource, asked: str, then: Region) -> str:
    place = _element(source, then)
    if place is None or not _is_pure(source, value := Region(place.end + 1, then.end)):
        return ""
    name = source.slice(place)
    return f"{name} = {asked} ? {source.slice(value)} : {name};"


def _kept(source: CppSource, asked: str, then: Region) -> str:
    """Returns what keeps an element for ``out[k++] = value``."""
    array, count = then.first, then.first + 2
    words = source.words(then)
    is_kept = words[1:2] == ["["] and words[3:6] == ["++", "]", "="] and is_integer(source, count)
    if not is_kept or element(source, array) is None or not _is_pure(source, value := Region(then.first + 6, then.end)):
        return ""
    keep, place = source.fresh("keep"), f"{words[0]}[{words[2]}]"
    return (
        f"{{ const int {keep} = {asked} ? 1 : 0; {place} = {keep} ? {source.slice(value)} : {place}; "
        f"{words[2]} += {keep}; }}"
    )


def _is_pure(source: CppSource, region: Region) -> bool:
    return region.first < region.end and not any(
        source.word(index) in _EFFECTS or (source.tokens[index].kind == "name" and source.word(index + 1) == "(")
        for index in region
    )
