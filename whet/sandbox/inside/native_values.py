"""Arguments and results of native functions, and the C types that they are of."""

from __future__ import annotations

import ctypes

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from typing import Any

    from .guarded import Guarded

TYPES = {
    **{f"{sign}int{bits}": getattr(ctypes, f"c_{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
    "longdouble": ctypes.c_longdouble,
}
SIZES = {name: ctypes.sizeof(cls) for name, cls in TYPES.items()}


class Prepared:
    """The arguments of one call: buffers in memory of their own, and plain numbers.

    As an outcome's arguments it says what became of the buffers that are only read.
    """

    def __init__(self, values: list[Any], buffers: dict[str, tuple[Any, Guarded]], changed: dict[str, bytes]) -> None:
        self.values = values
        self.buffers = buffers
        self.changed = changed

    def restore(self) -> None:
        """Gives buffers that a call may change what they held before it."""
        for name, data in self.changed.items():
            self.buffers[name][1].write(data)


class NativeResult:
    """What a call returned and wrote; read when the outcome is stored, and not while the clock runs."""

    def __init__(self, returned: Any, prepared: Prepared) -> None:
        self.returned = returned
        self.prepared = prepared
