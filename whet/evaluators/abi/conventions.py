"""Where arguments go, and what a callee has to keep, by each instruction set's calling convention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from whet.core.signature import Signature

INTS, FLOATS, STACKED = 8, 8, 16
"""Places of the driver for integer registers, float registers and words on the stack."""


@dataclass(frozen=True, slots=True)
class Convention:
    """A calling convention.

    Attributes:
        integers: registers for integers and pointers.
        floats: registers for floats.
        spills: whether a float that finds no register of its own takes one for integers.
        kept: registers that a callee keeps, in the driver's order.
        extended: bits that a caller extends a narrow integer to; the rest of its register is garbage.
        signed: whether 32 bits are extended by their sign whatever their type.
        stack: name of the stack pointer.
        control: name of the register that holds rounding and its kin, and what it holds on entry.
        x87: control word, and tag word above it, of an empty x87 stack; 0 where there is none.
    """

    integers: int
    floats: int
    spills: bool
    kept: tuple[str, ...]
    extended: int
    signed: bool
    stack: str
    control: tuple[str, int]
    x87: int


CONVENTIONS = {
    "x86_64": Convention(
        6, 8, False, ("rbx", "rbp", "r12", "r13", "r14", "r15"), 32, False, "rsp", ("MXCSR", 0x1F80), 0xFFFF037F
    ),
    "aarch64": Convention(
        8, 8, False, (*(f"x{n}" for n in range(19, 30)), *(f"d{n}" for n in range(8, 16))), 8, False, "sp",
        ("FPCR", 0), 0,
    ),
    "riscv64": Convention(
        8, 8, True, (*(f"s{n}" for n in range(12)), *(f"fs{n}" for n in range(12))), 64, True, "sp", ("fcsr", 0), 0
    ),
}  # fmt: skip
"""Those of Linux: System V for x86-64, AAPCS64, and lp64d of RISC-V."""


@dataclass(frozen=True, slots=True)
class ArgumentLocation:
    """Where an argument goes.

    Attributes:
        kind: ``int``, ``float`` or ``stack``.
        index: of the register or the word.
    """

    kind: str
    index: int


class UnfitError(ValueError):
    """The driver cannot pass this many arguments."""


def places(signature: Signature, convention: Convention) -> tuple[ArgumentLocation, ...]:
    """Returns where each argument goes, in their order.

    Raises:
        UnfitError: more arguments than the driver has places for.
    """
    found: list[ArgumentLocation] = []
    integers = floats = stacked = 0
    for one in signature.arguments:
        real = not one.buffer and one.type.startswith("float")
        if real and floats < convention.floats:
            found.append(ArgumentLocation("float", floats))
            floats += 1
        elif (not real or convention.spills) and integers < convention.integers:
            found.append(ArgumentLocation("int", integers))
            integers += 1
        else:
            found.append(ArgumentLocation("stack", stacked))
            stacked += 1
    if stacked > STACKED:
        raise UnfitError(f"{len(signature.arguments)} arguments; {stacked} of them would lie on the stack")
    return tuple(found)


def extended(value: int, kind: str, convention: Convention, garbage: int) -> int:
    """Returns the word of a register that holds an integer.

    Args:
        value: within its type.
        kind: its type, as numpy names it.
        convention: says how far a caller extends it.
        garbage: what the bits beyond that are.
    """
    bits = int(kind.lstrip("uint"))
    if convention.signed and kind == "uint32":
        value -= (value >> 31) << 32
    own = (1 << max(bits, convention.extended)) - 1
    return (value & own) | (garbage & ~own & (1 << 64) - 1)


def masks(signature: Signature, convention: Convention) -> tuple[int, int]:
    """Returns which bits of the first integer register, and of the first float register, a result is."""
    kind = signature.returns
    if kind is None:
        return 0, 0
    if kind.startswith("float"):
        return 0, (1 << int(kind[5:])) - 1
    # What a callee has to extend counts as a whole.
    return (1 << (64 if convention.extended == 64 else int(kind.lstrip("uint")))) - 1, 0


def changed(kept: Sequence[str], before: bytes, after: bytes) -> list[str]:
    """Returns which registers hold something else than before."""
    return [name for i, name in enumerate(kept) if before[8 * i : 8 * i + 8] != after[8 * i : 8 * i + 8]]
