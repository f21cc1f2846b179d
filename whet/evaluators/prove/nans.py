"""Whether a result hangs on the bits of a computed NaN, which the solver does not know: machines differ in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import claripy

BITS = "fpToIEEEBV"
"""A computed float as bits."""
SIGNS = ("__and__", "__or__", "__xor__")
"""Operations that change the sign of a float, where the other operand is the right constant."""


def hangs_on_nan(value: Any, lane: int) -> bool:
    """Returns whether integer operations or conditions look at the bits of a computed float.

    Args:
        value: a result.
        lane: width of the floats that it is made of, of which any NaN is as good as any other; 0 where it is no float.
    """
    seen: set[tuple[int, int]] = set()
    waiting = [(value, lane)]
    while waiting:
        one, lane = waiting.pop()
        if (one.hash(), lane) in seen:
            continue
        seen.add((one.hash(), lane))
        if one.op == BITS and one.length != lane:
            return True
        waiting += _operands(one, lane)
    return False


def _operands(one: Any, lane: int) -> Iterator[tuple[Any, int]]:
    """Yields each operand, with the width of the floats as which it is taken."""
    kids = [kid for kid in one.args if isinstance(kid, claripy.ast.Base)]
    if one.op == "If":
        yield kids[0], 0
        yield from ((kid, lane) for kid in kids[1:])
    elif one.op == "Concat":
        end = one.length
        for kid in kids:
            end -= kid.length
            yield from _moved(kid, end, lane)
    elif one.op == "Extract":
        whole = lane and one.args[1] % lane == 0 and one.length % lane == 0
        yield kids[0], lane if whole else 0
    elif one.op in SIGNS:
        signs = lane and len(kids) == 2 and any(_sign_only(kid, lane) for kid in kids)
        yield from ((kid, lane if signs else 0) for kid in kids)
    else:
        taken = isinstance(one, claripy.ast.FP)
        for kid in kids:
            yield (
                kid,
                kid.length if isinstance(kid, claripy.ast.FP) or (taken and isinstance(kid, claripy.ast.BV)) else 0,
            )


def _moved(kid: Any, start: int, lane: int) -> Iterator[tuple[Any, int]]:
    """Yields a part of a value that begins at a bit of it."""
    if lane and start % lane == 0 and kid.op == "Extract" and kid.args[:2] == (lane - 2, 0) and kid.args[2].op == BITS:
        yield kid.args[2], lane  # all but the sign, as `fabs` has it
    else:
        yield kid, lane if lane and start % lane == 0 and kid.length % lane == 0 else 0


def _sign_only(other: Any, lane: int) -> bool:
    """Returns whether a constant changes nothing but signs of floats, or leaves nothing of a float."""
    kept = (0, (1 << lane) - 1, 1 << (lane - 1), (1 << (lane - 1)) - 1)
    return other.op == "BVV" and other.length % lane == 0 and all(part.args[0] in kept for part in other.chop(lane))
