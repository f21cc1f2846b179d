"""A device without a GPU: what timing asks of one is answered from a script. And an answer, and figures of one."""

from __future__ import annotations

import subprocess
from pathlib import Path

from whet.core.measurement import Measurement, Outcome, Speedup
from whet.sandbox.inside.cuda_clock import DeviceError

L2 = 4 << 20


class ScriptedClock:
    """Stands in for `whet.sandbox.inside.cuda_clock.CudaClock`.

    Args:
        nanoseconds: that every call takes by its events.
        sound: whether kernels leave the context usable.
    """

    l2 = L2

    def __init__(self, nanoseconds: int = 1000, sound: bool = True) -> None:
        self.nanoseconds = nanoseconds
        self.sound = sound
        self.log: list[str] = []

    def settle(self, cold: bool = True) -> None:
        self.log.append("cold" if cold else "idle")

    def begin(self) -> None:
        self.log.append("begin")

    def end(self) -> None:
        if not self.sound:
            raise DeviceError("CUDA driver error 700")
        self.log.append("end")

    def spent(self) -> int:
        return self.nanoseconds

    def broken(self) -> bool:
        return not self.sound


CUDA = '''\
import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
template <typename T> __global__ void __launch_bounds__(256, 2) scaled_gemm(const T *a, T *b) {}
__global__ __launch_bounds__(128) void relu4(float4 *x) {}
extern "C" __global__ void ampere_sgemm_128x64_nn(float *x) {}
void host(float *x) { relu4<<<1, 1>>>((float4 *)x); }
"""
'''


def measured(outcome: Outcome = Outcome.FASTER) -> Measurement:
    return Measurement(outcome, Speedup(2.0, 1.9, 2.1, 0.99, "time", 10, 100, (0.99, 1.01), "eager", ()), 0.001)


# The prototypes are those of NVIDIA's cuda.h. What a test adds is `ran`, which does a launch's work on the CPU.
DRIVER = """
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <time.h>
int whet_alive, whet_launched[8];
static char *image, any;
static struct timespec noted[2];
static int notes;
static int ran(unsigned blocks, unsigned threads, void **given);
int cuInit(unsigned flags) { return 0; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = &any; return 0; }
int cuCtxSetCurrent(void *context) { return 0; }
int cuCtxResetPersistingL2Cache(void) { return 801; }
int cuDeviceGetAttribute(int *value, int which, int device) { *value = 64; return 0; }
int cuMemAlloc_v2(unsigned long long *at, size_t size) {
  *at = (unsigned long long)malloc(size); whet_alive++; return 0; }
int cuMemFree_v2(unsigned long long at) { free((void *)at); whet_alive--; return 0; }
int cuMemcpyHtoD_v2(unsigned long long at, const void *from, size_t size) { memcpy((void *)at, from, size); return 0; }
int cuMemcpyDtoH_v2(void *to, unsigned long long at, size_t size) { memcpy(to, (void *)at, size); return 0; }
int cuMemcpyDtoD_v2(unsigned long long at, unsigned long long from, size_t size) {
  memcpy((void *)at, (void *)from, size); return 0; }
int cuMemsetD8Async(unsigned long long at, unsigned char value, size_t size, void *stream) { return 0; }
int cuEventCreate(void **event, unsigned flags) { *event = &noted[notes++ % 2]; return 0; }
int cuEventRecord(void *event, void *stream) { clock_gettime(CLOCK_MONOTONIC, event); return 0; }
int cuEventElapsedTime(float *spent, struct timespec *from, struct timespec *to) {
  *spent = (to->tv_sec - from->tv_sec) * 1e3 + (to->tv_nsec - from->tv_nsec) / 1e6; return 0; }
int cuCtxSynchronize(void) { return strchr(image ? image : "", '$') ? 700 : 0; }
int cuModuleLoadData(void **module, const void *text) { image = strdup(text); return strchr(image, '!') ? 218 : 0; }
int cuModuleGetFunction(void **function, void *module, const char *name) {
  *function = &any; return strstr(NAMES, name) ? 0 : 500; }
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **given, void **extra) {
  unsigned asked[] = {gx, gy, gz, bx, by, bz, shared};
  memcpy(whet_launched, asked, sizeof asked);
  whet_launched[7]++;
  return ran(gx, bx, given);
}
"""


def built_driver(folder: Path, name: str, ran: str) -> str:
    """Returns the path of a driver that knows one kernel.

    Args:
        folder: where it is made.
        name: of the kernel.
        ran: C, the body of ``int ran(unsigned blocks, unsigned threads, void **given)``; ``image`` is the code's text.
    """
    head = f'#define NAMES "{name}"\n{DRIVER}'
    (folder / "driver.c").write_text(
        f"{head}static int ran(unsigned blocks, unsigned threads, void **given) {{\n{ran}\n}}\n"
    )
    command = ["gcc", "-w", "-O1", "-shared", "-fPIC", "driver.c", "-o", "driver.so"]
    subprocess.run(command, cwd=folder, check=True, timeout=60)
    return str(folder / "driver.so")
