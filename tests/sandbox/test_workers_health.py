"""What makes a host unfit for work: real full disks, clocks that lie, a loaded processor, GPUs that fail; no Ray."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import ExitStack
from types import SimpleNamespace

import pytest

from whet.core.store import Store
from whet.sandbox.workers import gpu_probe, health, quarantine
from whet.sandbox.workers.health import Moment, fault, now, offset
from whet.sandbox.workers.quarantine import Quarantine

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

HOST = """
import json, sys
from pathlib import Path
from types import SimpleNamespace
from whet.core.store import Store
from whet.sandbox.workers.health import probe
bench = SimpleNamespace(store=Store(Path(sys.argv[1])))
for line in sys.stdin:
    print(json.dumps(probe(bench, {})), flush=True)
"""
LOOK = """
import json, sys
from pathlib import Path
from whet.sandbox.workers.health import disk
print(json.dumps(disk(Path(sys.argv[1]))))
"""
CLOCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *at) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
  int code = real(clock, at);
  double seconds = at->tv_sec + at->tv_nsec / 1e9;
  static double first;  // right at the start: who waits until a moment has the kernel wait, whose clock is right
  if (!first && clock == CLOCK_MONOTONIC) first = seconds;
  if (clock == CLOCK_MONOTONIC) seconds = first + (seconds - first) * RATE;
  if (clock == CLOCK_REALTIME) seconds += OFFSET;
  at->tv_sec = seconds;
  at->tv_nsec = (seconds - at->tv_sec) * 1e9;
  return code;
}
"""
BURN = """
import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
while True:
    pass
"""
CUDA = """
#include <string.h>
static unsigned memory[1 << 18];
int cuInit(unsigned flags) { return INIT; }
int cuDeviceGetCount(int *count) { *count = COUNT; return 0; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) { return device == 1 ? SECOND : 0; }
int cuCtxSetCurrent(void *context) { return 0; }
int cuMemAlloc_v2(unsigned long long *at, size_t size) { *at = 1ull << 40; return size == sizeof memory ? 0 : 2; }
int cuMemsetD32_v2(unsigned long long at, unsigned value, size_t count) {
  for (size_t i = 0; i < count; i++) memory[i] = value;
  memory[77] ^= FLIPPED; return at == 1ull << 40 ? 0 : 1; }
int cuCtxSynchronize(void) { return SYNC; }
int cuMemcpyDtoH_v2(void *to, unsigned long long at, size_t size) { memcpy(to, memory, size); return 0; }
"""


class Elsewhere:
    """A host, as a process that probes itself when it is asked to."""

    def __init__(self, home, **environment):
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOST, home],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )

    def probe(self):
        sent = now()
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline()), sent, now()

    def __enter__(self):
        self.probe()  # it has started, and imported what it needs
        return self

    def __exit__(self, *_):
        self.process.communicate(timeout=30)


@pytest.fixture
def library(tmp_path):
    """Compiles a shared library and returns its path."""

    def make(source, **names):
        (tmp_path / "library.c").write_text(source)
        flags = [f"-D{name}={value}" for name, value in names.items()]
        made = tmp_path / f"{'-'.join(map(str, names.values()))}.so"
        command = ["gcc", "-w", "-shared", "-fPIC", *flags, tmp_path / "library.c", "-o", made, "-ldl"]
        subprocess.run(command, check=True, timeout=60)
        return str(made)

    return make


def found(seconds=0.01, began=(1e9, 500.0), ended=(1e9 + 0.1, 500.1), free=1 << 40, error="", gpu=""):
    disks = [{"folder": "/tmp", "free": free, "error": error}]
    return {"began": began, "disks": disks, "seconds": seconds, "gpu": gpu, "ended": ended}


SENT, RECEIVED = Moment(1e9, 100.0), Moment(1e9 + 0.2, 100.2)


def at(seconds):
    """A healthy answer of a host whose clocks are right, and when it was asked for and came, so much later."""
    began, ended, sent, received = (
        Moment(wall + seconds, ticks + seconds)
        for wall, ticks in ((1e9, 500.0), (1e9 + 0.1, 500.1), (1e9, 100.0), (1e9 + 0.2, 100.2))
    )
    return found(began=began, ended=ended), sent, received


# a machine as it is


@pytest.mark.timed
def test_this_machine_is_probed_within_two_seconds_and_its_clock_is_right(tmp_path):
    sent = now()
    seen = health.probe(SimpleNamespace(store=Store(tmp_path)), {})
    received = now()
    assert received.ticks - sent.ticks < 2.0
    assert abs(offset(seen, sent, received)) < 0.1


def test_this_machine_is_healthy(tmp_path):
    sent = now()
    seen = health.probe(SimpleNamespace(store=Store(tmp_path)), {})
    assert fault(json.loads(json.dumps(seen)), sent, now()) == ""
    assert {disk["folder"] for disk in seen["disks"]} >= {str(tmp_path)}
    assert list(tmp_path.rglob("tmp*")) == []


# disks


def probed_disk(folder, size):
    """What is found on a disk of a size, which nobody but the probe sees."""
    command = f'mount -t tmpfs -o size={size} none "$1" && exec "$2" -c "$3" "$1"'
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", command, "sh", folder, sys.executable, LOOK],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip(f"no mount of our own: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_full_disk_is_noticed_by_writing_to_it(tmp_path):
    seen = {**found(), "disks": [probed_disk(tmp_path, "2m")]}
    assert fault(seen, SENT, RECEIVED) == f"disk: {tmp_path}: No space left on device"


def test_a_disk_that_is_nearly_full_is_too(tmp_path):
    seen = {**found(), "disks": [probed_disk(tmp_path, "64m")]}
    assert fault(seen, SENT, RECEIVED) == f"disk: 64 MiB free in {tmp_path}, 256 are needed"


def test_a_folder_that_is_gone_is_a_fault(tmp_path):
    assert health.disk(tmp_path / "gone")["error"] == "No such file or directory"


# clocks


@needs_gcc
def test_a_clock_that_runs_too_fast_is_told_by_one_probe(tmp_path, library):
    with Elsewhere(tmp_path, LD_PRELOAD=library(CLOCK, RATE=1.3, OFFSET=0)) as host:
        said = fault(*host.probe())
    assert said.startswith("clock: it ran 1.")
    assert said.endswith(" times as fast as the driver's")


@pytest.mark.corpus
@pytest.mark.timed
@needs_gcc
@pytest.mark.parametrize("rate", [0.7, 1.3])
def test_a_clock_of_a_wrong_rate_is_told_by_two(tmp_path, library, rate):
    watch = Quarantine()
    with Elsewhere(tmp_path, LD_PRELOAD=library(CLOCK, RATE=rate, OFFSET=0)) as host:
        watch.judge("host", *host.probe())
        time.sleep(1.0)
        said = watch.judge("host", *host.probe())
    assert float(said.split()[3]) == pytest.approx(rate, rel=0.1)


@needs_gcc
@pytest.mark.corpus(one_in=8)
def test_a_calendar_that_is_wrong_is_told_and_is_no_fault(tmp_path, library):
    for wrong in (412, -412):
        with Elsewhere(tmp_path, LD_PRELOAD=library(CLOCK, RATE=1, OFFSET=wrong)) as host:
            answer = host.probe()
        assert fault(*answer) == ""
        assert offset(*answer) == pytest.approx(wrong, abs=2.0)


def test_a_message_that_took_long_says_nothing_of_a_clock():
    watch = Quarantine()
    for seconds, delay in ((0, 0.0), (30, 12.0), (60, 0.0)):
        answer, sent, received = at(seconds)
        assert watch.judge("host", answer, sent, Moment(received.wall + delay, received.ticks + delay)) == ""


# speed


@pytest.mark.corpus
@pytest.mark.timed
def test_a_host_that_has_become_slow_is_a_fault(tmp_path):
    core = min(os.sched_getaffinity(0))
    watch = Quarantine()
    with Elsewhere(tmp_path) as host, ExitStack() as stack:
        os.sched_setaffinity(host.process.pid, {core})
        assert watch.judge("host", *host.probe()) == ""
        for _ in range(12):
            burner = subprocess.Popen([sys.executable, "-c", BURN, str(core)])
            stack.callback(burner.wait)
            stack.callback(burner.kill)
        time.sleep(2.0)
        assert "slow: it takes " in watch.judge("host", *host.probe())


def test_another_host_is_not_slow_for_being_slower():
    watch = Quarantine()
    assert watch.judge("fast", found(seconds=0.001), SENT, RECEIVED) == ""
    assert watch.judge("old", found(seconds=0.1), SENT, RECEIVED) == ""


# GPUs


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("exit 0", ""),
        ("echo first >&2; echo 'GPU 0 fails (CUDA error 719)' >&2; exit 1", "GPU 0 fails (CUDA error 719)"),
        ("exit 7", "its trial ended with 7"),
        ("kill -9 $$", "its trial ended with -9"),
        ("exec sleep 60", "did not answer within 0.5 s"),
    ],
)
def test_what_a_trial_of_the_gpu_says(script, said):
    assert health.gpu(["sh", "-c", script], 0.5) == said
    assert fault(found(gpu=said), SENT, RECEIVED) == (f"gpu: {said}" if said else "")


def test_a_trial_that_is_not_there_is_told():
    assert health.gpu(["/nowhere/nvidia"]) == "cannot be tried (No such file or directory)"


@needs_gcc
@pytest.mark.parametrize(
    ("names", "said"),
    [
        ({}, ""),
        ({"INIT": 999}, "the CUDA driver does not start (error 999)"),
        ({"COUNT": 0}, "the CUDA driver knows no GPU"),
        ({"SECOND": 46}, "GPU 1 fails (CUDA error 46)"),
        ({"SYNC": 719}, "GPU 0 fails (CUDA error 719)"),
        ({"FLIPPED": 1}, "GPU 0 does not keep what is written to it"),
    ],
)
def test_gpus_that_fail_are_named(library, names, said):
    usual = {"INIT": 0, "COUNT": 2, "SECOND": 0, "FLIPPED": 0, "SYNC": 0}
    assert health.gpu([*health.GPU_COMMAND, library(CUDA, **{**usual, **names})]) == said


def test_a_host_without_the_library_says_so():
    assert gpu_probe.check("libno-such.so") == "libno-such.so cannot be loaded"


def test_gpus_that_ray_hides_are_looked_at_all_the_same(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert health.gpu(["sh", "-c", 'test -z "${CUDA_VISIBLE_DEVICES+set}"']) == ""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2")
    assert health.gpu(["sh", "-c", 'test "$CUDA_VISIBLE_DEVICES" = 2']) == ""


# quarantine


def test_all_that_is_wrong_stands_in_one_line():
    said = fault(found(free=5 << 20, gpu="GPU 0 fails"), SENT, RECEIVED)
    assert said == "disk: 5 MiB free in /tmp, 256 are needed; gpu: GPU 0 fails"


def test_a_new_host_is_probed_at_once_and_a_healthy_one_now_and_then():
    watch = Quarantine()
    assert watch.due("host", SENT)
    assert watch.judge("host", *at(0)) == ""
    assert not watch.due("host", Moment(0.0, RECEIVED.ticks + quarantine.HEALTHY_SECONDS - 1))
    assert watch.due("host", Moment(0.0, RECEIVED.ticks + quarantine.HEALTHY_SECONDS + 1))


def test_a_quarantined_host_is_probed_ever_less_often_and_returns_after_two_healthy_probes():
    watch, seconds, waits = Quarantine(), 0.0, []
    for _ in range(9):
        answer, sent, received = at(seconds)
        assert watch.judge("host", {**answer, "gpu": "GPU 0 fails"}, sent, received) == "gpu: GPU 0 fails"
        waited = next(wait for wait in range(1000) if watch.due("host", Moment(0.0, received.ticks + wait)))
        waits.append(waited)
        seconds += waited
    assert waits == [5, 10, 20, 40, 80, 160, 300, 300, 300]
    assert watch.judge("host", *at(seconds)) == watch.why("host") == "gpu: GPU 0 fails"
    assert watch.judge("host", *at(seconds + 5)) == watch.why("host") == ""


def test_what_the_driver_saw_itself_quarantines_too_and_a_lost_host_begins_anew():
    watch = Quarantine()
    assert watch.blame("host", "no answer within 60 s", SENT) == watch.why("host") == "no answer within 60 s"
    assert not watch.due("host", SENT)
    assert watch.why("other") == ""
    watch.forget("host")
    assert watch.why("host") == ""
    assert watch.due("host", SENT)
