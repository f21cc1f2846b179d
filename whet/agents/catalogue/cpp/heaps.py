"""Vectors that are sorted again and again to take their end."""

from __future__ import annotations

from collections.abc import Iterator

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.cpp.edit import CppEdit, Replacement, Splice, include, whole
from whet.agents.catalogue.cpp.source import CppSource, Region
from whet.agents.catalogue.cpp.variables import Variable, uses, variables

_SMALLER_LAST = ("greater < >", "greater < {} >")


class SortedHeaps(CppEdit):
    """Makes a priority queue of a vector that a loop sorts to take its last or first element."""

    name = "sort-to-heap"
    label = Label.DATA_STRUCTURE
    summary = "takes the largest or smallest from a priority queue instead of sorting a vector for each"
    needs = "a local vector, sorted whole in a loop, of which only the end behind is taken, or only the front"
    unsafe = "elements that are equal but differ, whose order a sort leaves to chance too"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change a vector."""
        for found in variables(source):
            element = found.type.removeprefix("vector < ").removesuffix(" >")
            is_local = not found.marks and not found.is_member and source.word(found.at + 1) == ";"
            if not is_local or found.type != f"vector < {element} >":
                continue
            change = _heap(source, found, element)
            if change is not None:
                yield change


def _heap(source: CppSource, found: Variable, element: str) -> Replacement | None:
    places = uses(source, found)
    sorts = [sort for index in places if (sort := _sort(source, found, index, element))]
    covered = [index for index in places if any(index in span for span, _, _ in sorts)]
    looped = any(sort[2] in loop.body for sort in sorts for loop in source.loops if found.at not in loop.body)
    orders = {order for _, order, _ in sorts}
    if len(orders) != 1 or not looped:
        return None
    splices: list[Splice] = []
    taken: set[str] = set()
    end = 0
    for index in places:
        if index in covered or index < end:
            continue
        use = _use(source, found, index)
        if use is None:
            return None
        end, text, side = use
        taken |= {side} - {""}
        splices += [whole(source, Region(index, end), text)] if text else []
    if len(taken) != 1:
        return None
    greatest = (orders == {"rising"}) == (taken == {"back"})
    words = source.words(range(found.first, found.at))
    scope = "std::" if "std" in words else ""
    opening = found.first + words.index("<")
    kind = source.slice(Region(opening + 1, source.template_end(opening) or found.at))
    least = "" if greatest else f", {scope}vector<{kind}>, {scope}greater<{kind}>"
    head = whole(source, Region(found.first, found.at), f"{scope}priority_queue<{kind}{least}>")
    gone = [whole(source, span, ";") for span, _, _ in sorts]
    headers = [*include(source, "queue"), *include(source, "functional")]
    why = f"'{found.name}' is sorted again for each element that is taken"
    return Replacement(source.tokens[sorts[0][2]].line, [*headers, head, *gone, *splices], why)


def _sort(source: CppSource, found: Variable, index: int, element: str) -> tuple[Region, str, int] | None:
    """Returns a statement ``sort(v.begin(), v.end());``, its order, and where it stands, for the first name in it."""
    call = [found.name, ".", "begin", "(", ")", ",", found.name, ".", "end", "(", ")"]
    if source.words(range(index, index + 11)) != call or source.words(range(index - 2, index)) != ["sort", "("]:
        return None
    close = source.partner[index - 1]
    first = index - 4 if source.word(index - 3) == "::" else index - 2
    rest = " ".join(word for word in source.words(range(index + 12, close)) if word not in ("std", "::"))
    falling = [f"{form.format(element)} {tail}" for form in _SMALLER_LAST for tail in ("( )", "{ }")]
    if source.word(close + 1) != ";" or (rest and rest not in falling):
        return None
    return Region(first, close + 2), "falling" if rest else "rising", index


def _use(source: CppSource, found: Variable, index: int) -> tuple[int, str, str] | None:
    """Returns the index behind a use, what a heap has for it (nothing where it is the same), and the end it takes."""
    name, method = found.name, source.word(index + 2)
    if source.words(range(index + 1, index + 4)) == ["[", "0", "]"]:
        behind = index + 4
        return None if source.word(behind) in ("=", "+=", "-=", "++", "--") else (behind, f"{name}.top()", "front")
    if source.word(index + 1) != "." or source.word(index + 3) != "(":
        return None
    close = source.partner[index + 3]
    is_written = source.word(close + 1) in ("=", "+=", "-=", "++", "--")
    if method in ("size", "empty"):
        return close + 1, "", ""
    if method in ("push_back", "emplace_back"):
        new = "push" if method == "push_back" else "emplace"
        return close + 1, f"{name}.{new}({source.slice(Region(index + 4, close))})", ""
    if method in ("back", "front") and close == index + 4 and not is_written:
        return close + 1, f"{name}.top()", method
    if method == "pop_back" and close == index + 4:
        return close + 1, f"{name}.pop()", "back"
    if method == "erase" and source.words(range(index + 4, close)) == [name, ".", "begin", "(", ")"]:
        return close + 1, f"{name}.pop()", "front"
    return None
