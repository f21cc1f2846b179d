"""What the codec and the arrays that it writes have in common."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from typing import Any

HEAP_TYPE = 1 << 9  # a flag of classes that Python code made, or could change


class CodecError(ValueError):
    """A value cannot be written, or bytes cannot be read."""


def type_name(cls: Any) -> str:
    """Returns ``module:qualname``."""
    return f"{cls.__module__}:{cls.__qualname__}"
