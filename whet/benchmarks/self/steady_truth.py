"""The true gain of a target of ``whet bench self steady``: CPU seconds of both sides, in a long run of their own.

Nothing of whet's way of measuring is used: no sandbox, no turns, no hand-over. The sides alternate, each time in a
process of its own that calls its side for `SECONDS` of CPU time; CPU time counts, so the machine may be busy.
"""

from __future__ import annotations

import os
import random
import runpy
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from whet.benchmarks.self.steady_targets import SteadyTarget

PAIRS = 100
"""Processes a side. With 25, three truths of a gain of 1.05x lay between 1.048 and 1.054: as far apart as the intervals
that are held against them are wide."""
SECONDS = 0.3
"""CPU seconds for which a process calls a function."""
FLAGS = ("-O3", "-march=native")
LIMIT = 120.0
"""Seconds for one process."""

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


def true_gain(target: SteadyTarget, folder: Path, pairs: int = PAIRS) -> tuple[float, float, float]:
    """Returns the CPU seconds of a call, or a run, of baseline and rewrite (medians), and the median of their ratios.

    Args:
        target: written to the folder.
        folder: is added to.
        pairs: processes a side.

    Raises:
        subprocess.CalledProcessError: a compiler or a side failed.
    """
    _, rewrite = target.write(folder)
    file = rewrite.with_name(f"mixed{rewrite.suffix}")
    before, after = (_timer(target, side, folder) for side in (file, rewrite))
    rows = [(before(), after()) for _ in range(pairs)]
    ours, theirs = (statistics.median(column) for column in zip(*rows, strict=True))
    return ours, theirs, statistics.median(a / b for a, b in rows)


def _timer(target: SteadyTarget, file: Path, folder: Path) -> Callable[[], float]:
    """Returns what runs a side once in a new process and tells its CPU seconds a call."""
    if target.kind == "python":
        loop = [sys.executable, "-c", PYTHON_LOOP, str(file), str(folder / "workload.py"), str(target.size)]
        return lambda: _said([*loop, str(SECONDS)])
    binary = folder / f"{file.stem}.bin"
    compiler = shutil.which("gcc" if target.kind == "c" else "g++") or "g++"
    if target.kind == "program":
        _said([compiler, *FLAGS, str(file), "-o", str(binary)])
        make = runpy.run_path(str(folder / "workload.py"))["make_input"]
        given = folder / "stdin"
        given.write_text(make(target.size, random.Random(1)))
        return lambda: _cpu_of(binary, given)
    main = folder / f"main{file.suffix}"
    main.write_text(C_LOOP)
    # Two objects: nothing of the function is known where it is called.
    _said([compiler, *FLAGS, "-fno-lto", str(file), str(main), "-o", str(binary)])
    return lambda: _said([str(binary), str(target.size), str(SECONDS)])


def _said(command: list[str]) -> float:
    out = subprocess.run(command, capture_output=True, text=True, check=True, timeout=LIMIT).stdout
    return float(out) if out else 0.0


def _cpu_of(binary: Path, given: Path) -> float:
    """Returns the CPU seconds of one run of a program, by the kernel's account of an ended child."""
    with given.open("rb") as stdin:
        child = subprocess.Popen([str(binary)], stdin=stdin, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, str(binary))
    return usage.ru_utime + usage.ru_stime
