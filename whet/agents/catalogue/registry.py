"""All edits, and what they propose for a source text."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from whet.agents.catalogue.base import Edit, Proposal
from whet.agents.catalogue.cpp.const_ref import ConstReferences
from whet.agents.catalogue.cpp.fast_io import FastStreams
from whet.agents.catalogue.cpp.loop_bound import LoopBounds
from whet.agents.catalogue.cpp.loop_ref import LoopReferences
from whet.agents.catalogue.cpp.reserve import ReservedVectors
from whet.agents.catalogue.cpp.unordered import UnorderedContainers
from whet.agents.catalogue.python.comprehensions import Comprehensions
from whet.agents.catalogue.python.constants import ConstantMembership
from whet.agents.catalogue.python.counting import CountedOnce
from whet.agents.catalogue.python.invariants import InvariantCalls
from whet.agents.catalogue.python.lookups import Lookups
from whet.agents.catalogue.python.membership import ListMembership
from whet.agents.catalogue.python.patterns import CompiledPatterns
from whet.agents.catalogue.python.queues import Deques
from whet.agents.catalogue.python.recursion import CachedRecursion
from whet.agents.catalogue.python.strings import JoinedStrings
from whet.agents.models.base import Brief
from whet.core.candidate import content_id
from whet.core.profile import HotLine

EDITS: tuple[Edit, ...] = (
    ListMembership(),
    CachedRecursion(),
    CountedOnce(),
    InvariantCalls(),
    Deques(),
    ConstantMembership(),
    JoinedStrings(),
    CompiledPatterns(),
    Comprehensions(),
    Lookups(),
    ConstReferences(),
    UnorderedContainers(),
    FastStreams(),
    LoopBounds(),
    LoopReferences(),
    ReservedVectors(),
)
"""Those that tend to win most come first within a language."""


def proposals(brief: Brief) -> list[Proposal]:
    """Returns what the edits propose, those at the hottest lines first.

    Each text comes once; texts that the run has seen already, and the source itself, are left out. A source that
    cannot be read gives nothing.
    """
    found: list[Proposal] = []
    for edit in EDITS:
        if brief.language in edit.languages:
            with suppress(RecursionError):  # a text nested too deeply for the edit; the others may cope
                found.extend(edit.propose(brief))
    found.sort(key=lambda proposal: _coldness(proposal.line, brief.hot))
    seen = {content_id(brief.source), *brief.tried}
    fresh: list[Proposal] = []
    for proposal in found:
        identity = content_id(proposal.source)
        if identity not in seen:
            seen.add(identity)
            fresh.append(proposal)
    return fresh


def nearest_hot(line: int, hot: Sequence[HotLine]) -> HotLine | None:
    """Returns the hot line nearest to a line, the hotter of two at one distance; None where none is known."""
    return min(hot, key=lambda each: (abs(each.line - line), -each.share), default=None)


def _coldness(line: int, hot: Sequence[HotLine]) -> tuple[float, int]:
    nearest = nearest_hot(line, hot)
    return (-nearest.share, abs(nearest.line - line)) if nearest else (0.0, 0)
