"""Running sums that are stored element by element."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from whet.agents.catalogue.cpp.counted import Counted, ahead, counted, element, element_at, scalar, uncast
from whet.agents.catalogue.cpp.edit import FunctionEdit, Replacement
from whet.agents.catalogue.cpp.simd import AVX2, Width, block, either, intrinsics
from whet.agents.catalogue.cpp.source import CppSource

KINDS = ("int32", "uint32")


class VectorPrefixSums(FunctionEdit):
    """Sums up within a vector by shifted additions, and carries one number from vector to vector.

    The additions within a vector do not wait for those of the one before: only the carry does.
    """

    name = "vector-prefix-sum"
    summary = "computes running sums a vector at a time, by adding the vector to itself shifted by one and two elements"
    needs = "a counting loop of nothing but `s += a[i]; out[i] = s;`, or in the other order, on 32-bit integers"
    unsafe = "an output that overlaps the input"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change a loop."""
        for found in counted(source):
            sums = _sums(source, found)
            if sums is not None:
                names = tuple(source.fresh(wish) for wish in (f"{found.name}_ahead", "carry", "own", "run"))
                lines = either(partial(_block, names=names, sums=sums, bound=source.slice(found.bound)))
                why = f"'{sums.total}' waits for itself at each element"
                line = source.tokens[found.body.first].line
                yield Replacement(line, [*intrinsics(source), *ahead(source, found, names[0], lines)], why)


class _Sums(NamedTuple):
    """A running total, what is added up, where it is stored, and whether the element itself is in what is stored."""

    total: str
    added: str
    stored: str
    inclusive: bool


def _block(width: Width, names: tuple[str, ...], sums: _Sums, bound: str) -> list[str]:
    at, carry, own, run = names
    p, wide = width.prefix, width.size == AVX2.size

    def grows(by: str) -> str:
        return f"{run} = {p}_add_epi32({run}, {by});"

    lines = [
        f"const {width.type} {own} = {width.load(f'{sums.added}[{at}]')};",
        f"{width.type} {run} = {own};",
        grows(f"{p}_slli_{width.whole}({run}, 4)"),
        grows(f"{p}_slli_{width.whole}({run}, 8)"),
    ]
    if wide:  # the shifts stay within 16 bytes: the lower half's total still lacks in the upper one
        lines.append(grows(f"_mm256_shuffle_epi32(_mm256_permute2x128_si256({run}, {run}, 0x08), 0xff)"))
    stored = run if sums.inclusive else f"{p}_sub_epi32({run}, {own})"
    last = f"_mm256_permutevar8x32_epi32({run}, _mm256_set1_epi32(7))" if wide else f"_mm_shuffle_epi32({run}, 0xff)"
    lines += [grows(carry), width.store(f"{sums.stored}[{at}]", stored), f"{carry} = {last};"]
    low = f"_mm256_castsi256_si128({carry})" if wide else carry
    return [
        f"{width.type} {carry} = {p}_set1_epi32((int){sums.total});",
        *block(at, bound, width.size // 4, lines),
        f"{sums.total} = _mm_cvtsi128_si32({low});",
    ]


def _sums(source: CppSource, found: Counted) -> _Sums | None:
    """Returns what a body sums up and stores; None where it does something else."""
    i = found.name
    body = uncast(source, found.body, KINDS)
    words = source.words(body)
    if len(words) != 14:
        return None
    inclusive = words[1] == "+="
    adding, storing = (body[0], body[7]) if inclusive else (body[7], body[0])
    added = body[2] if inclusive else body[9]
    sum_words = [source.word(adding), "+=", source.word(added), "[", i, "]", ";"]
    store_words = [source.word(storing), "[", i, "]", "=", source.word(adding), ";"]
    kinds = {element(source, storing), element(source, added), scalar(source, adding)}
    is_known = kinds <= set(KINDS)
    if not inclusive and source.word(added) == source.word(storing):
        return None  # what is added is what was stored just now
    if words != (sum_words + store_words if inclusive else store_words + sum_words) or not is_known:
        return None
    if not element_at(source, found, storing) or not element_at(source, found, added):
        return None
    return _Sums(source.word(adding), source.word(added), source.word(storing), inclusive)
