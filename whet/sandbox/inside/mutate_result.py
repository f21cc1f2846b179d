"""Does to a result what a caller may: changes it. One that is kept for a later call then comes back changed."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from typing import Any

DEEPEST = 8
"""Levels of a result that are changed. More reach deeper, and take longer where a value holds itself."""
MARK = "changed by the caller"


def mutate_result(value: Any, depth: int = 0) -> None:
    """Changes all builtin containers and numpy arrays that a result holds, in place; no foreign code runs."""
    cls = type(value)
    if depth > DEEPEST:
        return
    if cls in (list, tuple):
        for item in value:
            mutate_result(item, depth + 1)
        if cls is list:
            value.append(MARK)
    elif cls is dict:
        for item in value.values():
            mutate_result(item, depth + 1)
        value[MARK] = None
    elif cls is set:
        value.add(MARK)
    elif cls is bytearray:
        value.append(0)
    elif (
        (cls.__module__, cls.__name__) == ("numpy", "ndarray") and value.flags.writeable and value.dtype.kind in "iufcb"
    ):
        value[...] = 1
