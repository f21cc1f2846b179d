"""Whether a host is fit for work: what is looked at there, and the driver's judgement of it.

A probe writes, times, computes and asks rather than reading what the system says of itself: a full disk, a slow
processor and a lost GPU are noticed by what fails.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from whet.core.task import MIB
from whet.sandbox.workers.base import WorkerContext
from whet.sandbox.workers.labels import NONE, labels_here

FREE = 256 * MIB
"""That a folder must have left: builds and samples of a few candidates."""
WRITTEN = 4 * MIB
"""Bytes that are written to each folder and read back. More test more of a disk and make each probe longer; fewer test
less."""
GPU_COMMAND = (sys.executable, "-m", "whet.sandbox.workers.gpu_probe")
GPU_SECONDS = 30.0
"""A driver that has to wake eight GPUs takes several."""
PIECES, PIECE = 9, 200_000
"""How often a piece of work is timed, and its size: longer than what a kernel gives a process at a time."""
PIECES_SECONDS = 1.0
"""Seconds after which no further piece is timed, so that a probe of a slow host ends. More make such a probe longer;
with less, the median is over fewer pieces."""
SLOW = 4.0
"""How much slower than its own best a host may be: as slow as where other work has three quarters of it."""
RATE = 0.01
"""By how much a host's clock may run faster or slower than the driver's; what keeps clocks right stays below 0.1 %."""
STORED = "00" * 32


class Moment(NamedTuple):
    """A moment by both clocks of a host: seconds since the epoch, and those of the clock that only runs forward."""

    wall: float
    ticks: float


def now() -> Moment:
    """Returns this moment here."""
    return Moment(time.time(), time.monotonic())


# on the host


def probe(bench: WorkerContext, argument: Mapping[str, Any]) -> dict[str, Any]:
    """Looks at the host that it runs on, within about two seconds; see `whet.sandbox.workers.base.Function`.

    Its result is of one moment, and must not be taken from the store.

    Args:
        bench: whose store must answer.
        argument: nothing.

    Raises:
        WhetError: the store does not answer.
    """
    began = now()
    bench.store.result(STORED)
    return {
        "began": began,
        "disks": [disk(Path(folder)) for folder in {tempfile.gettempdir(), str(bench.store.home)}],
        "seconds": speed(),
        "gpu": gpu() if labels_here()["gpu"] != NONE else "",
        "ended": now(),
    }


def disk(folder: Path) -> dict[str, Any]:
    """Writes to a folder and reads it back; returns what is left there and what failed."""
    data = os.urandom(WRITTEN)
    found = {"folder": str(folder), "free": 0, "error": ""}
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            file.seek(0)
            if file.read() != data:
                found["error"] = "what is written there is read back otherwise"
        left = os.statvfs(folder)
        found["free"] = left.f_bavail * left.f_frsize
    except OSError as error:
        found["error"] = os.strerror(error.errno or 0)
    return found


def speed() -> float:
    """Returns how many seconds a small fixed piece of work takes, the median of several times."""
    taken: list[float] = []
    while len(taken) < PIECES and sum(taken) < PIECES_SECONDS:
        begun = time.perf_counter()
        total = 0
        for number in range(PIECE):
            total = (total * 31 + number) & 0xFFFFFFFF
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken)


def gpu(command: Sequence[str] = GPU_COMMAND, seconds: float = GPU_SECONDS) -> str:
    """Has the GPUs do a little work in another process; returns what is wrong with them.

    Args:
        command: ends with 0 where nothing is, and says on stderr what is.
        seconds: after which it has not answered.
    """
    # Ray hides all GPUs from work that asked for none.
    variables = {name: value for name, value in os.environ.items() if (name, value) != ("CUDA_VISIBLE_DEVICES", "")}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=seconds, check=False, env=variables
        )
    except subprocess.TimeoutExpired:
        return f"did not answer within {seconds:g} s"
    except OSError as error:
        return f"cannot be tried ({os.strerror(error.errno or 0)})"
    if done.returncode == 0:
        return ""
    said = done.stderr.strip().splitlines()
    return said[-1] if said else f"its trial ended with {done.returncode}"


# on the driver


@dataclass(frozen=True, slots=True)
class Earlier:
    """What a driver knows of a host from earlier probes.

    Attributes:
        best: the fewest seconds that its piece of work took.
        began: when the last probe began, by the host's clocks.
        ended: when it ended.
        sent_at: when it was sent, by the driver's.
        received_at: when its answer came.
    """

    best: float
    began: Moment
    ended: Moment
    sent_at: Moment
    received_at: Moment


def fault(found: Mapping[str, Any], sent_at: Moment, received_at: Moment, earlier: Earlier | None = None) -> str:
    """Returns in a line why a host is not fit for work; empty where it is.

    Args:
        found: what `probe` returned.
        sent_at: when it was sent, by the driver's clocks.
        received_at: when its answer came.
        earlier: from probes before it; without any, nobody can say that the host has become slow, or that its clock
            runs slowly.
    """
    faults = [_disk_fault(one) for one in found["disks"]]
    faults.append(_clock_fault(found, sent_at, received_at, earlier))
    if earlier is not None and found["seconds"] > SLOW * earlier.best:
        faults.append(f"slow: it takes {found['seconds'] / earlier.best:.1f} times as long as at its best")
    if found["gpu"]:
        faults.append(f"gpu: {found['gpu']}")
    return "; ".join(filter(None, faults))


def offset(found: Mapping[str, Any], sent_at: Moment, received_at: Moment) -> float:
    """Returns by how many seconds at least a host's calendar clock is off the driver's.

    It is told and no more: no verdict rests on the time of day of a host.
    """
    ahead, behind = Moment(*found["ended"]).wall - received_at.wall, sent_at.wall - Moment(*found["began"]).wall
    return ahead if ahead > 0 else -max(behind, 0.0)


def _disk_fault(found: Mapping[str, Any]) -> str:
    if found["error"]:
        return f"disk: {found['folder']}: {found['error']}"
    if found["free"] < FREE:
        return f"disk: {found['free'] // MIB} MiB free in {found['folder']}, {FREE // MIB} are needed"
    return ""


def _clock_fault(found: Mapping[str, Any], sent_at: Moment, received_at: Moment, earlier: Earlier | None) -> str:
    """A message takes its time, and how long is unknown: only a rate that no delay explains is a fault."""
    began, ended = Moment(*found["began"]), Moment(*found["ended"])
    slowest, fastest = (ended.ticks - began.ticks) / (received_at.ticks - sent_at.ticks), float("inf")
    if earlier is not None and sent_at.ticks > earlier.received_at.ticks:
        outer = (ended.ticks - earlier.began.ticks) / (received_at.ticks - earlier.sent_at.ticks)
        slowest = max(slowest, outer)
        fastest = (began.ticks - earlier.ended.ticks) / (sent_at.ticks - earlier.received_at.ticks)
    if slowest > 1 + RATE:
        return f"clock: it ran {slowest:.2f} times as fast as the driver's"
    if fastest < 1 - RATE:
        return f"clock: it ran {fastest:.2f} times as fast as the driver's"
    return ""
