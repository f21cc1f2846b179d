"""Sums, products and extremes whose steps wait for each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from whet.agents.catalogue.cpp.counted import Counted, ahead, counted, scalar
from whet.agents.catalogue.cpp.edit import FunctionEdit, Replacement
from whet.agents.catalogue.cpp.simd import block
from whet.agents.catalogue.cpp.source import CppSource, Region
from whet.agents.catalogue.cpp.uses import MATH

CHAINS = 4
"""Partial results of the rewritten loop. An addition of floats takes about four cycles, so four keep one adder busy;
more take more registers and a longer remainder loop. `_lines` joins exactly four."""
_EFFECTS = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--", "{", ";"})
_PURE = MATH | frozenset({"abs", "sizeof"})
_KINDS = {"float32": "float", "float64": "double"}


class _Reduction(NamedTuple):
    """``total += value``, ``total *= value``, or ``if (value > total) total = value``; ``sign`` is the operator."""

    total: str
    sign: str
    value: Region


class SeveralAccumulators(FunctionEdit):
    """Keeps four partial results that do not wait for each other, and joins them behind the loop."""

    name = "several-accumulators"
    summary = "keeps four partial sums, products or extremes of floats, which do not wait for each other"
    needs = "a counting loop of nothing but `sum += ...`, `product *= ...` or `if (x > most) most = x` on floats"
    unsafe = "floats, which are joined in another order: other last digits, and another sign of zero"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change a loop."""
        for found in counted(source):
            reduction = _sum(source, found.body) or _extreme(source, found.body)
            if reduction is None or not _is_pure(source, reduction):
                continue
            first = next(index for index in found.body if source.word(index) == reduction.total)
            kind = _KINDS.get(scalar(source, first) or "")
            if kind is not None:
                at = source.fresh(f"{found.name}_ahead")
                why = f"each step of '{reduction.total}' waits for the one before"
                lines = _lines(source, found, reduction, kind, at)
                yield Replacement(source.tokens[first].line, ahead(source, found, at, lines), why)


def _lines(source: CppSource, found: Counted, reduction: _Reduction, kind: str, at: str) -> list[str]:
    total, sign, value = reduction
    wish = source.fresh(f"{total}_part")
    parts = [total, *(f"{wish}_{number}" for number in range(1, CHAINS))]
    start = {"+": "0", "*": "1"}.get(sign, total)
    steps = [_step(part, sign, _shifted(source, found, value, at, number)) for number, part in enumerate(parts)]
    joined = [_step(parts[0], sign, parts[1]), _step(parts[2], sign, parts[3]), _step(parts[0], sign, parts[2])]
    return [
        f"{kind} {', '.join(f'{part} = {start}' for part in parts[1:])};",
        *block(at, source.slice(found.bound), CHAINS, steps),
        *joined,
    ]


def _step(part: str, sign: str, value: str) -> str:
    if sign in ("<", ">"):
        return f"{part} = {value} {sign} {part} ? {value} : {part};"
    return f"{part} {sign}= {value};"


def _shifted(source: CppSource, found: Counted, value: Region, at: str, by: int) -> str:
    """Returns an expression as it is some turns of the loop later."""
    start = source.tokens[value.first].start
    place = f"{at} + {by}" if by else at
    parts, done = [], start
    for index in value:
        token = source.tokens[index]
        if token.text == found.name and source.word(index - 1) not in (".", "->"):
            alone = source.word(index - 1) == "[" and source.word(index + 1) == "]"
            parts += [source.text[done : token.start], place if alone else f"({place})"]
            done = token.end
    text = "".join([*parts, source.text[done : source.tokens[value.end - 1].end]])
    return text if value.end - value.first <= 4 else f"({text})"


def _sum(source: CppSource, body: Region) -> _Reduction | None:
    sign = source.word(body.first + 1)
    value = Region(body.first + 2, body.end - 1)
    is_sum = sign in ("+=", "*=") and source.word(value.end) == ";" and value.first < value.end
    return _Reduction(source.word(body.first), sign[0], value) if is_sum else None


def _extreme(source: CppSource, body: Region) -> _Reduction | None:
    """Returns what ``if (value > total) total = value;`` or ``total = value > total ? value : total;`` keeps."""
    words = source.words(body)
    if words[:2] == ["if", "("]:
        close = source.partner[body.first + 1]
        test, then = Region(body.first + 2, close), source.words(range(close + 1, body.end))
        if then[:1] == ["{"]:
            then = then[1:-1]
    elif words[1:2] == ["="] and "?" in words:
        test = Region(body.first + 2, body.first + words.index("?"))
        chosen = words[words.index("?") + 1 :]
        if chosen[-3:] != [":", words[0], ";"]:
            return None
        then = [words[0], "=", *chosen[:-3], ";"]
        if source.word(test.first) == "(" and source.partner[test.first] == test.end - 1:
            test = Region(test.first + 1, test.end - 1)
    else:
        return None
    total, sign = source.word(test.end - 1), source.word(test.end - 2)
    value = Region(test.first, test.end - 2)
    if sign not in ("<", ">") or then != [total, "=", *source.words(value), ";"] or value.first >= value.end:
        return None
    return _Reduction(total, sign, value)


def _is_pure(source: CppSource, reduction: _Reduction) -> bool:
    """Whether the value may be computed before the result of an earlier turn is known."""
    return all(
        source.word(index) not in _EFFECTS
        and source.word(index) != reduction.total
        and (source.tokens[index].kind != "name" or source.word(index + 1) != "(" or source.word(index) in _PURE)
        for index in reduction.value
    )
