"""The device nodes of NVIDIA GPUs; their libraries lie under ``/usr``, which every sandbox shows."""

from __future__ import annotations

from pathlib import Path

DEV = Path("/dev")
PATTERNS = ("nvidia[0-9]*", "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset", "nvidia-caps/nvidia-cap*")
"""What the driver makes: a node a GPU, its control, unified memory, and the capabilities of parts of a GPU (MIG)."""


def gpu_nodes(root: Path = DEV) -> dict[str, str]:
    """Returns the paths of the device nodes -> where a program expects them; none where there is no driver.

    Args:
        root: the folder that holds them.
    """
    nodes = (path for pattern in PATTERNS for path in sorted(root.glob(pattern)) if path.is_char_device())
    return {str(path): str(DEV / path.relative_to(root)) for path in nodes}
