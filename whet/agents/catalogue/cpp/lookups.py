"""Keys that are looked up twice."""

from __future__ import annotations

from collections.abc import Iterator

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.cpp.edit import CppEdit, Replacement, Splice, whole
from whet.agents.catalogue.cpp.source import CppSource, Region
from whet.agents.catalogue.cpp.uses import may_change
from whet.agents.catalogue.cpp.variables import Variable, uses, variables

_CHANGING = frozenset({"erase", "clear", "insert", "emplace", "swap", "extract", "merge", "try_emplace"})


class LookupsOnce(CppEdit):
    """Keeps the iterator of ``if (m.count(k))`` for the ``m[k]`` behind it."""

    name = "lookup-once"
    label = Label.DATA_STRUCTURE
    summary = "keeps what a look-up of a map has found instead of looking the key up again"
    needs = "`if (m.count(k))` or `if (m.find(k) != m.end())` on a map, with `m[k]` or `m.at(k)` in what follows"
    unsafe = "code that erases the key meanwhile, by another way than the map's name"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change a condition."""
        for found in variables(source):
            if not found.type.startswith(("map <", "unordered_map <")) or found.marks not in ("", "&"):
                continue
            for index in uses(source, found):
                change = _once(source, found, index)
                if change is not None:
                    yield change


def _once(source: CppSource, found: Variable, index: int) -> Replacement | None:
    asked = source.word(index + 2)
    is_condition = source.words(range(index - 2, index)) == ["if", "("] and source.word(index + 3) == "("
    if not is_condition or source.word(index + 1) != "." or asked not in ("count", "find"):
        return None
    close = source.partner[index + 3]
    end = source.partner[index - 1]
    if not _asks(source, found, asked, close, end):
        return None
    key = Region(index + 4, close)
    words = source.words(key)
    body = Region(end + 1, source.statement_end(end + 1))
    again = [each for each in uses(source, found) if each in body]
    same = [place for each in again if (place := _same(source, each, words))]
    is_changed = any(source.words(range(each + 1, each + 3))[1] in _CHANGING for each in again) or any(
        may_change(source, word, body) for at, word in zip(key, words, strict=True) if source.tokens[at].kind == "name"
    )
    if not same or is_changed or len(same) != len(again) or "(" in words:
        return None
    name = source.fresh(f"{found.name}_at")
    condition = f"auto {name} = {found.name}.find({source.slice(key)}); {name} != {found.name}.end()"
    splices: list[Splice] = [whole(source, Region(index, end), condition)]
    splices += [whole(source, place, f"{name}->second") for place in same]
    return Replacement(
        source.tokens[index].line, splices, f"a key of '{found.name}' is looked up again once it is found"
    )


def _asks(source: CppSource, found: Variable, asked: str, close: int, end: int) -> bool:
    """Whether the condition asks for nothing but the presence of a key."""
    rest = source.words(range(close + 1, end))
    if asked == "count":
        return rest in ([], [">", "0"], ["!=", "0"], ["==", "1"])
    return rest == ["!=", found.name, ".", "end", "(", ")"]


def _same(source: CppSource, index: int, key: list[str]) -> Region | None:
    """Returns ``m[k]`` or ``m.at(k)`` at a place, where the key is the same."""
    opening = index + 1 if source.word(index + 1) == "[" else index + 3
    is_access = source.word(index + 1) == "[" or source.words(range(index + 1, index + 4)) == [".", "at", "("]
    if not is_access or source.words(range(opening + 1, source.partner[opening])) != key:
        return None
    return Region(index, source.partner[opening] + 1)
