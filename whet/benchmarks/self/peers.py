"""Other people's tools themselves, run on a program against itself as their manuals say, on one pinned core."""

from __future__ import annotations

import importlib.util
import json
import math
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from whet.benchmarks.self.targets import written_input
from whet.core.audit import Rate
from whet.core.task import Task
from whet.sandbox.cores import measuring_cores

TRIALS = 10
"""Comparisons of a program with itself by each tool. So few bound a rate coarsely (1 of 10: 0.3 to 44.5 %, at 95 %);
more take longer."""
RUNS = 40  # runs of each program in one comparison by hyperfine; more steady its means, and take longer
SEED = 1


@dataclass(frozen=True, slots=True)
class Peer:
    """A tool that compares the speed of two programs.

    Attributes:
        name: of the tool, and of what it is asked.
        lacking: why it cannot be asked here; empty where it can.
        faster: compares a target with itself, on a core, in a folder; whether it calls one faster.
    """

    name: str
    lacking: str
    faster: Callable[[Task, int, Path], bool]

    def false_wins(self, task: Task) -> Rate:
        """Returns how often it calls a target faster than itself."""
        with tempfile.TemporaryDirectory(prefix="whet-peer-") as folder, measuring_cores(1) as cores:
            return Rate(sum(self.faster(task, cores[0], Path(folder)) for _ in range(TRIALS)), TRIALS)


def peers(task: Task) -> list[Peer]:
    """Returns the tools that are made for a target of this kind."""
    if task.language == "python":
        lacking = "" if importlib.util.find_spec("pyperf") else "pip install pyperf"
        return [Peer("pyperf timeit twice, then compare_to", lacking, _pyperf)]
    lacking = "" if shutil.which("hyperfine") else "apt-get install hyperfine"
    return [Peer(f"hyperfine of {RUNS} runs each", lacking, _hyperfine)]


def _hyperfine(task: Task, core: int, folder: Path) -> bool:
    """Whether its summary says that the second "ran r +- e times faster than" the first, with r - e above 1."""
    program, text, report = folder / "program", folder / "input", folder / "report.json"
    if not program.exists():
        subprocess.run(["g++", *task.flags, "-O3", str(task.path), "-o", program], check=True)
        text.write_bytes(written_input(task, SEED))
    tool = ["hyperfine", "--style=none", "--warmup=3", f"--runs={RUNS}", f"--export-json={report}"]
    _on_core(core, [*tool, *[f"{program} < {text}"] * 2])
    first, second = json.loads(report.read_text())["results"]
    ratio = first["mean"] / second["mean"]
    spread = math.hypot(first["stddev"] / first["mean"], second["stddev"] / second["mean"])
    return bool(ratio - ratio * spread > 1.0)


def _pyperf(task: Task, core: int, folder: Path) -> bool:
    """Whether it calls the second run significantly faster than the first."""
    setup = (
        f"import random, runpy; f = runpy.run_path({str(task.path)!r})[{task.symbol!r}]; "
        f"w = runpy.run_path({str(task.path.parent / 'workload.py')!r}); "
        f"a = w['make_input'](w['sizes'][-1], random.Random({SEED}))"
    )
    reports = [folder / f"{random.getrandbits(64):x}.json" for _ in range(2)]
    for report in reports:
        _on_core(
            core, [sys.executable, "-m", "pyperf", "timeit", "--fast", "-q", "-o", str(report), "-s", setup, "f(*a)"]
        )
    said = subprocess.run(
        [sys.executable, "-m", "pyperf", "compare_to", *map(str, reports)], capture_output=True, text=True, check=True
    )
    return "faster" in said.stdout and "not significant" not in said.stdout


def _on_core(core: int, argv: list[str]) -> None:
    subprocess.run(["taskset", "--cpu-list", str(core), *argv], check=True, capture_output=True)
