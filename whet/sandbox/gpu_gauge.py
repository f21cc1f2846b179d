"""Clocks, power and temperature of the first NVIDIA GPU, read from outside through NVML, the driver's own library."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

from whet.sandbox.nvml import LIBRARY, SUCCESS

CLOCK_SM, CLOCK_MEMORY = 1, 2
TEMPERATURE_GPU = 0
EDGES_A_CYCLE = 2
"""Transfers of a data line in one cycle of the memory's clock, as NVML tells it: all memories of GPUs are DDR."""
SLOWED = {
    0x02: "clocks set by an application",
    0x04: "power cap",
    0x08: "hardware slowdown",
    0x10: "clocks kept in step with another GPU",
    0x20: "thermal limit (software)",
    0x40: "thermal limit (hardware)",
    0x80: "power brake",
    0x100: "display's clocks",
}
"""``nvmlClocksThrottleReasons``, but for 0x01: an idle GPU."""


@dataclass(frozen=True, slots=True)
class GpuReading:
    """What NVML says at one moment; None where it does not.

    Attributes:
        sm_mhz: clock of the multiprocessors.
        memory_mhz: clock of the memory.
        watts: power drawn.
        celsius: temperature of the chip.
        slowed: why the clocks are lower than they could be.
    """

    sm_mhz: int | None
    memory_mhz: int | None
    watts: float | None
    celsius: int | None
    slowed: tuple[str, ...] = ()


class GpuGauge:
    """Reads the first GPU."""

    def __init__(self, library: str = LIBRARY) -> None:
        """Opens it.

        Args:
            library: NVML; another than the driver's own is for tests.

        Raises:
            OSError: there is no driver, or it knows no GPU.
        """
        self._nvml = nvml = ctypes.CDLL(library)
        self._device = ctypes.c_void_p()
        code = nvml.nvmlInit_v2() or nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self._device))
        if code != SUCCESS:
            raise OSError(f"the NVIDIA driver does not answer (NVML error {code})")

    def read(self) -> GpuReading:
        """Returns what it shows now."""
        milliwatts = self._number("nvmlDeviceGetPowerUsage")
        reasons = self._number("nvmlDeviceGetCurrentClocksThrottleReasons", kind=ctypes.c_ulonglong) or 0
        return GpuReading(
            self._number("nvmlDeviceGetClockInfo", CLOCK_SM),
            self._number("nvmlDeviceGetClockInfo", CLOCK_MEMORY),
            None if milliwatts is None else milliwatts / 1e3,
            self._number("nvmlDeviceGetTemperature", TEMPERATURE_GPU),
            tuple(name for bit, name in SLOWED.items() if reasons & bit),
        )

    def bandwidth(self) -> float | None:
        """Returns the most bytes a second that the memory can move, by its highest clock and the width of its bus.

        So does NVIDIA's own sample ``deviceQuery``.
        """
        megahertz = self._number("nvmlDeviceGetMaxClockInfo", CLOCK_MEMORY)
        bits = self._number("nvmlDeviceGetMemoryBusWidth")
        return EDGES_A_CYCLE * megahertz * 1e6 * bits / 8 if megahertz and bits else None

    def _number(self, function: str, *arguments: int, kind: type[Any] = ctypes.c_uint) -> int | None:
        """Returns a number of the device; None where this driver or this device has none."""
        value = kind()
        ask = getattr(self._nvml, function, None)
        known = ask is not None and ask(self._device, *arguments, ctypes.byref(value)) == SUCCESS
        return int(value.value) if known else None
