"""Short loop bodies of which several could run between two jumps."""

from __future__ import annotations

import re
from collections.abc import Iterator

from whet.agents.catalogue.base import Label
from whet.agents.catalogue.cpp.counted import counted
from whet.agents.catalogue.cpp.edit import FunctionEdit, Replacement, Splice, indentation, newline
from whet.agents.catalogue.cpp.source import CppSource

TIMES = (4, 8)
"""Copies of a loop's body, one proposal each. More copies save more jumps, but are slower in loops of few turns, and
where the code outgrows the instruction cache; a third number makes a third proposal for each loop."""
PRAGMA = re.compile(r"#\s*pragma\s+GCC\s+unroll\b")


class UnrolledLoops(FunctionEdit):
    """Asks the compiler for several copies of an innermost loop's body."""

    name = "unroll-pragma"
    label = Label.COMPILER_FLAG
    summary = "asks the compiler to write the body of an innermost loop four or eight times between two jumps"
    needs = "a counting loop that holds no other, in a file that unrolls none by a pragma yet"
    unsafe = "never wrong; slower where few turns are made, or where the code no longer fits the cache of instructions"

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change a loop and number of copies."""
        if any(PRAGMA.match(each.text) for each in source.directives):
            return
        for found in counted(source):
            at = found.loop.at
            innermost = not any(other.at in found.loop.body for other in source.loops)
            if innermost and source.word(at - 1) in ("{", "}", ";"):
                start, end = source.tokens[at].start, newline(source)
                begin = source.text.rfind("\n", 0, start) + 1
                opening = "" if not source.text[begin:start].strip() else end
                for times in TIMES:
                    text = f"{opening}#pragma GCC unroll {times}{end}{indentation(source, at)}"
                    why = f"each turn over '{found.name}' ends in a test and a jump: {times} at a time"
                    yield Replacement(source.tokens[at].line, [Splice(start, start, text)], why)
