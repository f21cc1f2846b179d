"""Operations of VEX that the engine lacks: what code for NEON and averages of bytes cannot do without.

They are put into the engine's table, in the process of the engines only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import claripy
from angr.engines.vex.claripy import irop


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation, in the form in which the engine keeps its own.

    Attributes:
        work: makes the result of the operands.
    """

    work: Callable[..., Any]
    _float: bool = False

    def calculate(self, *operands: Any) -> Any:
        """Returns the result."""
        return self.work(*operands)


def install() -> None:
    """Adds the operations to the engine."""
    for kept in (8, 16, 32, 64):
        irop.operations[f"Iop_ZeroHI{128 - kept}ofV128"] = Operation(_lowest(kept))
    irop.operations["Iop_Cnt8x8"] = irop.operations["Iop_Cnt8x16"] = Operation(_each(8, _ones))
    for count in (8, 16, 32):
        irop.operations[f"Iop_Avg8Ux{count}"] = Operation(_each(8, _average))
        irop.operations[f"Iop_Avg16Ux{count // 2}"] = Operation(_each(16, _average))


def _lowest(kept: int) -> Callable[[Any], Any]:
    return lambda one: one[kept - 1 : 0].zero_extend(one.length - kept)


def _each(width: int, work: Callable[..., Any]) -> Callable[..., Any]:
    """Returns what does something with each lane."""

    def whole(*operands: Any) -> Any:
        lanes = zip(*(one.chop(width) for one in operands), strict=True)
        return claripy.Concat(*(work(*lane) for lane in lanes))

    return whole


def _ones(lane: Any) -> Any:
    total = claripy.BVV(0, lane.length)
    for i in range(lane.length):
        total = total + lane[i].zero_extend(lane.length - 1)
    return total


def _average(one: Any, two: Any) -> Any:
    total = one.zero_extend(1) + two.zero_extend(1) + 1
    return total[one.length : 1]
