"""The rung of proof: whether an answer is equivalent to its reference, by symbolic execution where it can be.

Every counterexample is run on both before it is believed. See `whet.evaluators.prove`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whet.core.errors import BaselineError
from whet.core.plain import to_plain
from whet.core.signature import Signature
from whet.core.verdict import Reason
from whet.evaluators.abi.cases import Case, case_of
from whet.evaluators.finding import Fault, Finding, Inconclusive, Passed, Skipped
from whet.evaluators.prove.engines import Engines
from whet.evaluators.prove.proof import Code, Counterexample, Inputs, Proof, ProofAnswer, Replay
from whet.evaluators.prove.prove import prove

KNOWN = ("x86_64", "aarch64")
"""Instruction sets that the engines follow."""
SIMPLE = ("-O1", "-fno-tree-vectorize", "-ffp-contract=off")
"""Flags of a reference that is easy to follow: what it computes is the same."""
LONGEST = 2000
"""Characters of a counterexample in words, and of its inputs alone. More cost tokens where a prompt
quotes them, fewer cut off the block of code that is at fault; the evidence has all of it."""


def proven(
    reference: Code,
    candidate: Code,
    signature: Signature,
    call: Callable[[Case], Finding],
    engines: Engines | None = None,
) -> Finding:
    """Returns what a proof comes to.

    Args:
        reference: compiled simply; its machine may be another.
        candidate: the answer.
        signature: the contract of both.
        call: calls the answer and the reference on one case.
        engines: see `prove`.
    """
    if candidate.isa not in KNOWN:
        return Skipped(Reason.TOOL_MISSING, f"no engine follows {candidate.isa}")
    found = prove(reference, candidate, signature, _replay(signature, call), engines)
    if isinstance(found, Skipped):
        return found
    evidence = to_plain(found)
    if found.answer is ProofAnswer.COUNTEREXAMPLE:
        assert found.counterexample is not None
        return Fault(Reason.COUNTEREXAMPLE, _told(found.counterexample), evidence)
    said = f"{found.reason}{_by(found)}"
    return Passed(said, evidence) if found.answer is ProofAnswer.PROVED else Inconclusive(said, evidence)


def _replay(signature: Signature, call: Callable[[Case], Finding]) -> Replay:
    def replay(inputs: Inputs) -> bool | None:
        at = inputs.overlap
        overlap = None if at is None else (at.other, at.name, at.offset)
        try:
            found = call(case_of(signature, inputs.values, overlap))
        except (BaselineError, ValueError, OverflowError):  # what the contract forbids says nothing
            return None
        return None if isinstance(found, Skipped) else isinstance(found, Fault)

    return replay


def _by(found: Proof) -> str:
    return f" ({' and '.join(found.engines)}, {found.seconds:.1f} s)" if found.engines else ""


def _told(found: Counterexample) -> str:
    """Returns a counterexample in words: what is wrong, on what, and where in the code."""
    given = ", ".join(f"{name}={_shown(value)}" for name, value in found.inputs.values.items())
    lines = [found.what, f"on {given}"[:LONGEST]]
    if found.inputs.overlap is not None:
        where = found.inputs.overlap
        lines.append(f"with {where.other} beginning {where.offset} bytes behind {where.name}")
    if found.block is not None:
        lines += [f"in the block at 0x{found.block.start:x} to 0x{found.block.end:x}:", *found.block.lines]
    return "\n".join(lines)[:LONGEST]


def _shown(value: Any) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value)
