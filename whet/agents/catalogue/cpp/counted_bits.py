"""Loops that add up the bits of words: by the compiler's function, or by masks."""

from __future__ import annotations

from typing import NamedTuple

from whet.agents.catalogue.cpp.counted import Counted, element, element_at, is_integer, uncast
from whet.agents.catalogue.cpp.source import CppSource, Region
from whet.evaluators.signature import TYPES

INTEGERS = frozenset({"int32", "uint32", "int64", "uint64"})
FITS = {
    "__builtin_popcount": ("uint8", "uint16", "uint32", "int32"),
    "__builtin_popcountl": ("uint8", "uint16", "uint32", "uint64", "int64"),
    "__builtin_popcountll": ("uint8", "uint16", "uint32", "uint64", "int64"),
}
"""Elements of which each call sees all bits and no others."""
SIZES = {"uint8": 1, "uint16": 2, "uint32": 4, "int32": 4, "uint64": 8, "int64": 8}
SIGNS = {"^": "xor", "&": "and", "|": "or"}
MASKS = ("55", "33", "0f")
_MASKING = frozenset({"+", "-", "*", "&", ">>", ">", "(", ")", "=", "+=", "-=", "&=", ">>=", ";", "|"})


class Words(NamedTuple):
    """What is counted: elements of so many bytes, of one array or of two that an operation joins, into a total."""

    total: str
    size: int
    arrays: list[str]
    sign: str = ""


def counted_words(source: CppSource, found: Counted) -> Words | None:
    """Returns what a loop counts the bits of; None where it does something else."""
    return _called(source, found) or _masked(source, found)


def _called(source: CppSource, found: Counted) -> Words | None:
    """Returns the words of ``total += __builtin_popcountll(a[i] ^ b[i]);``."""
    body = uncast(source, found.body, INTEGERS)
    if len(body) not in (10, 15) or not is_integer(source, body[0]):
        return None
    words = source.words(body)
    places, sign = [body[4]], ""
    if len(body) == 15:
        places.append(body[9])
        sign = SIGNS.get(words[8], "?")
    is_sum = words[1] == "+=" and words[2] in FITS and words[3] == "(" and words[-2:] == [")", ";"] and sign != "?"
    if not is_sum or not all(element_at(source, found, place) for place in places):
        return None
    kinds = {element(source, place) for place in places}
    kind = kinds.pop() or ""
    if kinds or kind not in FITS[words[2]]:
        return None
    return Words(words[0], SIZES[kind], [source.word(place) for place in places], sign)


def _masked(source: CppSource, found: Counted) -> Words | None:
    """Returns the words of a body that loads one, adds up its bits with the well-known masks, and adds that to a total.

    The masks tell: what the body does with them in between is not read.
    """
    ends = [index for index in found.body if source.word(index) == ";"]
    numbers = {_number(source.word(index)) for index in found.body if source.tokens[index].kind == "number"}
    if len(ends) < 3 or ends[-1] != found.body.end - 1:
        return None
    load, last = Region(found.body.first, ends[0]), ends[-2] + 1
    array, word = load.end - 4, source.word(load.end - 6)
    kind = TYPES.get(" ".join(source.words(range(load.first, load.end - 6))), "")
    if kind not in ("uint32", "uint64") or source.word(load.end - 5) != "=" or not element_at(source, found, array):
        return None
    size = SIZES[kind]
    known = {word, source.word(last)}
    rest = uncast(source, Region(load.end + 1, found.body.end), INTEGERS)
    only_masks = all(
        source.tokens[index].kind == "number" or source.word(index) in _MASKING or source.word(index) in known
        for index in rest
    )
    is_sum = source.word(last + 1) == "+=" and is_integer(source, last) and source.word(last) != word
    is_total = sum(source.word(index) == source.word(last) for index in rest) == 1
    if not (only_masks and is_sum and is_total and {int(mask * size, 16) for mask in MASKS} <= numbers):
        return None
    return Words(source.word(last), size, [source.word(array)]) if element(source, array) == kind else None


def _number(text: str) -> int:
    try:
        return int(text.rstrip("uUlL").replace("'", ""), 0)
    except ValueError:
        return 0
