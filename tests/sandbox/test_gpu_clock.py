"""How calls on a GPU are timed: the driver is one of ours, or a script; nothing here needs a device."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from scripted_device import L2, ScriptedClock

from whet.sandbox.gpu_gauge import GpuGauge, GpuReading
from whet.sandbox.inside.calls import renewed_round, timed_pass
from whet.sandbox.inside.capture import Capture
from whet.sandbox.inside.codec import encode
from whet.sandbox.inside.cuda_clock import FLUSHES, USUAL_L2, CudaClock, DeviceError
from whet.sandbox.inside.decode import decode
from whet.sandbox.inside.hot import hot_calls
from whet.sandbox.inside.invocation import call_once
from whet.sandbox.inside.kernel_times import kernel_times, ranked
from whet.sandbox.inside.module_target import POISONED, ModuleTarget
from whet.sandbox.inside.needs import needs
from whet.sandbox.inside.reference import Reference

needs_device = pytest.mark.skipif(not Path("/dev/nvidiactl").exists(), reason="no NVIDIA device")
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

# The prototypes are those of NVIDIA's cuda.h; what the functions do is noted, and done to nothing.
DRIVER = """
#include <stdio.h>
#include <string.h>
char whet_log[4096];
static void note(const char *text) { strcat(whet_log, text); strcat(whet_log, " "); }
int cuInit(unsigned flags) { return 0; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return DEVICE; }
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = whet_log; return 0; }
int cuCtxSetCurrent(void *context) { return context == whet_log ? 0 : 201; }
int cuDeviceGetAttribute(int *value, int which, int device) { *value = which == 38 ? L2 : -1; return 0; }
int cuMemAlloc_v2(unsigned long long *at, size_t size) {
  char text[64]; snprintf(text, 64, "alloc:%zu", size); note(text); *at = 1ull << 40; return MEMORY; }
int cuEventCreate(void **event, unsigned flags) {
  static char places[2]; static int n; *event = &places[n++]; return 0; }
int cuCtxResetPersistingL2Cache(void) { note("reset"); return 801; }
int cuMemsetD8Async(unsigned long long at, unsigned char value, size_t size, void *stream) {
  char text[64]; snprintf(text, 64, "write:%zu", size); note(text); return at == 1ull << 40 && !stream ? 0 : 1; }
int cuCtxSynchronize(void) { note("wait"); return SYNC; }
int cuEventRecord(void *event, void *stream) { note("event"); return stream ? 1 : 0; }
int cuEventElapsedTime(float *ms, void *a, void *b) { *ms = 1.5f; return (char *)b - (char *)a == 1 ? 0 : 1; }
"""
NVML = """
int nvmlInit_v2(void) { return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d) { *d = &nvmlInit_v2; return HANDLE; }
int nvmlDeviceGetClockInfo(void *d, int kind, unsigned *v) { *v = kind == 1 ? 1755 : kind == 2 ? 2619 : 0; return 0; }
int nvmlDeviceGetMaxClockInfo(void *d, int kind, unsigned *v) { *v = kind == 2 ? 2619 : 0; return 0; }
int nvmlDeviceGetPowerUsage(void *d, unsigned *v) { *v = 412345; return 0; }
int nvmlDeviceGetTemperature(void *d, int sensor, unsigned *v) { *v = 61; return sensor ? 1 : TEMPERATURE; }
int nvmlDeviceGetCurrentClocksThrottleReasons(void *d, unsigned long long *v) { *v = 0x25; return 0; }
#ifdef BUS
int nvmlDeviceGetMemoryBusWidth(void *d, unsigned *v) { *v = BUS; return 0; }
#endif
"""


def library(folder: Path, text: str, **names: int) -> str:
    (folder / "driver.c").write_text(text)
    flags = [f"-D{name}={value}" for name, value in names.items()]
    made = str(folder / "driver.so")
    subprocess.run(
        ["gcc", "-w", "-shared", "-fPIC", *flags, "driver.c", "-o", made], cwd=folder, check=True, timeout=60
    )
    return made


def driver(folder: Path, **names: int) -> str:
    return library(folder, DRIVER, **{"L2": L2, "SYNC": 0, "DEVICE": 0, "MEMORY": 0, **names})


def log(made: str) -> list[str]:
    """What was asked of a driver; the log begins anew."""
    place = (ctypes.c_char * 4096).in_dll(ctypes.CDLL(made), "whet_log")
    found = place.value.decode().split()
    place.value = b""
    return found


# The clock


@needs_gcc
def test_a_call_begins_with_cold_caches_and_an_idle_device(tmp_path: Path) -> None:
    made = driver(tmp_path)
    clock = CudaClock(made)
    assert clock.l2 == L2
    assert log(made) == [f"alloc:{FLUSHES * L2}"]
    clock.settle()
    assert log(made) == ["reset", f"write:{FLUSHES * L2}", "wait"]
    clock.settle(cold=False)
    assert log(made) == ["wait"]


@needs_gcc
def test_events_lie_around_a_call_and_all_streams_are_waited_for(tmp_path: Path) -> None:
    made = driver(tmp_path)
    clock = CudaClock(made)
    log(made)
    clock.begin()
    assert log(made) == ["event"]
    clock.end()
    assert log(made) == ["event", "wait"]
    assert clock.spent() == 1_500_000


@needs_gcc
def test_a_cache_of_unknown_size_is_taken_for_a_large_one(tmp_path: Path) -> None:
    made = driver(tmp_path, L2=0)
    CudaClock(made)
    assert log(made) == [f"alloc:{FLUSHES * USUAL_L2}"]


@needs_gcc
def test_a_broken_context_is_told(tmp_path: Path) -> None:
    clock = CudaClock(driver(tmp_path, SYNC=700))
    assert clock.broken()
    with pytest.raises(DeviceError, match="700"):
        clock.settle()


@needs_gcc
def test_a_driver_without_a_gpu_gives_no_clock(tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match="101"):
        CudaClock(driver(tmp_path, DEVICE=101))


@needs_gcc
def test_a_gpu_without_memory_left_is_told_as_such(tmp_path: Path) -> None:
    with pytest.raises(MemoryError):
        CudaClock(driver(tmp_path, MEMORY=2))


@needs_device
def test_the_driver_itself_is_asked_as_it_expects() -> None:
    clock = CudaClock()
    assert clock.l2 > 0
    clock.settle()
    clock.begin()
    clock.end()
    assert 0 <= clock.spent() < 1_000_000_000
    assert not clock.broken()


@needs_device
def test_nvml_itself_is_asked_as_it_expects() -> None:
    gauge = GpuGauge()
    reading = gauge.read()
    assert reading.sm_mhz
    assert reading.memory_mhz
    assert reading.celsius
    assert 1e10 < (gauge.bandwidth() or 0) < 1e14


# Calls that are timed by it

torch = pytest.importorskip("torch", reason="torch is not installed: pip install whet[torch]")

HEAD = "import torch\nimport torch.nn as nn\n\n\nclass ModelNew(nn.Module):\n"
MODEL = f"{HEAD}    def forward(self, x):\n        return "


def target_of(folder: Path, body: str, clock: ScriptedClock | None = None, backward: bool = False) -> ModuleTarget:
    (folder / "answer.py").write_text(MODEL + body + "\n")
    made = ModuleTarget(str(folder), "answer.py", "Model", "cpu", backward, "", "", ())
    made.clock = clock  # type: ignore[assignment]
    return made


def payload(*args: object, **kwargs: object) -> bytes:
    return encode({"init": (0, (), {}), "args": args, "kwargs": kwargs})


def test_each_timed_call_meets_a_cold_device_and_its_events_are_told(tmp_path: Path) -> None:
    clock = ScriptedClock(250)
    target = target_of(tmp_path, "x + 1", clock)
    inside, cpu, *_, outcomes, events = timed_pass(target, [payload(torch.ones(n)) for n in (2, 3)], 0, Capture(100))
    assert clock.log == ["cold", "begin", "end"] * 2
    assert events == 500
    assert inside > 0 <= cpu
    assert [decode(one, target.resolve)[3].numel() for one in outcomes] == [2, 3]


def test_waiting_for_a_cold_device_is_no_work_of_the_calls(tmp_path: Path) -> None:
    class Busy(ScriptedClock):
        def settle(self, cold: bool = True) -> None:
            end = time.process_time() + 0.05
            while time.process_time() < end:
                pass

    _, cpu, *_ = timed_pass(target_of(tmp_path, "x + 1", Busy()), [payload(torch.ones(2))] * 4, 0, Capture(100))
    assert cpu < 0.1e9


def test_rounds_on_a_device_meet_it_cold_and_their_inputs_as_they_came(tmp_path: Path) -> None:
    clock = ScriptedClock(250)
    given = [payload(torch.ones(n)) for n in (2, 3)]
    target = target_of(tmp_path, "x.mul_(2).clone()", clock)
    *_, outcomes, events = timed_pass(target, given, 3, Capture(100))
    assert clock.log == ["cold", "begin", "end"] * 6
    assert events == 1500
    assert [decode(one, target.resolve)[3].tolist() for one in outcomes] == [[2.0] * 2, [2.0] * 3]


def test_rounds_that_could_know_their_inputs_are_timed_with_the_wait_for_the_device(tmp_path: Path) -> None:
    class Slow(ScriptedClock):
        def end(self) -> None:
            time.sleep(0.003)  # takes no CPU time

    given = [payload(torch.ones(2)), payload(torch.zeros(2))]
    target = target_of(tmp_path, "x + 1", Slow())
    laid: list[Any] = []
    timed_pass(target, given, 1, Capture(100), laid=laid)
    assert renewed_round(target, laid, given, 0, Capture(100))[0] >= 6e6


def test_the_reference_computes_where_the_baseline_does(tmp_path: Path) -> None:
    (tmp_path / "answer.py").write_text(MODEL + "x + 1\n")
    reference = Reference(str(tmp_path), 113, "module", "answer.py", "Model", "cpu", False, "", "", ())
    reference.target.moved = lambda arguments: tuple(one + 5 for one in arguments)
    outcome = reference.outcome(Capture(100), payload(torch.ones(2)), 113, False)
    assert decode(outcome, reference.target.resolve)[3].tolist() == [7.0, 7.0]


def test_calls_on_the_cpu_have_no_events(tmp_path: Path) -> None:
    assert len(timed_pass(target_of(tmp_path, "x + 1"), [payload(torch.ones(2))], 0, Capture(100))) == 8


def test_a_backward_pass_is_waited_for_too(tmp_path: Path) -> None:
    clock = ScriptedClock()
    target = target_of(tmp_path, "x * 3", clock, backward=True)
    outcome, _ = call_once(target, payload(torch.ones(2), upstream=(torch.ones(2),)), Capture(100))
    kind, _, _, (value, gradients), _ = decode(outcome, target.resolve)
    assert (kind, value.tolist(), gradients["input 0"].tolist()) == ("value", [3.0, 3.0], [3.0, 3.0])
    assert clock.log == ["begin", "end"]


def test_a_call_that_raises_leaves_a_device_that_can_be_timed(tmp_path: Path) -> None:
    clock = ScriptedClock()
    *_, outcomes, events = timed_pass(
        target_of(tmp_path, "x.nothing", clock), [payload(torch.ones(2))], 0, Capture(100)
    )
    assert decode(outcomes[0])[0] == "raise"
    assert clock.log == ["cold", "begin", "end"]
    assert events == 1000


@pytest.mark.parametrize(
    "body",
    [
        "exec('raise torch.OutOfMemoryError(\"CUDA out of memory. Tried to allocate 2.00 GiB\")')",
        "exec('raise RuntimeError(\"CUDA error: out of memory\")')",
        "exec('raise RuntimeError(\"Triton Error [CUDA]: out of memory\")')",
    ],
)
def test_a_device_without_memory_left_is_told_as_such(body: str, tmp_path: Path) -> None:
    outcome, _ = call_once(target_of(tmp_path, body, ScriptedClock()), payload(torch.ones(2)), Capture(100))
    assert decode(outcome)[0] == "memory"


def test_inputs_that_find_no_room_on_the_device_are_told_as_such(tmp_path: Path) -> None:
    target = target_of(tmp_path, "x", ScriptedClock())

    def full(*args: object, **kwargs: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 4.00 MiB")

    target.sizes, target.full = (8,), full
    outcome, _ = call_once(target, payload(torch.ones(2)), Capture(100))
    assert decode(outcome)[0] == "memory"


def test_a_broken_context_ends_the_process(tmp_path: Path) -> None:
    target = target_of(tmp_path, "x + 1", ScriptedClock(sound=False))
    pid = os.fork()
    if pid == 0:
        call_once(target, payload(torch.ones(2)), Capture(100))
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == POISONED


def test_hot_calls_find_the_caches_as_the_call_before_left_them(tmp_path: Path) -> None:
    clock = ScriptedClock()
    found = hot_calls(target_of(tmp_path, "x + 1", clock), payload(torch.ones(2)), 3)
    assert len(found) == 3
    assert min(found) > 0
    assert clock.log == ["idle", "begin", "end"] * 4
    with pytest.raises(ValueError, match="CPU"):
        hot_calls(target_of(tmp_path, "x + 1"), payload(torch.ones(2)), 3)


# What the profiler tells


@pytest.mark.corpus(one_in=8)
def test_the_profiler_tells_what_ran_and_how_often(tmp_path: Path) -> None:
    target = target_of(tmp_path, "torch.softmax(x @ x, 1) @ x")
    rows = kernel_times(target, [payload(torch.ones(64, 64)), payload(torch.zeros(64, 64))])
    launches = {name: count for name, _, count in rows}
    assert launches["aten::mm"] == 4
    assert launches["aten::_softmax"] == 2
    assert [spent for _, spent, _ in rows] == sorted((spent for _, spent, _ in rows), reverse=True)


def test_only_what_the_device_did_is_told_of_a_device() -> None:
    """Rows of the form of torch's ``profiler_util.FunctionEventAvg``: kernels, and the call that launched them."""

    class Row:
        def __init__(self, key: str, device: object, spent: float) -> None:
            self.key, self.device_type, self.count = key, device, 3
            self.self_device_time_total, self.self_cpu_time_total = spent, 99.0

    cuda, cpu = torch.autograd.DeviceType.CUDA, torch.autograd.DeviceType.CPU
    rows = [Row("cudaLaunchKernel", cpu, 0.0), Row("Memset (Device)", cuda, 1.5), Row("relu(float*)", cuda, 12.25)]
    assert ranked(rows, "CUDA") == [("relu(float*)", 12250, 3), ("Memset (Device)", 1500, 3)]


# What a call has to read

SHARES = {
    "torch.relu(x)": (1.0, 1.0),
    "x.max(1).values": (1.0, 1.0),
    "torch.softmax(x, 1)": (1.0, 1.0),
    "x.sum()": (1.0, 1.0),
    "torch.triu(x)": (0.3, 0.7),
    "x[:, :16]": (0.1, 0.4),
    "x[:1, :1] * 2": (0.0, 0.05),
    "x * 0 + 1": (0.0, 0.0),
}


@pytest.mark.parametrize("body", SHARES)
def test_elements_that_matter_show(body: str, tmp_path: Path) -> None:
    low, high = SHARES[body]
    tries, shown, inputs, _, cache = needs(target_of(tmp_path, body), payload(torch.rand(64, 64)), 1, 64)
    assert (tries, inputs, cache) == (64, 64 * 64 * 4, 0)
    assert low <= shown / tries <= high


def test_whole_numbers_stay_within_those_that_are_there(tmp_path: Path) -> None:
    body = "torch.nn.functional.one_hot(x, 10)"
    tries, shown, inputs, results, _ = needs(target_of(tmp_path, body), payload(torch.arange(10)), 1, 64)
    assert shown > tries / 2
    assert (inputs, results) == (80, 800)


def test_memory_counts_once_and_views_of_inputs_are_no_results(tmp_path: Path) -> None:
    target = target_of(tmp_path, "x.view(-1)")
    assert needs(target, payload(torch.ones(1, 16).expand(64, 16)[0]), 1, 4)[2:] == (64, 0, 0)
    target = target_of(tmp_path, "x + 1")
    assert needs(target, payload(torch.ones(1, 16).expand(64, 16)), 1, 4)[2:] == (64, 64 * 64, 0)


def test_what_differs_by_itself_shows_nothing(tmp_path: Path) -> None:
    assert needs(target_of(tmp_path, "x + torch.rand(())"), payload(torch.ones(4)), 1, 8)[:2] == (0, 0)
    assert needs(target_of(tmp_path, "x + 1", ScriptedClock()), payload(torch.ones(4)), 1, 8)[4] == L2


# NVML


@needs_gcc
def test_clocks_power_and_temperature_are_read(tmp_path: Path) -> None:
    gauge = GpuGauge(library(tmp_path, NVML, HANDLE=0, TEMPERATURE=0, BUS=5120))
    slowed = ("power cap", "thermal limit (software)")
    assert gauge.read() == GpuReading(1755, 2619, 412.345, 61, slowed)
    # That of an H100 SXM, whose datasheet says 3.35 TB/s.
    assert gauge.bandwidth() == pytest.approx(3.352e12, rel=1e-3)


@needs_gcc
def test_what_a_driver_does_not_tell_is_none(tmp_path: Path) -> None:
    gauge = GpuGauge(library(tmp_path, NVML, HANDLE=0, TEMPERATURE=3))
    assert gauge.read().celsius is None
    assert gauge.bandwidth() is None


@needs_gcc
def test_without_a_gpu_there_is_no_gauge(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="NVML error 6"):
        GpuGauge(library(tmp_path, NVML, HANDLE=6, TEMPERATURE=0))
    with pytest.raises(OSError, match="libnothing"):
        GpuGauge("libnothing-of-the-kind.so")
