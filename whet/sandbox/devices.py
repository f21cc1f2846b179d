"""The device nodes of NVIDIA GPUs; their libraries lie under ``/usr``, which every sandbox shows."""

from __future__ import annotations

from pathlib import Path


def gpu_nodes() -> list[str]:
    """Returns the paths of the device nodes; none where there is no driver."""
    return sorted(str(path) for path in Path("/dev").glob("nvidia*") if path.is_char_device())
