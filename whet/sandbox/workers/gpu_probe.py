"""Has every GPU of this host do a little work, in a process of its own: its memory is set by the GPU, and read back.

A process that has met a fault of its context stays broken, and a driver that hangs never answers: neither may happen to
a worker. Names and numbers are those of NVIDIA's "CUDA Driver API".
"""

from __future__ import annotations

import ctypes
import sys

from whet.sandbox.inside.cuda_clock import LIBRARY

WORDS = 1 << 18
"""Words of 4 bytes that each GPU sets: 1 MiB. More test more of its memory and take longer to read back; fewer test
less."""
PATTERN = 0x5AC35AC3


def check(library: str = LIBRARY) -> str:
    """Returns what is wrong with the GPUs; empty where nothing is.

    Args:
        library: CUDA's driver; another than NVIDIA's own is for tests.
    """
    try:
        cuda = ctypes.CDLL(library)
    except OSError:
        return f"{library} cannot be loaded"
    count = ctypes.c_int()
    if code := cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count)):
        return f"the CUDA driver does not start (error {code})"
    if not count.value:
        return "the CUDA driver knows no GPU"
    faults = ((ordinal, _tried(cuda, ordinal)) for ordinal in range(count.value))
    return next((f"GPU {ordinal} {fault}" for ordinal, fault in faults if fault), "")


def _tried(cuda: ctypes.CDLL, ordinal: int) -> str:
    device, context, place = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
    size = ctypes.c_size_t(4 * WORDS)
    memory = (ctypes.c_uint32 * WORDS)()
    code = (
        cuda.cuDeviceGet(ctypes.byref(device), ordinal)
        or cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
        or cuda.cuCtxSetCurrent(context)
        or cuda.cuMemAlloc_v2(ctypes.byref(place), size)
        or cuda.cuMemsetD32_v2(place, ctypes.c_uint(PATTERN), ctypes.c_size_t(WORDS))
        or cuda.cuCtxSynchronize()
        or cuda.cuMemcpyDtoH_v2(memory, place, size)
    )
    if code:
        return f"fails (CUDA error {code})"
    return "" if set(memory) == {PATTERN} else "does not keep what is written to it"


if __name__ == "__main__":
    sys.exit(check(*sys.argv[1:]) or None)
