"""How the elements of an array lie in memory."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from collections.abc import Sequence
    from typing import Any


MOST_DIMENSIONS = 64
"""Of an array of numpy."""


def item_size(shape: Sequence[int], data: bytes) -> int:
    """Returns the bytes of one element."""
    count = 1
    for length in shape:
        count *= length
    return len(data) // count if count else 0


def row_major(shape: Sequence[int], size: int) -> tuple[int, ...]:
    """Returns the strides of an array without gaps whose last index runs fastest."""
    strides = []
    step = size
    for length in reversed(shape):
        strides.append(step)
        step *= max(length, 1)
    return tuple(reversed(strides))


def is_usual(state: Any) -> bool:
    """Whether an array has elements of a plain type, one behind the other, and nothing else that a caller could notice.

    A candidate's may have any state.
    """
    if type(state) is not tuple or len(state) != 7 or state[4:] != ((), None, ()):
        return False
    dtype, shape, data, strides, *_ = state
    if (type(dtype), type(shape), type(data)) != (str, tuple, bytes) or not set(map(type, shape)) <= {int}:
        return False
    if len(shape) > MOST_DIMENSIONS or not all(0 < length <= len(data) for length in shape):
        return False
    size = item_size(shape, data)
    return size > 0 and strides == row_major(shape, size)
