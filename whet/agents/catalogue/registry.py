"""All edits, and what they propose for a source text."""

from __future__ import annotations

from contextlib import suppress

from whet.agents.catalogue.asm.align_loops import AlignedLoops
from whet.agents.catalogue.base import Edit, Proposal
from whet.agents.catalogue.cpp.accumulators import SeveralAccumulators
from whet.agents.catalogue.cpp.bits import BytesNotBits
from whet.agents.catalogue.cpp.block_input import BlockInputs
from whet.agents.catalogue.cpp.block_output import BlockOutputs
from whet.agents.catalogue.cpp.block_scan import BlockScans
from whet.agents.catalogue.cpp.byte_count import VectorCounts
from whet.agents.catalogue.cpp.characters import Characters
from whet.agents.catalogue.cpp.clang_tidy import ClangTidy
from whet.agents.catalogue.cpp.compilers import CompilerChoices
from whet.agents.catalogue.cpp.const_ref import ConstReferences
from whet.agents.catalogue.cpp.constants import ConstantGlobals
from whet.agents.catalogue.cpp.contracts import AlignedPointers, RestrictPointers
from whet.agents.catalogue.cpp.deques import FrontDeques
from whet.agents.catalogue.cpp.elementwise import ElementwiseVectors
from whet.agents.catalogue.cpp.fast_io import FastStreams
from whet.agents.catalogue.cpp.function_flags import FunctionFlags
from whet.agents.catalogue.cpp.grids import FlatGrids
from whet.agents.catalogue.cpp.heaps import SortedHeaps
from whet.agents.catalogue.cpp.hoist_call import InvariantMath
from whet.agents.catalogue.cpp.interchange import LoopInterchange
from whet.agents.catalogue.cpp.lookups import LookupsOnce
from whet.agents.catalogue.cpp.loop_bound import LoopBounds
from whet.agents.catalogue.cpp.loop_ref import LoopReferences
from whet.agents.catalogue.cpp.membership import SearchedVectors
from whet.agents.catalogue.cpp.popcounts import VectorPopcounts
from whet.agents.catalogue.cpp.powers import SmallPowers
from whet.agents.catalogue.cpp.pragmas import Pragmas
from whet.agents.catalogue.cpp.prefix_sum import VectorPrefixSums
from whet.agents.catalogue.cpp.recursion import KeptRecursion
from whet.agents.catalogue.cpp.reserve import ReservedVectors
from whet.agents.catalogue.cpp.selects import Selects
from whet.agents.catalogue.cpp.small_dots import SmallDots
from whet.agents.catalogue.cpp.stdio import UnlockedCharacters, WideOutput
from whet.agents.catalogue.cpp.strings import StringsInPlace
from whet.agents.catalogue.cpp.unchecked import UncheckedElements
from whet.agents.catalogue.cpp.unordered import UnorderedContainers
from whet.agents.catalogue.cpp.unroll import UnrolledLoops
from whet.agents.catalogue.cpp.vector_search import VectorSearches
from whet.agents.catalogue.cpp.vector_sums import VectorSums
from whet.agents.catalogue.python.asked import MembershipOfMade
from whet.agents.catalogue.python.comprehensions import Comprehensions
from whet.agents.catalogue.python.constants import ConstantMembership
from whet.agents.catalogue.python.copies import AvoidedCopies
from whet.agents.catalogue.python.counting import CountedOnce
from whet.agents.catalogue.python.elements import ElementLoops
from whet.agents.catalogue.python.expressions import InvariantExpressions
from whet.agents.catalogue.python.extremes import SortedForExtremes
from whet.agents.catalogue.python.growing import GrowingTotals
from whet.agents.catalogue.python.growth import GrownInPlace
from whet.agents.catalogue.python.heaps import Heaps
from whet.agents.catalogue.python.helpers import CachedHelpers
from whet.agents.catalogue.python.insertion import InsertedInOrder
from whet.agents.catalogue.python.invariants import InvariantCalls
from whet.agents.catalogue.python.joins import NestedLoopJoins
from whet.agents.catalogue.python.lookups import Lookups
from whet.agents.catalogue.python.mapped import MappedBuiltins
from whet.agents.catalogue.python.membership import ListMembership
from whet.agents.catalogue.python.patterns import CompiledPatterns
from whet.agents.catalogue.python.positions import FirstPositions
from whet.agents.catalogue.python.prefixes import PrefixTotals
from whet.agents.catalogue.python.queues import Deques
from whet.agents.catalogue.python.ranks import CountedByBisect
from whet.agents.catalogue.python.recursion import CachedRecursion
from whet.agents.catalogue.python.reductions import LoopBuiltins
from whet.agents.catalogue.python.ruff_fixes import RuffFixes
from whet.agents.catalogue.python.running import RunningTotals
from whet.agents.catalogue.python.slots import Slots
from whet.agents.catalogue.python.strings import JoinedStrings
from whet.agents.catalogue.python.tried import TriedLookups
from whet.agents.catalogue.python.vectors import NumpyExpressions
from whet.agents.models.base import Brief
from whet.core.candidate import content_id
from whet.sandbox.toolchains.native import is_assembly

EDITS: tuple[Edit, ...] = (
    ListMembership(),
    CachedRecursion(),
    CountedOnce(),
    NestedLoopJoins(),
    FirstPositions(),
    PrefixTotals(),
    SortedForExtremes(),
    Heaps(),
    InsertedInOrder(),
    CountedByBisect(),
    MembershipOfMade(),
    GrowingTotals(),
    GrownInPlace(),
    NumpyExpressions(),
    RunningTotals(),
    InvariantCalls(),
    AvoidedCopies(),
    InvariantExpressions(),
    Deques(),
    ConstantMembership(),
    JoinedStrings(),
    CompiledPatterns(),
    Comprehensions(),
    CachedHelpers(),
    LoopBuiltins(),
    ElementLoops(),
    MappedBuiltins(),
    Lookups(),
    TriedLookups(),
    Slots(),
    RuffFixes(),
    ConstReferences(),
    UnorderedContainers(),
    FastStreams(),
    LoopBounds(),
    LoopReferences(),
    SearchedVectors(),
    KeptRecursion(),
    SortedHeaps(),
    FrontDeques(),
    InvariantMath(),
    StringsInPlace(),
    Characters(),
    LookupsOnce(),
    SmallPowers(),
    LoopInterchange(),
    ConstantGlobals(),
    FlatGrids(),
    BytesNotBits(),
    UncheckedElements(),
    BlockInputs(),
    BlockScans(),
    BlockOutputs(),
    UnlockedCharacters(),
    WideOutput(),
    ReservedVectors(),
    ClangTidy(),
    VectorSearches(),
    VectorCounts(),
    VectorPopcounts(),
    VectorSums(),
    SmallDots(),
    VectorPrefixSums(),
    SeveralAccumulators(),
    Selects(),
    ElementwiseVectors(),
    RestrictPointers(),
    AlignedPointers(),
    Pragmas(),
    FunctionFlags(),
    CompilerChoices(),
    UnrolledLoops(),
    AlignedLoops(),
)
"""Those that tend to win most come first within a language."""


def proposals(brief: Brief) -> list[Proposal]:
    """Returns what the edits propose, in their order; `whet.agents.catalogue.search` knows a better one.

    Each text comes once; texts that the run has seen already, and the source itself, are left out. A source that
    cannot be read gives nothing.
    """
    found: dict[str, Proposal] = {}
    # a task of assembly may be answered in C, and what comes of that be edited further
    language = "c" if brief.language == "asm" and not is_assembly(brief.source) else brief.language
    for edit in EDITS:
        if language in edit.languages:
            with suppress(RecursionError):  # a text nested too deeply for the edit; the others may cope
                for proposal in edit.propose(brief):
                    found.setdefault(content_id(proposal.source), proposal)
    seen = {content_id(brief.source), *brief.tried}
    return [proposal for identity, proposal in found.items() if identity not in seen]
