"""Times calls on an NVIDIA GPU through the driver's own library, which no patch of torch reaches.

All that timing asks of a device is here: caches made cold, all streams waited for, and events around a call. Names
and numbers are those of NVIDIA's "CUDA Driver API".
"""

from __future__ import annotations

import ctypes

LIBRARY = "libcuda.so.1"
OUT_OF_MEMORY = 2
"""CUDA_ERROR_OUT_OF_MEMORY."""
L2_CACHE_SIZE = 38
"""CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE."""
USUAL_L2 = 64 << 20
"""Bytes to reckon with where the driver tells no size."""
FLUSHES = 2
"""How many times the size of the L2 is written to empty it."""
DEFAULT_STREAM = None
"""The legacy stream: it waits for all streams but those that were made not to wait."""


class DeviceError(RuntimeError):
    """The driver refused, or an earlier kernel broke the context."""


class CudaClock:
    """The clock of the first GPU.

    Attributes:
        l2: bytes of its second-level cache; 0 where the driver does not tell.
    """

    def __init__(self, library: str = LIBRARY) -> None:
        """Makes the context that CUDA's runtime, and so torch, uses too, and what a timed call needs.

        Args:
            library: the driver; another than NVIDIA's own is for tests.

        Raises:
            OSError: there is no such library.
            DeviceError: there is no usable GPU.
            MemoryError: it has no memory left.
        """
        self._cuda = cuda = ctypes.CDLL(library)
        device, size, context = ctypes.c_int(), ctypes.c_int(), ctypes.c_void_p()
        _check(cuda.cuInit(0))
        _check(cuda.cuDeviceGet(ctypes.byref(device), 0))
        _check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
        _check(cuda.cuCtxSetCurrent(context))
        _check(cuda.cuDeviceGetAttribute(ctypes.byref(size), L2_CACHE_SIZE, device))
        self.l2 = size.value
        self._flushed = ctypes.c_size_t(FLUSHES * (self.l2 or USUAL_L2))
        self._buffer = ctypes.c_uint64()
        _check(cuda.cuMemAlloc_v2(ctypes.byref(self._buffer), self._flushed))
        self._begun, self._ended = ctypes.c_void_p(), ctypes.c_void_p()
        for event in (self._begun, self._ended):
            _check(cuda.cuEventCreate(ctypes.byref(event), 0))

    def settle(self, cold: bool = True) -> None:
        """Leaves the device idle.

        Args:
            cold: whether its L2 is emptied too. Lines that a kernel asked to stay are set free first: else they would
                outlive what is written over the others.

        Raises:
            DeviceError: an earlier kernel broke the context.
        """
        if cold:
            self._cuda.cuCtxResetPersistingL2Cache()  # refused by devices that keep no such lines
            _check(self._cuda.cuMemsetD8Async(self._buffer, ctypes.c_ubyte(0), self._flushed, DEFAULT_STREAM))
        self._wait()

    def begin(self) -> None:
        """Notes on the device that a call begins."""
        _check(self._cuda.cuEventRecord(self._begun, DEFAULT_STREAM))

    def end(self) -> None:
        """Notes that it ended, and waits for all streams of this process, whoever made them.

        Raises:
            DeviceError: one of its kernels failed.
        """
        _check(self._cuda.cuEventRecord(self._ended, DEFAULT_STREAM))
        self._wait()

    def spent(self) -> int:
        """Returns the nanoseconds between the last two notes, by the device.

        Raises:
            DeviceError: there are no two.
        """
        milliseconds = ctypes.c_float()
        _check(self._cuda.cuEventElapsedTime(ctypes.byref(milliseconds), self._begun, self._ended))
        return int(milliseconds.value * 1e6)

    def broken(self) -> bool:
        """Whether a kernel left the context unusable: every later call in this process would fail for it."""
        return bool(self._cuda.cuCtxSynchronize())

    def _wait(self) -> None:
        _check(self._cuda.cuCtxSynchronize())


def _check(code: int) -> None:
    if code == OUT_OF_MEMORY:
        raise MemoryError("the GPU has no memory left")
    if code:
        raise DeviceError(f"CUDA driver error {code}")
