"""What a proof is about, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

Plain = int | float | tuple[int | float, ...]
"""A number, or the elements of a buffer."""


class ProofAnswer(StrEnum):
    """The three answers. An inconclusive one counts neither as a pass nor as a fail."""

    PROVED = "proved"
    COUNTEREXAMPLE = "counterexample"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Code:
    """A compiled function.

    Attributes:
        object: the bytes of an ELF relocatable object.
        symbol: of the function in it.
        isa: ``x86_64`` or ``aarch64``.
    """

    object: bytes
    symbol: str
    isa: str


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two buffers in the same memory: ``other`` begins ``offset`` bytes behind the begin of ``name``."""

    name: str
    other: str
    offset: int


@dataclass(frozen=True, slots=True)
class Inputs:
    """Arguments of one call.

    Attributes:
        values: of each argument by its name; of a buffer that is only written, what it holds before.
        overlap: which buffers lie in the same memory; None where all lie apart.
    """

    values: Mapping[str, Plain]
    overlap: Overlap | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """A basic block of the candidate.

    Attributes:
        start: offset of its first byte from the begin of the function.
        end: offset behind its last byte.
        lines: its disassembly, each with the offset in front.
    """

    start: int
    end: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Inputs on which the candidate is wrong.

    Attributes:
        inputs: the call.
        what: what is wrong, in words: the result that differs with both values, or the fault.
        block: where the candidate wrote what is wrong, or did what it may not; None where no path tells.
    """

    inputs: Inputs
    what: str
    block: Block | None


@dataclass(frozen=True, slots=True)
class Proof:
    """What came of an attempt to prove two functions equivalent.

    Attributes:
        answer: one of the three.
        label: ``proved``, or ``bounded-proved(n<=8)`` where sizes are bounded; empty where nothing was proved.
        reason: the same in words.
        assumptions: under which it holds, in words.
        compared: what was compared, in words.
        paths: that ran to their end in the baseline and in the candidate, over all sizes and placements.
        reached: instructions of the candidate that some path went through, of how many.
        engines: that came to the answer: ``angr``, and ``triton`` where the second one agreed.
        seconds: wall time that it took.
        counterexample: confirmed by running it where the answer is one; unconfirmed where it is inconclusive.
    """

    answer: ProofAnswer
    label: str = ""
    reason: str = ""
    assumptions: tuple[str, ...] = ()
    compared: tuple[str, ...] = ()
    paths: tuple[int, int] = (0, 0)
    reached: tuple[int, int] = (0, 0)
    engines: tuple[str, ...] = ()
    seconds: float = 0.0
    counterexample: Counterexample | None = None


Replay = Callable[[Inputs], bool | None]
"""Runs both functions on an input.

True where the candidate is wrong there (another result, a fault, a broken ABI), False where it is right,
None where it could not be run.
"""
