"""Nested loops that walk through the columns of what lies in rows."""

from __future__ import annotations

from collections.abc import Iterator

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.cpp.counted import head
from whet.agents.catalogue.cpp.edit import CppEdit, Replacement, whole
from whet.agents.catalogue.cpp.source import CppSource, LoopStatement, Region
from whet.agents.catalogue.cpp.uses import may_change

_PLAIN = frozenset({"+", "-", "*", "/", "(", ")", "[", "]", ";", "=", "+=", "-=", "&", "|", "^", "%", "|=", "^=", "&="})


class LoopInterchange(CppEdit):
    """Exchanges two nested loops whose inner one walks down a column."""

    name = "loop-interchange"
    languages: tuple[str, ...] = ("c", "cpp")
    label = Label.ALGORITHM
    summary = "exchanges two nested counting loops, so that the inner one walks along the rows of arrays"
    needs = (
        "two loops with bounds of their own around one assignment to an element, whose right side reads other arrays"
    )
    unsafe = "arrays that overlap; an element that several turns assign to"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change a pair of loops."""
        for outer in source.loops:
            inner = _inner(source, outer)
            if inner is None:
                continue
            first, second = _counter(source, outer), _counter(source, inner)
            if first and second and first != second and _may_swap(source, outer, inner, first, second):
                heads = source.slice(outer.header), source.slice(inner.header)
                splices = [whole(source, outer.header, heads[1]), whole(source, inner.header, heads[0])]
                why = f"the loop over '{second}' steps from row to row"
                yield Replacement(source.tokens[inner.at].line, splices, why)


def _inner(source: CppSource, outer: LoopStatement) -> LoopStatement | None:
    """Returns the loop that is all of another one's body."""
    is_block = source.word(outer.body.first) == "{"
    first = outer.body.first + is_block
    inner = next((each for each in source.loops if each.at == first), None)
    return inner if inner is not None and inner.body.end == outer.body.end - is_block else None


def _counter(source: CppSource, loop: LoopStatement) -> str:
    """Returns the variable of ``for (T i = a; i < b; i++)``; an empty text for other loops."""
    parts = head(source, loop)
    if source.word(loop.at) != "for" or len(parts) != 3:
        return ""
    start, condition, step = (source.words(part) for part in parts)
    name = condition[0] if condition else ""
    is_counted = step in ([name, "++"], ["++", name]) and condition[1:2] in (["<"], ["<="])
    return name if is_counted and len(start) > 3 and start[-3:-1] == [name, "="] and "," not in start else ""


def _may_swap(source: CppSource, outer: LoopStatement, inner: LoopStatement, first: str, second: str) -> bool:
    """Whether both orders give the same, and the other one walks along more rows."""
    heads = [*source.words(outer.header), *source.words(inner.header)]
    names = {word for word, at in zip(heads, [*outer.header, *inner.header], strict=True) if _is_name(source, at)}
    if second in source.words(outer.header) or first in source.words(inner.header) or "(" in heads:
        return False
    if any(may_change(source, name, inner.body) for name in names):
        return False
    is_block = source.word(inner.body.first) == "{"
    body = Region(inner.body.first + is_block, inner.body.end - is_block)
    words = source.words(body)
    if words.count(";") != 1 or words[-1] != ";" or any(_is_other(source, index) for index in body):
        return False
    target = words[0]
    sign = next((word for word in words if word.endswith("=")), "")
    left = words[: words.index(sign)] if sign else []
    # an element that several turns add to must get its parts in the same order
    is_element = first in left or second in left
    is_own = target not in words[1:] and "[" in left and (sign != "=" or {first, second} <= set(left))
    return is_element and is_own and _gain(source, body, first, second) > 0


def _is_name(source: CppSource, index: int) -> bool:
    return source.tokens[index].kind == "name"


def _is_other(source: CppSource, index: int) -> bool:
    """Whether a token makes more of a statement than an assignment of elements and numbers."""
    token = source.tokens[index]
    is_call = token.kind == "name" and source.word(index + 1) == "("
    return is_call or (token.kind not in ("name", "number") and token.text not in _PLAIN)


def _gain(source: CppSource, body: Region, first: str, second: str) -> int:
    """Returns how many more looks walk along a row where the outer variable becomes the inner one."""
    gain = 0
    for index in body:
        if source.word(index) == "[" and source.word(index - 1) != "]" and index in body:
            subscripts, here = [], index
            while source.word(here) == "[":
                subscripts.append(set(source.words(range(here + 1, source.partner[here]))))
                here = source.partner[here] + 1
            if len(subscripts) > 1:
                early = set[str]().union(*subscripts[:-1])
                gain += (second in early) - (first in early)
    return gain
