"""Finds the NVIDIA GPU of this machine through NVML, the driver's own library; nothing needs to be installed for it."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

LIBRARY = "libnvidia-ml.so.1"
SUCCESS = 0
TEXT = 96
"""Bytes that names and versions fit into, as NVML's header says."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """The first GPU.

    Attributes:
        name: such as ``NVIDIA H200``.
        arch: such as ``sm_90``.
        driver: version of the driver.
        cuda: (major, minor) of the newest CUDA that the driver runs.
    """

    name: str
    arch: str
    driver: str
    cuda: tuple[int, int]


def find_gpu(library: str = LIBRARY) -> Gpu | str:
    """Returns the first GPU, or in a line why there is none.

    Args:
        library: NVML; another than the driver's own is for tests.
    """
    try:
        nvml = ctypes.CDLL(library)
    except OSError:
        return "no NVIDIA driver is installed"
    if code := nvml.nvmlInit_v2():
        return f"the NVIDIA driver does not answer (NVML error {code})"
    try:
        return _first(nvml)
    finally:
        nvml.nvmlShutdown()


def _first(nvml: ctypes.CDLL) -> Gpu | str:
    count, device = ctypes.c_uint(), ctypes.c_void_p()
    major, minor, cuda = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    name, driver = ctypes.create_string_buffer(TEXT), ctypes.create_string_buffer(TEXT)
    if nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)) != SUCCESS or count.value == 0:
        return "the NVIDIA driver knows no GPU"
    codes = (
        nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device)),
        nvml.nvmlDeviceGetName(device, name, TEXT),
        nvml.nvmlDeviceGetCudaComputeCapability(device, ctypes.byref(major), ctypes.byref(minor)),
        nvml.nvmlSystemGetDriverVersion(driver, TEXT),
        nvml.nvmlSystemGetCudaDriverVersion_v2(ctypes.byref(cuda)),
    )
    if code := next((code for code in codes if code != SUCCESS), None):
        return f"the GPU does not answer (NVML error {code})"
    version = (cuda.value // 1000, cuda.value % 1000 // 10)
    return Gpu(name.value.decode(), f"sm_{major.value}{minor.value}", driver.value.decode(), version)
