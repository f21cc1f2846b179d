"""Switches of cuBLAS and cuDNN that both sides of a comparison run with."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from collections.abc import Iterator, Sequence
    from typing import Any

SWITCHES = {
    "tf32": ("cuda.matmul.allow_tf32", "cudnn.allow_tf32"),
    "cudnn-benchmark": ("cudnn.benchmark",),
}
"""Attributes of ``torch.backends``, by the name of the flag that turns them on."""


def switches(flags: Sequence[str]) -> Iterator[str]:
    """Yields the attributes that flags turn on."""
    for flag in flags:
        yield from SWITCHES[flag]


def turn_on(torch: Any, flags: Sequence[str]) -> None:
    """Turns flags on in this process."""
    for switch in switches(flags):
        place, _, name = switch.rpartition(".")
        owner = torch.backends
        for part in place.split("."):
            owner = getattr(owner, part)
        setattr(owner, name, True)
