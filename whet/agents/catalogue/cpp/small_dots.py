"""Products of short integers that are added up one by one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from whet.agents.catalogue.cpp.counted import Counted, ahead, counted, element, element_at, scalar, uncast
from whet.agents.catalogue.cpp.edit import FunctionEdit, Replacement
from whet.agents.catalogue.cpp.simd import Width, block, either, intrinsics
from whet.agents.catalogue.cpp.source import CppSource, Region

SHORT = {"int8": 1, "uint8": 1, "int16": 2}
CASTS = frozenset({"int32", "uint32", "int64"})
HALVES = ("lo", "hi")


class SmallDots(FunctionEdit):
    """Multiplies and adds pairs of 16-bit numbers by one instruction, bytes after they were widened."""

    name = "vector-small-dot"
    summary = "adds up the products of bytes or 16-bit numbers with the instruction that multiplies and adds pairs"
    needs = "a counting loop of nothing but `sum += a[i] * b[i]`, on int8, uint8 or int16, with a sum of 32 bits"
    unsafe = "sums beyond 32 bits, which were undefined before and wrap around now"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change a loop."""
        for found in counted(source):
            places = _factors(source, found)
            kinds = [element(source, place) or "" for place in places]
            if len({SHORT.get(kind) for kind in kinds}) != 1 or kinds[0] not in SHORT:
                continue
            names = tuple(source.fresh(wish) for wish in (f"{found.name}_ahead", "left", "right", "sums", "lanes"))
            factors = [(source.word(place), kind) for place, kind in zip(places, kinds, strict=True)]
            total, bound = source.word(found.body.first), source.slice(found.bound)
            lines = either(partial(_block, names=names, factors=factors, total=total, bound=bound))
            line = source.tokens[found.body.first].line
            why = f"the products in '{total}' are widened and added up one by one"
            yield Replacement(line, [*intrinsics(source), *ahead(source, found, names[0], lines)], why)


def _block(width: Width, names: tuple[str, ...], factors: list[tuple[str, str]], total: str, bound: str) -> list[str]:
    at, *loaded, sums, lanes = names
    p = width.prefix
    (_, kind), *_ = factors
    lines = [
        f"const {width.type} {name} = {width.load(f'{array}[{at}]')};"
        for name, (array, _) in zip(loaded, factors, strict=True)
    ]
    pairs = (
        [loaded]
        if SHORT[kind] == 2
        else [
            [_wide(width, name, kind, half) for name, (_, kind) in zip(loaded, factors, strict=True)] for half in HALVES
        ]
    )
    lines += [f"{sums} = {p}_add_epi32({sums}, {p}_madd_epi16({left}, {right}));" for left, right in pairs]
    return [
        f"{width.type} {sums} = {width.zero};",
        *block(at, bound, width.size // SHORT[kind], lines),
        *width.added(total, sums, "int", lanes),
    ]


def _wide(width: Width, name: str, kind: str, half: str) -> str:
    """Returns the bytes of a half of each lane as 16-bit numbers."""
    p = width.prefix
    upper = width.zero if kind == "uint8" else f"{p}_cmpgt_epi8({width.zero}, {name})"
    return f"{p}_unpack{half}_epi8({name}, {upper})"


def _factors(source: CppSource, found: Counted) -> list[int]:
    """Returns the places of both arrays of ``sum += (int32_t)(a[i] * b[i]);``; none where it is something else."""
    first = found.body.first
    whole = Region(first + 2, found.body.end - 1)
    is_sum = source.word(first + 1) == "+=" and source.word(whole.end) == ";"
    if not is_sum or scalar(source, first) not in ("int32", "uint32"):
        return []
    product = uncast(source, whole, CASTS)
    while product and source.word(product[0]) == "(" and source.partner[product[0]] == product[-1]:
        product = product[1:-1]
    places = [product[0], product[5]] if len(product) == 9 and source.word(product[4]) == "*" else []
    return places if all(element_at(source, found, place) for place in places) else []
