"""Arrays that are computed element by element from others."""

from __future__ import annotations

from collections.abc import Iterator

from whet.agents.catalogue.cpp.counted import Counted, ahead, counted, element, element_at
from whet.agents.catalogue.cpp.edit import FunctionEdit, Replacement
from whet.agents.catalogue.cpp.lanes import Lanes, lanes_of, written
from whet.agents.catalogue.cpp.simd import block
from whet.agents.catalogue.cpp.source import CppSource, Region

TIMES = 2
"""Vectors of a turn."""


class ElementwiseVectors(FunctionEdit):
    """Computes two vectors of elements a turn, without the question whether the arrays overlap."""

    name = "vector-elementwise"
    summary = "computes an array from others two vectors at a time, without a test for overlap at each call"
    needs = "a counting loop of nothing but `y[i] += a * x[i]` or another sum of products, all of one type"
    unsafe = "an output that overlaps an input otherwise than element on element"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change a loop."""
        for found in counted(source):
            first = found.body.first
            computed = Region(first + 5, found.body.end - 1)
            is_store = element_at(source, found, first) and source.word(first + 4) in ("=", "+=", "-=", "*=")
            if not is_store or source.word(computed.end) != ";" or computed.end - computed.first < 5:
                continue
            lanes = lanes_of(source, found, element(source, first) or "", computed)
            if lanes is not None:
                at = source.fresh(f"{found.name}_ahead")
                why = f"'{source.word(first)}' is written element by element"
                lines = _lines(source, found, lanes, computed, at)
                yield Replacement(source.tokens[first].line, ahead(source, found, at, lines), why)


def _lines(source: CppSource, found: Counted, lanes: Lanes, computed: Region, at: str) -> list[str]:
    first = found.body.first
    made, steps = source.fresh("made"), []
    places = lanes.places(at, TIMES)
    for number, place in enumerate(places):
        value = written(source, found, lanes, computed, place)
        sign = source.word(first + 4)
        if sign != "=":
            value = f"{lanes.at(source.word(first), place)} {sign[0]} ({value})"
        steps.append(f"const {lanes.name} {made}_{number} = {value};")
    for number, place in enumerate(places):
        steps.append(f"*({lanes.name} *)&{source.word(first)}[{place}] = {made}_{number};")
    return [*lanes.declared, *block(at, source.slice(found.bound), f"{TIMES} * {lanes.width}", steps)]
