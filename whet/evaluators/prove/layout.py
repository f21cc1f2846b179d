"""The symbolic inputs of one call: what both sides are given, and where it lies."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import claripy

from whet.core.signature import Argument, Role, Signature
from whet.evaluators.prove.calling import bits, floating
from whet.evaluators.prove.cases import MOST_BYTES, Case, alignment, total_bytes
from whet.evaluators.prove.proof import Plain
from whet.sandbox.inside.lengths import evaluate

BASE = 0x7E00_0000_0000
GAP = 0x1_0000
"""Between buffers, more than any of them is long."""
STACK = 0x7FF0_0000_0000
"""A multiple of 16, at which arguments on the stack begin."""
STACK_BYTES = 0x1_0000
"""Bytes of stack that the function may use. An access below them counts as a fault, so that no larger
frame can be proved; a larger number allows larger frames."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """A buffer of a call.

    Attributes:
        argument: what the contract says of it.
        address: of its first byte.
        elements: the symbolic value of each.
    """

    argument: Argument
    address: int
    elements: tuple[Any, ...]

    @property
    def bytes(self) -> int:
        """Its length."""
        return len(self.elements) * bits(self.argument.type) // 8


@dataclass(slots=True)
class Layout:
    """The inputs of one call.

    Attributes:
        numbers: of each size and scalar its value, symbolic or concrete.
        buffers: of each pointer what it points to.
        memory: symbolic contents byte by byte.
        contract: what the contract asks of the values.
    """

    numbers: dict[str, Any] = field(default_factory=dict)
    buffers: dict[str, Buffer] = field(default_factory=dict)
    memory: dict[int, Any] = field(default_factory=dict)
    contract: list[Any] = field(default_factory=list)

    def variables(self) -> frozenset[str]:
        """Returns the names of all symbols that an input consists of."""
        values = [*self.numbers.values(), *self.memory.values()]
        return frozenset().union(*(one.variables for one in values))

    def read(self, address: int, count: int) -> Any:
        """Returns the contents of some bytes, the lowest address in the lowest bits."""
        return claripy.Concat(*(self.memory[address + i] for i in reversed(range(count))))


def layout(signature: Signature, case: Case) -> Layout:
    """Returns the symbolic inputs of a case."""
    made = Layout()
    starts = _starts(signature, case)
    for one in signature.arguments:
        if one.buffer:
            _fill(made, one, starts[one.name], evaluate(one.length, case.sizes))
        elif one.role is Role.SIZE:
            made.numbers[one.name] = claripy.BVV(case.sizes[one.name], bits(one.type))
        else:
            value = claripy.BVS(one.name, bits(one.type), explicit_name=True)
            made.numbers[one.name] = value
            made.contract += bounds(one, value)
    return made


def bounds(one: Argument, value: Any) -> list[Any]:
    """Returns what the contract's least and largest value ask of a number."""
    if floating(one.type):
        number = value.raw_to_fp()
        given = [(claripy.fpGEQ, one.low), (claripy.fpLEQ, one.high)]
        return [ask(number, claripy.FPV(float(limit), number.sort)) for ask, limit in given if limit is not None]
    # one bit more than the type has, so that limits beyond it mean what they say
    wide = value.zero_extend(1) if one.type.startswith("u") else value.sign_extend(1)
    most = 1 << value.length
    found = []
    if one.low is not None:
        found.append(claripy.SGE(wide, claripy.BVV(math.ceil(min(max(one.low, -most), most - 1)), wide.length)))
    if one.high is not None:
        found.append(claripy.SLE(wide, claripy.BVV(math.floor(max(min(one.high, most - 1), -most)), wide.length)))
    return found


def plain(kind: str, raw: int) -> int | float:
    """Returns the number that some bits stand for."""
    width = bits(kind)
    if floating(kind):
        number: float = struct.unpack("<f" if width == 32 else "<d", raw.to_bytes(width // 8, "little"))[0]
        return number
    return raw - (1 << width) if kind.startswith("i") and raw >> (width - 1) else raw


def values(signature: Signature, made: Layout, at: Mapping[Any, int]) -> dict[str, Plain]:
    """Returns the arguments of a call as plain data.

    Args:
        signature: the contract.
        made: the symbolic inputs.
        at: the number that each number and element of them comes to, by its `hash`.
    """
    found: dict[str, Plain] = {}
    for one in signature.arguments:
        if one.buffer:
            found[one.name] = tuple(plain(one.type, at[item.hash()]) for item in made.buffers[one.name].elements)
        else:
            found[one.name] = plain(one.type, at[made.numbers[one.name].hash()])
    return found


def expect_small(signature: Signature, case: Case) -> str | None:
    """Returns why a case is too large for the engines, or None."""
    total = total_bytes(signature, case.sizes)
    return f"its buffers hold {total} bytes, and more than {MOST_BYTES} take too long" if total > MOST_BYTES else None


def _starts(signature: Signature, case: Case) -> dict[str, int]:
    """Returns where buffers begin: at multiples of what the contract promises, and of no more."""
    starts = {}
    for i, one in enumerate(one for one in signature.arguments if one.buffer):
        starts[one.name] = BASE + i * GAP + GAP // 2 + alignment(one)
    if case.overlap is not None:
        starts[case.overlap.other] = starts[case.overlap.name] + case.overlap.offset
    return starts


def _fill(made: Layout, one: Argument, start: int, count: int) -> None:
    width = bits(one.type) // 8
    elements = []
    for i in range(count):
        at = start + i * width
        if any(at + k in made.memory for k in range(width)):
            for k in range(width):
                name = f"{one.name}[{i}].{k}"
                made.memory.setdefault(at + k, claripy.BVS(name, 8, explicit_name=True))
        else:
            whole = claripy.BVS(f"{one.name}[{i}]", 8 * width, explicit_name=True)
            made.memory |= {at + k: whole[8 * k + 7 : 8 * k] for k in range(width)}
        element = made.read(at, width)
        elements.append(element)
        if one.role is not Role.OUT:
            made.contract += bounds(one, element)
    made.buffers[one.name] = Buffer(one, start, tuple(elements))
