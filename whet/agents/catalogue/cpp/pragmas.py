"""Switches of the compiler that stand in the source text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from whet.agents.catalogue.base import Label, Proposal
from whet.agents.catalogue.cpp.edit import CppEdit, Replacement, Splice, newline
from whet.agents.catalogue.cpp.source import CppSource
from whet.agents.models.base import Brief

OPTIMIZE = '#pragma GCC optimize("O3,unroll-loops")'
FEATURES = {"avx2": "avx2", "bmi1": "bmi", "bmi2": "bmi2", "abm": "lzcnt", "popcnt": "popcnt"}
"""What Linux calls an instruction set, and what GCC does. Without fma, which rounds otherwise than two instructions."""
CPUINFO = Path("/proc/cpuinfo")


class Pragmas(CppEdit):
    """Asks for unrolled loops, and for the vector and bit instructions that this machine has.

    Flags on the command line are the task's and the same on both sides; a pragma belongs to the candidate, is labelled
    as a compiler flag, and is measured under ``-march=native`` too wherever the task leaves the flags open.
    """

    name = "pragma"
    languages: tuple[str, ...] = ("c", "cpp")
    label = Label.COMPILER_FLAG
    summary = "sets GCC's optimisation and the instructions of this machine by pragmas at the top of the file"
    needs = "a loop, and a file that has no such pragma yet; a processor with AVX2 for the second one"
    unsafe = "a processor that lacks the instructions"

    def propose(self, brief: Brief) -> Iterator[Proposal]:
        """Yields one proposal a pragma; of a function only what its task leaves open."""
        if brief.signature is None or brief.open_flags:
            allowed = super().propose(brief)
            yield from (each for each in allowed if not brief.features or "GCC target" not in each.source)

    def changes(self, source: CppSource) -> Iterator[Replacement]:
        """Yields one change a pragma, and one for all that are missing."""
        if not source.loops:
            return
        missing = []
        if not _has(source, "optimize"):
            missing.append(OPTIMIZE)
        if (names := target_features()) and not _has(source, "target"):
            missing.append(f'#pragma GCC target("{names}")')
        together = [missing] if len(missing) > 1 else []
        for pragmas in [*together, *([each] for each in missing)]:
            text = "".join(f"{each}{newline(source)}" for each in pragmas)
            start = source.directives[0].start if source.directives else 0
            yield Replacement(1, [Splice(start, start, text)], f"the compiler may do more: {'; '.join(pragmas)}")


def _has(source: CppSource, kind: str) -> bool:
    return any(re.match(rf"#\s*pragma\s+GCC\s+{kind}\b", each.text) for each in source.directives)


@cache
def machine_features() -> frozenset[str]:
    """Returns the instruction sets of this machine's processor, as Linux calls them; none where it does not tell."""
    try:
        text = CPUINFO.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return frozenset()
    return frozenset(next((line for line in text.splitlines() if line.startswith("flags")), "").split())


def target_features() -> str:
    """Returns what `target` may name on this machine, with commas; an empty text where it has no AVX2."""
    names = [name for flag, name in FEATURES.items() if flag in machine_features()]
    return ",".join(names) if "avx2" in names else ""
