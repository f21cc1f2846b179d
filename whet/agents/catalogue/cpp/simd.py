"""What edits share that write x86-64 intrinsics: each piece for the widest vectors that the compiler may use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from whet.agents.catalogue.cpp.edit import Splice, newline
from whet.agents.catalogue.cpp.source import CppSource

HEADER = "immintrin.h"


class Width(NamedTuple):
    """Vectors of integers of one size.

    Attributes:
        when: the preprocessor's condition for them.
        size: bytes.
        type: of a vector.
        prefix: of the intrinsics.
        whole: how intrinsics name a vector as a whole.
    """

    when: str
    size: int
    type: str
    prefix: str
    whole: str

    def load(self, place: str) -> str:
        """Returns what loads a vector from an element on, wherever it lies."""
        return f"{self.prefix}_loadu_{self.whole}((const {self.type} *)&{place})"

    def store(self, place: str, value: str) -> str:
        """Returns the statement that stores one."""
        return f"{self.prefix}_storeu_{self.whole}(({self.type} *)&{place}, {value});"

    def added(self, total: str, vector: str, kind: str, name: str) -> list[str]:
        """Returns the statements that add the lanes of a vector to a number.

        They go by an array: compilers take it that no number of another type lies in a vector's place.

        Args:
            total: the number.
            vector: the name of the vector.
            kind: of a lane, as C names it.
            name: one that occurs nowhere in the file, not even in parts.
        """
        lanes = self.size // {"int": 4, "unsigned long long": 8}[kind]
        return [
            f"{kind} {name}[{lanes}];",
            self.store(f"{name}[0]", vector),
            f"for (int {name}_at = 0; {name}_at < {lanes}; {name}_at++) {total} += {name}[{name}_at];",
        ]

    @property
    def zero(self) -> str:
        """A vector of zeros."""
        return f"{self.prefix}_setzero_{self.whole}()"


AVX2 = Width("defined(__AVX2__)", 32, "__m256i", "_mm256", "si256")
SSE2 = Width("defined(__SSE2__)", 16, "__m128i", "_mm", "si128")


def either(write: Callable[[Width], Sequence[str]], widths: Sequence[Width] = (AVX2, SSE2)) -> list[str]:
    """Returns the lines for the first width that the compiler may use; flags and pragmas decide, not the edit."""
    lines: list[str] = []
    for width in widths:
        lines += [f"#{'elif' if lines else 'if'} {width.when}", *write(width)]
    return [*lines, "#endif"]


def intrinsics(source: CppSource) -> list[Splice]:
    """Returns what includes the intrinsics on a machine that has them, where the file lacks them."""
    if source.includes(HEADER):
        return []
    end = newline(source)
    start = source.directives[0].start if source.directives else 0
    return [Splice(start, start, f"#ifdef __SSE2__{end}#include <{HEADER}>{end}#endif{end}")]


def block(at: str, bound: str, step: int | str, lines: Sequence[str], condition: str = "") -> list[str]:
    """Returns a loop over whole vectors, which leaves its counter at the first element that is left.

    Args:
        at: the counter.
        bound: what it stays below.
        step: elements of a turn, a number or an expression.
        lines: of its body.
        condition: that must hold too.
    """
    test = f"{at} + {step} <= {bound}"
    return [
        f"for (; {condition} && {test}; {at} += {step}) {{" if condition else f"for (; {test}; {at} += {step}) {{",
        *(f"    {line}" for line in lines),
        "}",
    ]
