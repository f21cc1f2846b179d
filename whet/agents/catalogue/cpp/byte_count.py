"""Bytes that are counted one by one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from whet.agents.catalogue.cpp.counted import Counted, ahead, counted, element, element_at, is_integer, stays
from whet.agents.catalogue.cpp.edit import FunctionEdit, Replacement
from whet.agents.catalogue.cpp.simd import Width, block, either, intrinsics
from whet.agents.catalogue.cpp.source import CppSource, Region

TYPES = {"int8": "signed char", "uint8": "unsigned char"}


class VectorCounts(FunctionEdit):
    """Counts equal bytes by comparing a vector of them and adding up the ones."""

    name = "vector-count"
    summary = "counts the bytes that equal one, a vector at a time, with one sum of absolute differences for all lanes"
    needs = "a counting loop of nothing but `count += s[i] == c;` or `if (s[i] == c) count++;` on bytes"
    unsafe = "a counter that other threads look at meanwhile"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change a loop."""
        for found in counted(source):
            parts = _parts(source, found)
            if parts is None:
                continue
            count, array, wanted = parts
            kind = element(source, array)
            if kind not in TYPES or not is_integer(source, count):
                continue
            at = source.fresh(f"{found.name}_ahead")
            names = at, source.fresh("counts"), source.fresh("lanes")
            asked = source.word(count), source.word(array), source.slice(wanted), TYPES[kind]
            lines = either(partial(_block, names=names, asked=asked, bound=source.slice(found.bound)))
            why = f"'{source.word(count)}' grows by one byte a turn"
            line = source.tokens[count].line
            yield Replacement(line, [*intrinsics(source), *ahead(source, found, at, lines)], why)


def _block(width: Width, names: tuple[str, str, str], asked: tuple[str, str, str, str], bound: str) -> list[str]:
    at, counts, lanes = names
    count, array, wanted, kind = asked
    p = width.prefix
    same = f"{p}_cmpeq_epi8({width.load(f'{array}[{at}]')}, {p}_set1_epi8((char)({wanted})))"
    ones = f"{p}_sub_epi8({width.zero}, {same})"
    step = f"{counts} = {p}_add_epi64({counts}, {p}_sad_epu8({ones}, {width.zero}));"
    return [
        f"{width.type} {counts} = {width.zero};",
        # nothing equals a number beyond what a byte holds
        *block(at, bound, width.size, [step], f"({kind})({wanted}) == ({wanted})"),
        *width.added(count, counts, "unsigned long long", lanes),
    ]


def _parts(source: CppSource, found: Counted) -> tuple[int, int, Region] | None:
    """Returns the places of the counter and of the array, and the byte that is looked for."""
    body = found.body
    words = source.words(body)
    if words[:2] == ["if", "("]:
        close = source.partner[body.first + 1]
        then = Region(close + 1, body.end)
        if source.word(then.first) == "{":
            then = Region(then.first + 1, then.end - 1)
        count = next((index for index in then if source.tokens[index].kind == "name"), then.first)
        name, said = source.word(count), source.words(then)
        if said not in ([name, "++", ";"], ["++", name, ";"], [name, "+=", "1", ";"]):
            return None
        test = Region(body.first + 2, close)
    elif words[1:2] == ["+="] and words[-1] == ";":
        count, test = body.first, Region(body.first + 2, body.end - 1)
        if source.word(test.first) == "(" and source.partner[test.first] == test.end - 1:
            test = Region(test.first + 1, test.end - 1)
    else:
        return None
    is_test = test.end - test.first > 5 and source.word(test.first + 4) == "=="
    wanted = Region(test.first + 5, test.end)
    if not is_test or not element_at(source, found, test.first) or not stays(source, found, wanted):
        return None
    return (count, test.first, wanted) if source.word(count) not in source.words(wanted) else None
