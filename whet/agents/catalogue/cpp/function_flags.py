"""Switches of the compiler for one function."""

from __future__ import annotations

from collections.abc import Iterator

from whet.agents.catalogue.base import Label, Proposal
from whet.agents.catalogue.cpp.edit import Splice, spliced
from whet.agents.catalogue.cpp.pragmas import machine_features, target_features
from whet.agents.catalogue.cpp.source import CppSource, read
from whet.agents.models.base import Brief

WIDE = ("avx512f", "avx512bw", "avx512dq", "avx512vl")
SHORT_LOOPS = 'optimize("no-tree-vectorize")'


class FunctionFlags:
    """Gives the target function wider vectors than the build has, or none at all.

    Proposed only where the task leaves flags open; the file as a whole gets its switches from `pragmas`.
    """

    name = "function-flags"
    languages: tuple[str, ...] = ("c", "cpp")
    label = Label.COMPILER_FLAG
    summary = "compiles one function with this machine's vectors, the widest of them, or for short loops without any"
    needs = "a function with a loop and without such an attribute, in a task that does not pin its flags"
    unsafe = "a processor that lacks the instructions"
    assumes: tuple[str, ...] = ()

    def propose(self, brief: Brief) -> Iterator[Proposal]:
        """Yields one proposal a choice."""
        source = read(brief)
        place = _place(source, brief) if source is not None and brief.open_flags else None
        if source is not None and place is not None:
            offset, line = place
            for choice in _choices(brief.features):
                text = spliced(source.text, [Splice(offset, offset, f"__attribute__(({choice})) ")])
                yield Proposal(text, self.name, self.label, line, f"the compiler may do otherwise here: {choice}")


def _choices(features: tuple[str, ...]) -> list[str]:
    found = []
    if not features and (names := target_features()):
        found.append(f'target("{names}")')
    if (set(features) or machine_features()).issuperset(WIDE):
        found.append(f'target("{",".join(WIDE)},prefer-vector-width=512")')
    return [*found, SHORT_LOOPS]


def _place(source: CppSource, brief: Brief) -> tuple[int, int] | None:
    """Returns the offset before the target's type, and its line; None where it has no loop or an attribute already."""
    for function in source.functions:
        if function.name != brief.symbol or function.body is None:
            continue
        if not any(loop.at in function.body for loop in source.loops):
            continue
        first = function.at
        while first > 0 and source.word(first - 1) not in (";", "}", "{"):
            first -= 1
        if source.words(range(first, first + 2)) == ["extern", '"C"']:
            first += 2
        if "__attribute__" not in source.words(range(first, function.at)):
            return source.tokens[first].start, source.tokens[function.at].line
    return None
