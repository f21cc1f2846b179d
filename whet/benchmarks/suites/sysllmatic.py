"""SysLLMatic's sets: HumanEval in C++ with stress tests, and SciMark's kernels in Java.

Its own rule, traps included. C++: the function with its assertions must end with exit code 0, and the function with its
stress test is timed; what that computes is compared with nothing. The compiler is called without any ``-O``, as
published, so that a gain may be one that every optimised build has anyway. SciMark: a program prints one number, and is
right if that lies near a constant of its kernel, whatever the original prints: near 0 for all but MonteCarlo (pi), so
that a program that prints 0 and does nothing passes. Five runs of both sides in turns, without energy, cycles and
throughput. The published averages leave wrong answers out; see `SysLLMatic.score`.
"""

from __future__ import annotations

import math
import re
import shlex
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.lab.programs import Program, ProgramResult, built, on_one_core, program_task, why
from whet.benchmarks.results import Own, Row
from whet.benchmarks.suites.base import Figure, Origin, Problem, Reading, Score, Unusable
from whet.benchmarks.suites.grouping import grouped, passed
from whet.benchmarks.suites.jsonl import Ids, RowFault, digest, fault, field, read_rows, shown
from whet.benchmarks.suites.program_folder import write_task
from whet.benchmarks.suites.samples import mean_figure
from whet.core.errors import UsageError
from whet.core.task import Case, Commands, Limits, Task
from whet.evaluators.finding import Fault
from whet.evaluators.given_files import read_text
from whet.evaluators.scores import common
from whet.sandbox.toolchains.native import found

CPP, SCIMARK = "cpp", "scimark"
DATASET = Path("benchmark_human_eval", "dataset.json")
KERNELS = Path("benchmark_scimark")
FLAGS = ("-g", "-pipe", "-fomit-frame-pointer", "-march=native", "-std=c++11", "-fopenmp")
LIMITS = Limits(seconds=120.0, processes=128)
NEAR: Mapping[str, tuple[float, float]] = {
    "FFT": (0.0, 1e-10),
    "LU": (0.0, 1e-12),
    "MonteCarlo": (math.pi, 0.05),
    "SOR": (0.0, 0.003),
    "SparseCompRow": (0.0, 1e-10),
}
"""Kernel -> (what its program shall print, how far off it may be)."""
OPTIMISED = 1.1  # speedup from which an answer counts; a higher one counts fewer, and the headline's name states it too
PACKAGE = re.compile(r"^\s*package\s+([\w.]+)\s*;", re.MULTILINE)
TESTS, STRESS = "tests", "stress"


@dataclass(frozen=True, slots=True)
class SysLLMatic:
    """The suite.

    Attributes:
        runs: of both sides that are timed; their mean counts. The suite's are five.
    """

    runs: int = 5

    name = "sysllmatic"
    title = "SysLLMatic: HumanEval in C++ with stress tests, and SciMark's kernels in Java"
    status = "format only"
    origin = Origin(
        source="github.com/sysllmatic/sysllmatic",
        licence="unknown",
        files={str(DATASET): "the C++ set", f"{KERNELS}/*/*.java": "the kernels"},
        notes=("either set alone will do", "the kernels need javac: apt-get install default-jdk-headless"),
    )

    def read(self, root: Path) -> Reading:
        """See `whet.benchmarks.suites.base.Suite.read`."""
        faults: list[str] = []
        problems = [*_functions(root, faults), *_kernels(root, faults)]
        if not problems:
            first = f": {faults[0]}" if faults else f"; it should hold {DATASET} or {KERNELS}"
            raise UsageError(f"{root} holds no problem of SysLLMatic that can be used{first}")
        return Reading(tuple(problems), tuple(faults))

    def write_target(self, problem: Problem, folder: Path) -> str:
        """See `whet.benchmarks.suites.base.Suite.write_target`.

        A program without inputs is no oracle that whet's verdict could rest on: ``whet verify`` says so.
        """
        return write_task(folder, whole(problem, problem.unchanged), [Case("0", b"")])

    def judge(self, problem: Problem, answer: str, lab: Lab) -> Own:
        """See `whet.benchmarks.suites.base.Suite.judge`."""
        if problem.needs:
            raise Unusable(f"not run: it needs {problem.needs}")
        ours, theirs = whole(problem, problem.unchanged), whole(problem, answer)
        with built(lab, theirs) as candidate:
            if isinstance(candidate, Fault):
                return Own(False, why(candidate))
            with built(lab, ours) as original:
                if isinstance(original, Fault):
                    raise Unusable(f"the original does not build: {why(original)}")
                return self._compared(problem, original, candidate)

    def _compared(self, problem: Problem, original: Program, candidate: Program) -> Own:
        if wrong := _wrong(problem, original.run(TEST, LIMITS.seconds)):
            raise Unusable(f"the original fails: {wrong}")
        if wrong := _wrong(problem, candidate.run(TEST, LIMITS.seconds)):
            return Own(False, wrong)
        with on_one_core(original, candidate):
            return self._timed(original, candidate)

    def _timed(self, original: Program, candidate: Program) -> Own:
        seconds: dict[str, list[float]] = {"source": [], "answer": []}
        for _ in range(self.runs):
            for side, program in (("source", original), ("answer", candidate)):
                run = program.run(TIME, LIMITS.seconds)
                if run.code != 0:
                    said = f"a timed run: {why(run.fault) if run.fault else f'exit code {run.code}'}"
                    if side == "source":
                        raise Unusable(f"the original fails in {said}")
                    return Own(False, said)
                seconds[side].append(run.seconds)
        return Own(True, "", {side: statistics.fmean(listed) for side, listed in seconds.items()}, "s", "clock")

    def score(self, rows: Sequence[Row]) -> Score:
        """Returns, for each set, correctness, the share with at least 1.1x, and the average improvement.

        The published average leaves wrong answers out and counts slower ones as they are; beside it stands the mean in
        which a wrong answer is 1x. The first sample counts.
        """
        found = grouped(rows)
        kept = found.rows
        figures: list[Figure] = []
        values: list[float] = []
        for name in (CPP, SCIMARK):
            firsts = [samples[0] for problem, samples in kept.items() if problem.startswith(f"{name}/")]
            gains = [_gain(row) for row in firsts]
            values += gains
            if firsts:
                figures += _figures(name, gains, [_gain(row) for row in firsts if passed(row)])
        reached = common.proportion_interval(sum(gain >= OPTIMISED for gain in values), len(values))
        low, high = (100.0 * reached.low, 100.0 * reached.high) if reached else (None, None)
        share = 100.0 * common.mean(float(gain >= OPTIMISED) for gain in values)
        headline = Figure("%>=1.1x", share, len(values), low=low, high=high, unit="%", headline=True)
        return Score((headline, *figures), common.spread(values), found.failed, found.excluded)

    def export(self, rows: Sequence[Row], folder: Path) -> Path | None:
        """Returns None: the suite's results are logs of its own runs."""
        return None

    def imported(self, file: Path) -> Score | None:
        """Returns None; see `export`."""
        return None


TEST, TIME = b"test\n", b"time\n"
"""What a program of ours reads to know which of its two parts to run."""


def whole(problem: Problem, answer: str) -> Task:
    """Returns the task of an answer to a problem."""
    if problem.group == CPP:
        build = " && ".join(
            f"cat solution.cpp {part} > {part}.cpp && g++ {' '.join(FLAGS)} {part}.cpp -o {part}.run"
            for part in (TESTS, STRESS)
        )
        run = f"read -r part; case $part in time) ./{STRESS}.run ;; *) ./{TESTS}.run && echo right ;; esac"
        support = {TESTS: f"\n\n{problem.data['tests']}", STRESS: f"\n\n{problem.data['stress']}"}
        filename = "solution.cpp"
    else:
        kernel, support = problem.data["kernel"], dict(problem.data["support"])
        answer = re.sub(rf"\b{kernel}Optimized\b", kernel, answer)
        package = PACKAGE.search(answer)
        main = f"{package[1]}.{kernel}" if package else kernel
        filename = f"{kernel}.java"
        build = f"javac -d classes {shlex.join(sorted((filename, *support)))}"
        run = f"java -cp classes {main}"
    commands = Commands(run, build)
    return program_task("command", answer, limits=LIMITS, commands=commands, filename=filename, support=support)


def _wrong(problem: Problem, run: ProgramResult) -> str:
    if run.fault is not None:
        return why(run.fault)
    if run.code != 0:
        return f"exit code {run.code}: {run.stderr.strip()[-200:]}"
    if problem.group == CPP:
        return ""
    wanted, near = NEAR[problem.data["kernel"]]
    text = "".join(run.stdout.decode("utf-8", "replace").split())
    try:
        held = abs(float(text) - wanted) <= near
    except ValueError:
        held = False
    return "" if held else f"it printed {shown(text)}, which is not within {near:g} of {wanted:g}"


def _functions(root: Path, faults: list[str]) -> Iterator[Problem]:
    file = root / DATASET if root.is_dir() else root
    if not file.is_file():
        return
    ids = Ids()
    for line, row in read_rows(file, faults):
        try:
            name, code = field(row, "task_id", str), field(row, "function_code", str)
            data = {"tests": field(row, "test_code", str), "stress": field(row, "cpp_stress_test", str)}
            ids.take(name, line)
        except RowFault as why_not:
            faults.append(fault(file, line, why_not))
            continue
        title = str(row.get("entry_point", name))[:200]
        yield Problem(f"{CPP}/{name}", title, "command", code, None, data, digest([code, data]), group=CPP)


def _kernels(root: Path, faults: list[str]) -> Iterator[Problem]:
    folder = root / KERNELS
    if not folder.is_dir():
        return
    beside = {file.name: read_text(file) for file in sorted(folder.glob("*.java"))}
    for kernel in NEAR:
        file = folder / kernel / f"{kernel}.java"
        if not file.is_file():
            faults.append(f"{KERNELS / kernel}: no {kernel}.java")
            continue
        try:
            source = read_text(file)
        except UsageError as error:
            faults.append(str(error))
            continue
        data: dict[str, Any] = {"kernel": kernel, "support": beside}
        needs = "" if found("javac") else "javac: apt-get install default-jdk-headless"
        told = digest([source, data])
        yield Problem(f"{SCIMARK}/{kernel}", kernel, "command", source, None, data, told, group=SCIMARK, needs=needs)


def _gain(row: Row) -> float:
    """Returns the speedup of an answer; 1 for a wrong one."""
    return row.own.figures["source"] / row.own.figures["answer"] if row.own is not None and row.own.passed else 1.0


def _figures(name: str, gains: Sequence[float], right: Sequence[float]) -> list[Figure]:
    share = 100.0 * len(right) / len(gains)
    geometric = f"geometric mean {common.geometric_mean(gains):.3g}; wrong answers are 1x"
    return [
        Figure(f"{name} correct", share, len(gains), unit="%"),
        mean_figure(f"{name} improvement", gains, "x", geometric),
        mean_figure(f"{name} improvement of right answers", right, "x", "as published: wrong answers left out"),
    ]


SUITE = SysLLMatic()
