"""Which kernels a device ran for some calls, and how long, by torch's profiler. Nothing that it times is a figure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from typing import Any

    from .module_target import ModuleTarget

MOST_KERNELS = 64
"""Kernels that are reported, the longest first. More make the answer longer; fewer leave out more of the time."""
LONGEST_NAME = 300
"""Characters of a kernel's name. More let a candidate make the answer longer; with fewer, names of templates that
differ late look the same."""


def kernel_times(target: ModuleTarget, payloads: list[bytes]) -> list[tuple[str, int, int]]:
    """Returns (name, nanoseconds, launches) of what the device did in calls on some inputs, the longest first."""
    from torch.profiler import ProfilerActivity, profile

    inputs = [target.decode(payload) for payload in payloads]
    target.call(*target.decode(payloads[0]))  # what is set up once is no part of it
    on_device = target.clock is not None
    with profile(activities=[ProfilerActivity.CUDA if on_device else ProfilerActivity.CPU]) as taken:
        for init, args, kwargs in inputs:
            target.call(init, args, kwargs)
    return ranked(taken.key_averages(), "CUDA" if on_device else "CPU")


def ranked(averages: Any, device: str) -> list[tuple[str, int, int]]:
    """Returns rows of the profiler that tell of a device, the longest first; its times are in microseconds."""
    field = "self_cpu_time_total" if device == "CPU" else "self_device_time_total"
    rows = [
        (str(one.key)[:LONGEST_NAME], int(getattr(one, field) * 1e3), int(one.count))
        for one in averages
        if str(one.device_type) == f"DeviceType.{device}"
    ]
    return sorted(rows, key=lambda row: -row[1])[:MOST_KERNELS]
