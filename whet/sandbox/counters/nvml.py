"""Power and clocks of the NVIDIA GPUs, by nvidia-ml-py."""

from __future__ import annotations

import importlib
from typing import Any

from whet.core.counter import Counter, counted, missing

SOURCE = "nvml"
UNITS = {"gpu-power": "W", "gpu-clock": "MHz", "gpu-memory-clock": "MHz"}


def probe() -> tuple[Counter, ...]:
    """Reads every GPU once; of several, each has its number in its counters' names."""
    try:
        nvml = importlib.import_module("pynvml")
    except ImportError:
        return _without("nvidia-ml-py is not installed: pip install nvidia-ml-py")
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        return _without(f"NVML does not start: {error}")
    try:
        handles = [nvml.nvmlDeviceGetHandleByIndex(index) for index in range(nvml.nvmlDeviceGetCount())]
        found = [
            _read(nvml, handle, name, f"-{index}" if len(handles) > 1 else "")
            for index, handle in enumerate(handles)
            for name in UNITS
        ]
    except nvml.NVMLError as error:
        return _without(f"NVML gives no GPU: {error}")
    finally:
        nvml.nvmlShutdown()
    return tuple(found) or _without("NVML knows no GPU")


def _read(nvml: Any, handle: Any, name: str, suffix: str) -> Counter:
    try:
        if name == "gpu-power":
            value = nvml.nvmlDeviceGetPowerUsage(handle) / 1e3
        else:
            clock = nvml.NVML_CLOCK_SM if name == "gpu-clock" else nvml.NVML_CLOCK_MEM
            value = float(nvml.nvmlDeviceGetClockInfo(handle, clock))
    except nvml.NVMLError as error:
        return missing(name + suffix, UNITS[name], SOURCE, f"NVML says: {error}")
    return counted(name + suffix, value, UNITS[name], SOURCE)


def _without(reason: str) -> tuple[Counter, ...]:
    return tuple(missing(name, unit, SOURCE, reason) for name, unit in UNITS.items())
