"""Arithmetic on the elements of arrays, written with GCC's vector types: the same text for any machine."""

from __future__ import annotations

from typing import NamedTuple

from whet.agents.catalogue.cpp.counted import Counted, alike, element, element_at, scalar, stays, uncast
from whet.agents.catalogue.cpp.source import CppSource, Region

WIDE, NARROW = 32, 16
"""Bytes of a vector type, with AVX and without: what no register holds takes the way by memory."""
KINDS = {
    "float32": ("float", 4), "float64": ("double", 8), "int32": ("int", 4), "uint32": ("unsigned", 4),
    "int64": ("long long", 8), "uint64": ("unsigned long long", 8),
}  # fmt: skip
"""numpy's name -> C's, and bytes. Shorter ones become int in an expression, which lanes of a vector do not."""
_ARITHMETIC = frozenset({"+", "-", "*", "(", ")"})


class Lanes(NamedTuple):
    """A vector type for the elements of an expression.

    Attributes:
        name: of the type.
        kind: of an element, as C names it.
        bytes: of an element.
    """

    name: str
    kind: str
    bytes: int

    @property
    def width(self) -> str:
        """The constant that says how many elements a vector has."""
        return f"{self.name}_width"

    @property
    def declared(self) -> list[str]:
        """The lines that declare it, for elements that lie as they do in an array."""
        types = [
            f"typedef {self.kind} {self.name} __attribute__((vector_size({size}), aligned({self.bytes}), may_alias));"
            for size in (WIDE, NARROW)
        ]
        width = f"enum {{ {self.width} = sizeof({self.name}) / sizeof({self.kind}) }};"
        return ["#ifdef __AVX__", types[0], "#else", types[1], "#endif", width]

    def places(self, at: str, count: int) -> list[str]:
        """Returns the places of so many vectors, one behind the other."""
        steps = ["", f" + {self.width}", *(f" + {number} * {self.width}" for number in range(2, count))]
        return [f"{at}{step}" for step in steps[:count]]

    def at(self, array: str, place: str) -> str:
        """Returns the vector that begins with an element."""
        return f"*(const {self.name} *)&{array}[{place}]"


def lanes_of(source: CppSource, found: Counted, kind: str, region: Region) -> Lanes | None:
    """Returns the vector type for an expression of elements of one kind, with at least one of them among its numbers.

    None where it holds anything else than elements at the loop's counter, numbers of the same size, and ``+ - *``;
    casts that change a sign alone are none of it.
    """
    kinds = alike(kind)
    inside: set[int] = set()
    for index in uncast(source, region, kinds):
        if index in inside:
            continue
        if source.tokens[index].kind != "name":
            if source.word(index) not in _ARITHMETIC:
                return None
        elif element_at(source, found, index):
            if element(source, index) not in kinds:
                return None
            inside.update(range(index, index + 4))
        elif scalar(source, index) not in kinds or not stays(source, found, Region(index, index + 1)):
            return None
    return Lanes(source.fresh("lanes"), *KINDS[kind]) if inside and kind in KINDS else None


def written(source: CppSource, found: Counted, lanes: Lanes, region: Region, place: str) -> str:
    """Returns an expression on vectors that begin at a place."""
    parts: list[str] = []
    inside: set[int] = set()
    kinds = [kind for kind, (name, _) in KINDS.items() if name == lanes.kind]
    for index in uncast(source, region, alike(kinds[0])):
        if index in inside:
            continue
        if element_at(source, found, index):
            parts.append(lanes.at(source.word(index), place))
            inside.update(range(index, index + 4))
        elif source.tokens[index].kind == "name" and scalar(source, index) not in kinds:
            parts.append(f"({lanes.kind}){source.word(index)}")
        else:
            parts.append(source.word(index))
    return " ".join(parts).replace("( ", "(").replace(" )", ")")
