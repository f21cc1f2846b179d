"""The true gain of a target of ``whet bench self steady``: CPU seconds of both sides, in a long run of their own.

Nothing of whet's way of measuring is used: no sandbox, no turns, no hand-over. The sides alternate, either of them
first in every other pair, each time in a process of its own that calls its side for `SECONDS` of CPU time; CPU time
counts, so the machine may be busy. A run of a program is also timed by the clock, by which its start and its end wait;
a verdict by the clock is held against that.
"""

from __future__ import annotations

import os
import random
import runpy
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from whet.benchmarks.self.steady_targets import SteadyTarget

PAIRS = 300
"""Processes a side. Of 100 pairs, truths of a gain of 2x in C lay between 1.999 and 2.003: further apart than the
intervals of many verdicts end from it."""
SECONDS = 0.1
"""CPU seconds for which a process calls a function. Longer ones leave fewer pairs for the same time."""
FLAGS = ("-O3", "-march=native")
LIMIT = 120.0
"""Seconds for one process."""
CONFIDENCE = 0.99
"""Of the interval of a true gain, as that of a verdict has it."""

PYTHON_LOOP = """\
import random, runpy, sys, time
file, workload, size, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
call = runpy.run_path(file)["mixed"]
make, rng = runpy.run_path(workload)["make_input"], random.Random(1)
inputs = [make(size, rng) for _ in range(20)]
calls, begun = 0, time.process_time()
while time.process_time() - begun < seconds:
    for given in inputs:
        call(*given)
    calls += len(inputs)
print((time.process_time() - begun) / calls)
"""
C_LOOP = """\
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#ifdef __cplusplus
extern "C"
#endif
uint32_t mixed(const uint32_t *numbers, int64_t n);
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}
int main(int argc, char **argv)
{
    int64_t n = atoll(argv[argc - 2]), calls = 0;
    double seconds = atof(argv[argc - 1]), begun;
    uint32_t *numbers = (uint32_t *)malloc(n * sizeof *numbers);
    for (int64_t i = 0; i < n; i++) numbers[i] = (uint32_t)i * 2654435761u;
    for (begun = now(); now() - begun < seconds; calls += 20)
        for (int i = 0; i < 20; i++) mixed(numbers, n);
    printf("%.12g\\n", (now() - begun) / calls);
}
"""


@dataclass(frozen=True, slots=True)
class TrueRatio:
    """The median of the ratios of pairs.

    Attributes:
        ratio: the median.
        low: of its interval at 99 %.
        high: likewise.
    """

    ratio: float
    low: float
    high: float

    @classmethod
    def of(cls, ratios: Sequence[float]) -> TrueRatio:
        """Returns that of some ratios, with the exact interval by their order; of fewer than 8 there is none (NaN)."""
        from scipy.stats import quantile_test

        median = statistics.median(ratios)
        found = quantile_test(ratios, q=median, p=0.5).confidence_interval(CONFIDENCE)
        return cls(median, float(found.low), float(found.high))


@dataclass(frozen=True, slots=True)
class TrueGain:
    """What a long run of both sides came to.

    Attributes:
        baseline: CPU seconds of a call, or a run: the median over processes.
        candidate: those of the rewrite.
        by_cpu: in CPU seconds.
        by_clock: the same, by the clock; of a function as in CPU seconds, since a call does not wait.
    """

    baseline: float
    candidate: float
    by_cpu: TrueRatio
    by_clock: TrueRatio


def true_gain(target: SteadyTarget, folder: Path, pairs: int = PAIRS) -> TrueGain:
    """Returns the gain of a target.

    Args:
        target: written to the folder.
        folder: is added to.
        pairs: processes a side.

    Raises:
        subprocess.CalledProcessError: a compiler or a side failed.
    """
    _, rewrite = target.write(folder)
    file = rewrite.with_name(f"mixed{rewrite.suffix}")
    sides = [_timer(target, side, folder) for side in (file, rewrite)]
    rows = []
    for number in range(pairs):
        step = 1 if number % 2 == 0 else -1
        rows.append([run() for run in sides[::step]][::step])
    ours, theirs = (statistics.median(side.cpu for side in column) for column in zip(*rows, strict=True))
    by_cpu, by_clock = [a.cpu / b.cpu for a, b in rows], [a.wall / b.wall for a, b in rows]
    return TrueGain(ours, theirs, TrueRatio.of(by_cpu), TrueRatio.of(by_clock))


@dataclass(frozen=True, slots=True)
class _Run:
    """Seconds of a run of a program, or of a call."""

    cpu: float
    wall: float


def _timer(target: SteadyTarget, file: Path, folder: Path) -> Callable[[], _Run]:
    """Returns what runs a side once in a new process and tells what a call of it took, or the run of a program."""
    if target.kind == "python":
        loop = [sys.executable, "-c", PYTHON_LOOP, str(file), str(folder / "workload.py"), str(target.size)]
        return partial(_called, [*loop, str(SECONDS)])
    binary = folder / f"{file.stem}.bin"
    compiler = shutil.which("gcc" if target.kind == "c" else "g++") or "g++"
    if target.kind == "program":
        _said([compiler, *FLAGS, str(file), "-o", str(binary)])
        make = runpy.run_path(str(folder / "workload.py"))["make_input"]
        given = folder / "stdin"
        given.write_text(make(target.size, random.Random(1)))
        return partial(_run, binary, given)
    main = folder / f"main{file.suffix}"
    main.write_text(C_LOOP)
    # Two objects: nothing of the function is known where it is called.
    _said([compiler, *FLAGS, "-fno-lto", str(file), str(main), "-o", str(binary)])
    return partial(_called, [str(binary), str(target.size), str(SECONDS)])


def _called(loop: list[str]) -> _Run:
    """Returns the CPU seconds of a call by a process that calls its side, for the clock too."""
    seconds = float(_said(loop))
    return _Run(seconds, seconds)


def _said(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=LIMIT).stdout


def _run(binary: Path, given: Path) -> _Run:
    """Runs a program once; its CPU seconds are those of the kernel's account of an ended child."""
    files = [
        (os.POSIX_SPAWN_OPEN, 0, str(given), os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
    ]
    begun = time.perf_counter()
    child = os.posix_spawn(binary, [str(binary)], os.environ, file_actions=files)
    _, status, usage = os.wait4(child, 0)
    wall = time.perf_counter() - begun
    if code := os.waitstatus_to_exitcode(status):
        raise subprocess.CalledProcessError(code, str(binary))
    return _Run(usage.ru_utime + usage.ru_stime, wall)
