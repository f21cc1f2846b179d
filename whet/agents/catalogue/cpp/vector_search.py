"""Searches that look at one element after the other."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from whet.agents.catalogue.cpp.counted import Counted, ahead, counted, element, element_at, stays
from whet.agents.catalogue.cpp.edit import FunctionEdit, Replacement
from whet.agents.catalogue.cpp.simd import AVX2, Width, block, either, intrinsics
from whet.agents.catalogue.cpp.source import CppSource, Region

BITS = {"int8": 8, "uint8": 8, "int16": 16, "uint16": 16, "int32": 32, "uint32": 32}
CASTS = {8: "char", 16: "short", 32: "int"}
_LEAVES = ("return", "break", "goto")


class VectorSearches(FunctionEdit):
    """Compares a vector of elements at once, and leaves the rest of the search to the loop that was there.

    What seems to be a hit only ends the quick part: whether it is one, the old loop says.
    """

    name = "vector-search"
    summary = "looks through an array a vector at a time until one seems to hold a hit; the old loop then finds it"
    needs = "a counting loop of nothing but `if (s[i] == c) return i;`, several such with `||`, or `a[i] != b[i]`"
    unsafe = "an array that ends before the loop's bound does, because a hit always comes first"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change a loop."""
        for found in counted(source):
            test = _test(source, found)
            if test is None:
                continue
            at, bound = source.fresh(f"{found.name}_ahead"), source.slice(found.bound)
            terms = _equal(source, found, test) or _unequal(source, found, test)
            if terms:
                lines = either(partial(_block, at=at, hits=source.fresh("hits"), bound=bound, terms=terms))
                why = f"'{source.slice(test)}' is asked of one element after the other"
                line = source.tokens[test.first].line
                yield Replacement(line, [*intrinsics(source), *ahead(source, found, at, lines)], why)


class _Term(NamedTuple):
    """One comparison of an element.

    Attributes:
        bits: of the element.
        array: its name.
        other: the array or the number that it is compared with.
        is_array: which of both.
        equal: whether the hit is an equal one.
    """

    bits: int
    array: str
    other: str
    is_array: bool
    equal: bool

    def same(self, width: Width, at: str) -> str:
        """Returns a vector with ones where the element equals what it is compared with."""
        other = f"{width.prefix}_set1_epi{self.bits}(({CASTS[self.bits]})({self.other}))"
        if self.is_array:
            other = width.load(f"{self.other}[{at}]")
        return f"{width.prefix}_cmpeq_epi{self.bits}({width.load(f'{self.array}[{at}]')}, {other})"


def _block(width: Width, at: str, hits: str, bound: str, terms: list[_Term]) -> list[str]:
    same = terms[0].same(width, at)
    for term in terms[1:]:
        same = f"{width.prefix}_or_{width.whole}({same}, {term.same(width, at)})"
    mask = f"(unsigned){width.prefix}_movemask_epi8({same})"
    if not terms[0].equal:
        mask += " ^ 0xffffffff" if width.size == AVX2.size else " ^ 0xffff"
    lines = [
        f"const unsigned {hits} = {mask};",
        f"if ({hits} != 0) {{ {at} += __builtin_ctz({hits}) / {terms[0].bits // 8}; break; }}",
    ]
    return block(at, bound, width.size * 8 // terms[0].bits, lines)


def _test(source: CppSource, found: Counted) -> Region | None:
    """Returns the condition of a body that is one ``if`` which leaves the loop."""
    first = found.body.first
    if source.words(range(first, first + 2)) != ["if", "("]:
        return None
    close = source.partner[first + 1]
    end = source.statement_end(close + 1)
    inner = Region(close + 1, end)
    if source.word(close + 1) == "{":
        inner = Region(close + 2, end - 1)
    starts = [inner.first, *(index + 1 for index in inner if source.word(index) == ";")]
    leaves = any(source.word(index) in _LEAVES for index in starts)
    return Region(first + 2, close) if end == found.body.end and leaves else None


def _equal(source: CppSource, found: Counted, test: Region) -> list[_Term]:
    """Returns the terms of ``s[i] == c || s[i] == d``; none where it is something else.

    Where ``c`` is beyond what an element holds, the vector only finds hits that are none.
    """
    terms = []
    first = test.first
    for index in [*(index for index in test if source.word(index) == "||"), test.end]:
        term = _term(source, found, Region(first, index), "==")
        if term is None:
            return []
        terms.append(term)
        first = index + 1
    return terms if len({term.bits for term in terms}) == 1 else []


def _unequal(source: CppSource, found: Counted, test: Region) -> list[_Term]:
    """Returns the term of ``a[i] != b[i]``; none where it is something else."""
    term = _term(source, found, test, "!=")
    return [term] if term is not None and term.is_array else []


def _term(source: CppSource, found: Counted, region: Region, sign: str) -> _Term | None:
    """Returns a comparison by a sign, whichever side the element stands on."""
    signs = [index for index in region if source.word(index) == sign]
    if len(signs) != 1:
        return None
    sides = [Region(region.first, signs[0]), Region(signs[0] + 1, region.end)]
    for left, right in (sides, sides[::-1]):
        kind = _element(source, found, left)
        if kind is None:
            continue
        name, other = source.word(left.first), _element(source, found, right)
        if other == kind:
            return _Term(BITS[kind], name, source.word(right.first), True, sign == "==")
        if right.first < right.end and other is None and stays(source, found, right):
            return _Term(BITS[kind], name, source.slice(right), False, sign == "==")
    return None


def _element(source: CppSource, found: Counted, side: Region) -> str | None:
    if side.end - side.first != 4 or not element_at(source, found, side.first):
        return None
    kind = element(source, side.first)
    return kind if kind in BITS else None
