"""What a problem's outputs say of the problem: whether answers to it could be told apart at all.

The bounds are those of robust-kbench, which drops such problems; here they are reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whet.evaluators.floats.leaves import FloatGroup, leaves

NEXT_TO_NOTHING = 0.01
"""Magnitude of an output, and standard deviation, below which outputs count as nothing: the bound of robust-kbench.
A larger one reports more problems; outputs of a small scale are then reported although answers can be told apart."""
RESULT = "output"


def not_a_number(value: Any) -> str:
    """Returns where an output holds NaN; empty where it does not.

    Args:
        value: as `whet.sandbox.inside.decode.decode` gives it.
    """
    for group in leaves(value, RESULT).values():
        where = np.isnan(group.values())
        if where.any():
            return group.place(int(where.argmax()))
    return ""


def filtered(values: Sequence[Any]) -> tuple[str, ...]:
    """Returns what is suspicious about the outputs of one problem on inputs of one size.

    Args:
        values: outputs on different inputs, as `whet.sandbox.inside.decode.decode` gives them.
    """
    gathered = [leaves(value, RESULT) for value in values]
    if len(gathered) < 2 or not gathered[0]:
        return ()
    groups = [[one[name] for one in gathered if name in one] for name in gathered[0]]
    checks = {
        f"all outputs lie within {NEXT_TO_NOTHING:g} of zero": _small,
        f"outputs on different inputs deviate by less than {NEXT_TO_NOTHING:g}": _alike,
        f"outputs along an axis deviate by less than {NEXT_TO_NOTHING:g}": _flat,
    }
    return tuple(said for said, check in checks.items() if all(check(group) for group in groups))


def _small(groups: list[FloatGroup]) -> bool:
    return all(bool((np.abs(group.values()) < NEXT_TO_NOTHING).all()) for group in groups)


def _alike(groups: list[FloatGroup]) -> bool:
    rows = [group.values() for group in groups]
    if len({len(row) for row in rows}) != 1:
        return False
    return bool((np.std(np.stack(rows), axis=0) < NEXT_TO_NOTHING).all())


def _flat(groups: list[FloatGroup]) -> bool:
    return all(any(map(_same_along, _axes(part, shape))) for one in groups for part, shape in _parts(one))


def _parts(group: FloatGroup) -> list[tuple[NDArray[Any], tuple[int, ...]]]:
    return [(part, shape) for part, (_, shape) in zip(group.parts, group.places, strict=True)]


def _axes(part: NDArray[Any], shape: tuple[int, ...]) -> list[NDArray[Any]]:
    """Returns the deviations along each axis that has more than one element."""
    if part.size != int(np.prod(shape)):
        return []
    array = part.reshape(shape)
    return [np.std(array, axis=axis) for axis, length in enumerate(shape) if length > 1]


def _same_along(deviations: NDArray[Any]) -> bool:
    return bool((deviations < NEXT_TO_NOTHING).all())
