"""How a function is called on each machine: where arguments lie, and what it must leave as it was.

Sources: System V ABI, AMD64 supplement, 3.2; Procedure Call Standard for the Arm 64-bit Architecture, 6.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from whet.core.signature import Argument


@dataclass(frozen=True, slots=True)
class Convention:
    """A calling convention.

    Attributes:
        integers: registers of whole numbers and pointers, in order.
        vectors: registers of floats, in order.
        result: register of a whole number returned; a float comes back in the first of ``vectors``.
        stack: the stack pointer's register.
        at_entry: bytes that the stack pointer lies below a multiple of 16 at entry.
        link: register of the return address; None where it lies on the stack.
        kept: registers that a call leaves as they were.
        kept_low: vector registers of which the low 64 bits are left as they were.
        below: bytes below the stack pointer that a function may use.
    """

    integers: tuple[str, ...]
    vectors: tuple[str, ...]
    result: str
    stack: str
    at_entry: int
    link: str | None
    kept: tuple[str, ...]
    kept_low: tuple[str, ...]
    below: int


CONVENTIONS = {
    "x86_64": Convention(
        integers=("rdi", "rsi", "rdx", "rcx", "r8", "r9"),
        vectors=tuple(f"ymm{i}" for i in range(8)),
        result="rax",
        stack="rsp",
        at_entry=8,
        link=None,
        kept=("rbx", "rbp", "r12", "r13", "r14", "r15"),
        kept_low=(),
        below=128,
    ),
    "aarch64": Convention(
        integers=tuple(f"x{i}" for i in range(8)),
        vectors=tuple(f"q{i}" for i in range(8)),
        result="x0",
        stack="sp",
        at_entry=0,
        link="x30",
        kept=(*(f"x{i}" for i in range(19, 29)), "x29"),
        kept_low=tuple(f"q{i}" for i in range(8, 16)),
        below=0,
    ),
}


def floating(kind: str) -> bool:
    """Returns whether a type, as numpy names it, is one of floats."""
    return kind.startswith("float")


def bits(kind: str) -> int:
    """Returns the width of a type as numpy names it."""
    return int(kind.removeprefix("u").removeprefix("int").removeprefix("float"))


def places(arguments: Sequence[Argument], convention: Convention) -> Iterator[tuple[Argument, str | int]]:
    """Yields each argument with its register, or with its offset among those on the stack."""
    integers, vectors = iter(convention.integers), iter(convention.vectors)
    on_stack = 0
    for one in arguments:
        place = next(vectors if not one.buffer and floating(one.type) else integers, None)
        if place is None:
            yield one, on_stack
            on_stack += 8
        else:
            yield one, place
