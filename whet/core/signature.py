"""The contract of a native function: its C prototype, and what each argument is for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """What an argument is for.

    ``in``, ``out`` and ``inout`` are buffers; ``size`` counts elements of buffers; ``scalar`` is any other number.
    """

    IN = "in"
    OUT = "out"
    INOUT = "inout"
    SIZE = "size"
    SCALAR = "scalar"


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument.

    Attributes:
        name: as in the prototype.
        type: of the value, or of a buffer's elements, as numpy names it: ``int32``, ``float64``.
        role: what it is for.
        length: elements of a buffer: a number, or products and sums of sizes such as ``n * m + 1``; empty for others.
        align: bytes that a buffer is aligned to at least.
        may_alias: buffers that may lie in the same memory.
        low: smallest value, of a number or of a buffer's elements; None where the type sets it.
        high: largest, likewise.
        assumed: whether its bounds are a guess, since nobody stated them.
    """

    name: str
    type: str
    role: Role
    length: str = ""
    align: int = 1
    may_alias: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    assumed: bool = False

    @property
    def buffer(self) -> bool:
        """Whether it is a pointer to elements."""
        return self.role in (Role.IN, Role.OUT, Role.INOUT)


@dataclass(frozen=True, slots=True)
class Signature:
    """The contract of a native function.

    Attributes:
        prototype: as the task states it.
        returns: type of the result; None for ``void``.
        arguments: in their order.
        externs: symbols that the code may call.
    """

    prototype: str
    returns: str | None
    arguments: tuple[Argument, ...]
    externs: tuple[str, ...] = ()

    @property
    def plain(self) -> tuple[tuple[str, str, str, str, int], ...]:
        """Name, type, role, length and alignment of each argument: what the process that calls is told."""
        return tuple((one.name, one.type, one.role.value, one.length, one.align) for one in self.arguments)

    @property
    def given(self) -> tuple[Argument, ...]:
        """The arguments that an input holds: all but the buffers that are only written."""
        return tuple(one for one in self.arguments if one.role is not Role.OUT)
