"""Bits that are counted a word at a time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from whet.agents.catalogue.cpp.counted import ahead, counted
from whet.agents.catalogue.cpp.counted_bits import Words, counted_words
from whet.agents.catalogue.cpp.edit import FunctionEdit, Replacement
from whet.agents.catalogue.cpp.simd import AVX2, SSE2, Width, block, either, intrinsics
from whet.agents.catalogue.cpp.source import CppSource

LOOKED_UP = AVX2._replace(when="defined(__AVX2__) && !defined(__AVX512VPOPCNTDQ__)")
ADDED_UP = SSE2._replace(when="defined(__SSE2__) && !defined(__POPCNT__)")
BY_NIBBLE = "0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4"
MASKS = {1: "0x55", 2: "0x33", 4: "0x0f"}


class VectorPopcounts(FunctionEdit):
    """Counts the bits of a vector of words, by a table of nibbles in a register or by adding neighbouring bits up.

    Compilers count with vectors themselves where the processor has an instruction for it (AVX-512 VPOPCNTDQ), and then
    nothing changes; without any, they call a function for each word.
    """

    name = "vector-popcount"
    summary = "counts the bits of many words at once, where the processor has no vector instruction for it"
    needs = "a counting loop of nothing but `sum += __builtin_popcountll(a[i])`, of `a[i] ^ b[i]`, or with masks"
    unsafe = "a sum that other threads look at meanwhile"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change a loop."""
        for found in counted(source):
            words = counted_words(source, found)
            if words is None:
                continue
            at, bound = source.fresh(f"{found.name}_ahead"), source.slice(found.bound)
            names = at, source.fresh("bits"), source.fresh("counts"), source.fresh("lanes")
            lines = either(partial(_block, names=names, words=words, bound=bound), (LOOKED_UP, ADDED_UP))
            why = f"the bits in '{words.total}' are counted word by word"
            line = source.tokens[found.body.first].line
            yield Replacement(line, [*intrinsics(source), *ahead(source, found, at, lines)], why)


def _loaded(width: Width, words: Words, at: str) -> str:
    loads = [width.load(f"{array}[{at}]") for array in words.arrays]
    return loads[0] if len(loads) == 1 else f"{width.prefix}_{words.sign}_{width.whole}({loads[0]}, {loads[1]})"


def _block(width: Width, names: tuple[str, str, str, str], words: Words, bound: str) -> list[str]:
    at, bits, counts, lanes = names
    sums = f"{width.prefix}_sad_epu8({bits}, {width.zero})"
    lines = [
        f"{width.type} {bits} = {_loaded(width, words, at)};",
        *_count(width, bits),
        f"{counts} = {width.prefix}_add_epi64({counts}, {sums});",
    ]
    return [
        f"{width.type} {counts} = {width.zero};",
        *block(at, bound, width.size // words.size, lines),
        *width.added(words.total, counts, "unsigned long long", lanes),
    ]


def _count(width: Width, bits: str) -> list[str]:
    """Returns what puts the number of bits of each byte in its place."""
    p, w = width.prefix, width.whole

    def masked(value: str, mask: str) -> str:
        return f"{p}_and_{w}({value}, {p}_set1_epi8({mask}))"

    if width.size == AVX2.size:
        table = f"_mm256_setr_epi8({BY_NIBBLE}, {BY_NIBBLE})"
        low, high = masked(bits, MASKS[4]), masked(f"_mm256_srli_epi16({bits}, 4)", MASKS[4])
        looked = [f"_mm256_shuffle_epi8({table}, {half})" for half in (low, high)]
        return [f"{bits} = _mm256_add_epi8({looked[0]}, {looked[1]});"]
    pairs = masked(f"_mm_srli_epi16({bits}, 1)", MASKS[1])
    fours = masked(f"_mm_srli_epi16({bits}, 2)", MASKS[2])
    return [
        f"{bits} = _mm_sub_epi8({bits}, {pairs});",
        f"{bits} = _mm_add_epi8({masked(bits, MASKS[2])}, {fours});",
        f"{bits} = {masked(f'_mm_add_epi8({bits}, _mm_srli_epi16({bits}, 4))', MASKS[4])};",
    ]
