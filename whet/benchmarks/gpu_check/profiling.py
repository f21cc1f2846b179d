"""Profiles a known-good answer in a plain process: by Nsight Compute, else by torch's profiler, else without a run."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import whet
from whet.benchmarks.gpu_check import profiled as program
from whet.core.candidate import Candidate
from whet.core.errors import UsageError
from whet.evaluators.finding import Fault
from whet.evaluators.ladder import Ladder
from whet.evaluators.profilers.ncu import read_csv
from whet.sandbox.toolchains.cuda import find_tool

SECONDS = 300.0
"""Seconds that one run of a profiler may take, with the import of torch and the build of kernels. After a smaller limit
a slow machine falls back to a weaker tool; a larger one delays that where a profiler hangs."""
DURATION = "gpu__time_duration.sum"
UNITS = {"ns": 1e-9, "nsecond": 1e-9, "us": 1e-6, "usecond": 1e-6, "ms": 1e-3, "msecond": 1e-3, "s": 1.0, "second": 1.0}
"""What versions of ncu call the units of time."""
NCU = ("--csv", "--page", "raw", "--metrics", DURATION, "--profile-from-start", "off", "--clock-control", "none")


@dataclass(frozen=True, slots=True)
class Profiled:
    """What one call of an answer launches.

    Attributes:
        source: what told it: ``ncu``, ``torch profiler`` or ``static facts``; empty where nothing did.
        seconds: in which its kernels run; 0 where that is not known.
        launches: of kernels; 0 where that is not known.
        note: what it found, or why a better tool did not tell.
    """

    source: str
    seconds: float = 0.0
    launches: int = 0
    note: str = ""


def profiled(ladder: Ladder, source: str) -> Profiled:
    """Profiles an answer that was found right.

    Args:
        ladder: of its task, which runs on the GPU.
        source: the answer, known to be harmless: it runs outside the sandbox.
    """
    builder, notes = ladder.builder, []
    built = builder.build(source)
    if isinstance(built, Fault):
        return Profiled("", note=f"it does not build: {built.detail}")
    assert ladder.task.module is not None
    with tempfile.TemporaryDirectory(prefix="whet-gpu-check-") as folder:
        problem = Path(folder, "problem.py")
        problem.write_text(ladder.task.source, encoding="utf-8")
        command = [
            str(builder.interpreter.executable), "-s", "-m", program.__name__, str(built.tree),
            ladder.task.filename, str(problem), ladder.task.module.device,
        ]  # fmt: skip
        ncu = find_tool("ncu", builder.interpreter)
        try:
            if ncu is None:
                raise UsageError("ncu is not installed")
            return by_ncu(run([str(ncu), *NCU, *command, "once"]))
        except UsageError as error:
            notes.append(f"ncu: {error}")
        try:
            found = by_torch(run([*command, "many"]))
            return Profiled(found.source, found.seconds, found.launches, "; ".join([found.note, *notes]))
        except UsageError as error:
            notes.append(f"torch profiler: {error}")
    facts = ladder.profile(Candidate(source))
    return Profiled(facts.source if facts.source == "static facts" else "", note="; ".join([*notes, facts.note]))


def run(command: Sequence[str]) -> str:
    """Returns what a profiler prints.

    Raises:
        UsageError: it failed.
    """
    environment = {**os.environ, "PYTHONPATH": str(Path(whet.__file__).parents[1])}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            env=environment,
            errors="replace",
            cwd="/",
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"{type(error).__name__}: {error}"[:300]) from None
    if done.returncode != 0 and "ERR_NVGPUCTRPERM" not in done.stdout + done.stderr:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise UsageError(f"exit code {done.returncode}: {said[-1][:300] if said else 'it said nothing'}")
    return done.stdout + (done.stderr if done.returncode else "")


def by_ncu(said: str) -> Profiled:
    """Reads the raw page of ncu on one call.

    Raises:
        UsageError: counters are not permitted, or it holds no launch.
    """
    launches = read_csv(said, (DURATION,))
    times = [one.metrics[DURATION] for one in launches if DURATION in one.metrics]
    if not times or any(one.unit not in UNITS for one in times):
        raise UsageError("its page tells no duration of a launch")
    seconds = sum(one.value * UNITS[one.unit] for one in times)
    return Profiled("ncu", seconds, len(launches), told(seconds, len(launches)))


def by_torch(said: str) -> Profiled:
    """Reads what the program prints of torch's profiler.

    Raises:
        UsageError: no kernel was seen.
    """
    try:
        found = json.loads(said.splitlines()[-1])
        seconds, launches = found["seconds"] / found["calls"], round(found["launches"] / found["calls"])
    except (IndexError, KeyError, ValueError, TypeError):
        raise UsageError("it told nothing") from None
    if launches == 0:
        raise UsageError("it saw no kernel on the device")
    return Profiled("torch profiler", seconds, launches, told(seconds, launches))


def told(seconds: float, launches: int) -> str:
    """Returns what a call launches, for people."""
    return f"{launches} launches, {seconds * 1e6:.1f} us on the device"
