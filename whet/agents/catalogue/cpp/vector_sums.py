"""Sums of the elements of arrays, added up one by one."""

from __future__ import annotations

from collections.abc import Iterator

from whet.agents.catalogue.cpp.counted import Counted, ahead, counted, scalar
from whet.agents.catalogue.cpp.edit import FunctionEdit, Replacement
from whet.agents.catalogue.cpp.lanes import Lanes, lanes_of, written
from whet.agents.catalogue.cpp.simd import block
from whet.agents.catalogue.cpp.source import CppSource, Region

CHAINS = 4
"""Vectors that grow independently: an addition takes about as many cycles as a processor begins in its time."""


class VectorSums(FunctionEdit):
    """Adds up several vectors of sums, which are joined behind the loop."""

    name = "vector-sum"
    summary = "adds up a sum or dot product in four vectors at once, and joins them behind the loop"
    needs = "a counting loop of nothing but `sum += a[i] * b[i]` or another sum of products, all of one type"
    unsafe = "floats, which are added in another order: other last digits"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change a loop."""
        for found in counted(source):
            first = found.body.first
            added = Region(first + 2, found.body.end - 1)
            if source.word(first + 1) != "+=" or source.word(added.end) != ";":
                continue
            lanes = lanes_of(source, found, scalar(source, first) or "", added)
            if lanes is not None and source.word(first) not in source.words(added):
                at = source.fresh(f"{found.name}_ahead")
                why = f"each addition to '{source.word(first)}' waits for the one before"
                lines = _lines(source, found, lanes, added, at)
                yield Replacement(source.tokens[first].line, ahead(source, found, at, lines), why)


def _lines(source: CppSource, found: Counted, lanes: Lanes, added: Region, at: str) -> list[str]:
    total, sums, lane = source.word(found.body.first), source.fresh("sums"), source.fresh("lane")
    parts = [f"{sums}_{number}" for number in range(CHAINS)]
    steps = [
        f"{part} += {written(source, found, lanes, added, place)};"
        for part, place in zip(parts, lanes.places(at, CHAINS), strict=True)
    ]
    return [
        *lanes.declared,
        f"{lanes.name} {', '.join(f'{part} = {{0}}' for part in parts)};",
        *block(at, source.slice(found.bound), f"{CHAINS} * {lanes.width}", steps),
        f"{parts[0]} = ({parts[0]} + {parts[1]}) + ({parts[2]} + {parts[3]});",
        f"for (int {lane} = 0; {lane} < {lanes.width}; {lane}++) {total} += {parts[0]}[{lane}];",
    ]
