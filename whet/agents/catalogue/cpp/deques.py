"""Vectors that give from their front."""

from __future__ import annotations

from collections.abc import Iterator

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.cpp.edit import CppEdit, Replacement, Splice, include, whole
from whet.agents.catalogue.cpp.source import CppSource, Region
from whet.agents.catalogue.cpp.variables import Variable, uses, variables

_BOTH_HAVE = frozenset({
    "push_back", "emplace_back", "pop_back", "front", "back", "size", "empty", "begin", "end", "clear", "at",
    "rbegin", "rend", "resize", "assign", "erase", "insert",
})  # fmt: skip


class FrontDeques(CppEdit):
    """Makes a deque of a vector whose first element is erased or whose front is inserted at."""

    name = "vector-to-deque"
    label = Label.DATA_STRUCTURE
    summary = "takes from and puts to the front of a deque instead of moving all elements of a vector"
    needs = "a local vector with `q.erase(q.begin())` or `q.insert(q.begin(), x)`, whose other uses a deque has too"
    unsafe = "references or iterators that are kept while the front changes"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change a vector."""
        for found in variables(source):
            if not found.type.startswith("vector <") or found.marks or found.is_member:
                continue
            places = uses(source, found)
            if not _is_alone(source, found):
                continue
            fronts = [front for index in places if (front := _front(source, found, index))]
            declared = " ".join(source.words(range(found.first, found.at)))
            if fronts and "vector < bool" not in declared and all(_fits(source, found, index) for index in places):
                vector = next(at for at in range(found.first, found.at) if source.word(at) == "vector")
                splices = [whole(source, Region(vector, vector + 1), "deque"), *include(source, "deque")]
                why = f"each change at the front of '{found.name}' moves all its elements"
                yield Replacement(source.tokens[places[0]].line, [*splices, *fronts], why)


def _front(source: CppSource, found: Variable, index: int) -> Splice | None:
    """Returns what makes a deque's call of one that changes the front."""
    begin = [found.name, ".", "begin", "(", ")"]
    if source.word(index + 1) != "." or source.words(range(index + 4, index + 9)) != begin:
        return None
    close = source.partner[index + 3]
    if source.word(close + 1) != ";" or source.word(index - 1) not in (";", "{", "}", ")", "else"):
        return None
    if source.word(index + 2) == "erase" and close == index + 9:
        return whole(source, Region(index, close + 1), f"{found.name}.pop_front()")
    arguments = list(source.split(Region(index + 4, close)))
    if source.word(index + 2) == "insert" and len(arguments) == 2 and source.word(arguments[1].first) != "{":
        return whole(source, Region(index, close + 1), f"{found.name}.push_front({source.slice(arguments[1])})")
    return None


def _fits(source: CppSource, found: Variable, index: int) -> bool:
    """Whether a deque can be used in the same way at a place."""
    after = source.word(index + 1)
    if after == ".":
        return source.word(index + 2) in _BOTH_HAVE
    is_ranged = after == ")" and source.word(index - 1) == ":"
    return is_ranged or (after == "[" and source.word(index - 1) != "&")


def _is_alone(source: CppSource, found: Variable) -> bool:
    """Whether a declaration is a statement of its own that makes nothing else."""
    end = source.statement_end(found.first)
    return source.word(end - 1) == ";" and len(list(source.split(Region(found.first, end - 1)))) == 1
