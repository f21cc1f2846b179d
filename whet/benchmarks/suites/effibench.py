"""EffiBench: what a LeetCode solution costs against the canonical one, in seconds, megabytes and MB*s.

Its rule. The solution, the suite's imports and the task's test (a script of assertions) are one program; it runs once,
for at most 5 s, and passes where it ends well. Its time is that of the whole process, its memory is sampled as it runs.
NET is the execution time over the canonical solution's, NMU the same of the peak of memory, NTMU of memory over time
(the trapezoid rule). The paper averages the ratios over tasks; the published script divides the sums. Only tasks that
ran have a ratio, so that models are compared on different tasks: see n and pass@1.

The trap: the assertions share the answer's process, which could make them hold. whet's verdict beside it does not: its
inputs are the arguments of the calls in the test, and outputs are compared outside.

Where this differs from the suite's own scorer: answer and canonical solution run in turn, three times each, and medians
count; nothing else runs beside them; memory is sampled from outside every 10 ms, not every 100; the clock is outside.
"""

from __future__ import annotations

import ast
import json
import resource
import statistics
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.lab.functions import program_builder
from whet.benchmarks.results import Own, Row
from whet.benchmarks.suites.base import Figure, Origin, Problem, Reading, Score, Unusable
from whet.benchmarks.suites.files import find, json_of
from whet.benchmarks.suites.function_folder import is_name, write_function
from whet.benchmarks.suites.grouping import grouped, passed
from whet.benchmarks.suites.jsonl import RowFault, digest, field, shown
from whet.benchmarks.suites.reading import read_problems
from whet.benchmarks.suites.samples import mean_figure
from whet.core.errors import UsageError
from whet.core.task import MIB, Limits
from whet.core.trees import parse_python
from whet.evaluators.artifacts import Builder
from whet.evaluators.finding import Fault
from whet.evaluators.outcomes import decode_run
from whet.evaluators.program_process import ProgramProcess
from whet.evaluators.scores.common import Mean as MeanKind
from whet.evaluators.scores.common import geometric_mean, leave_one_out, mean, spread
from whet.evaluators.scores.effibench import mean_of_ratios, memory_integral, ratio_of_sums
from whet.sandbox.protocol import Session

SECONDS = 5.0  # seconds of one run, by the suite's rule; a slower one fails, which a larger limit would let pass
LIMITS = Limits(seconds=SECONDS, memory=4096 * MIB)
REPEATS = 3  # runs of each side, whose medians count; more steady the ratios and take longer
SAMPLE_SECONDS = 0.01
"""Seconds between two samples of memory; the suite's are 0.1 apart. Longer gaps make the integral coarser; shorter ones
take more of a processor beside the run."""
MEASURES = {"seconds": "NET", "peak": "NMU", "integral": "NTMU"}
"""Of a run: seconds, MB and MB*s -> what the suite calls the ratio to the canonical solution's."""
RAN = "tasks that ran alone: see n and pass@1"

MODULES = (
    "typing", "bisect", "collections", "copy", "datetime", "heapq", "math", "re", "string", "random", "itertools",
    "functools", "operator",
)  # fmt: skip
NAMED = ("string", "re", "datetime", "collections", "heapq", "bisect", "copy", "math", "random", "itertools",
         "functools", "operator")  # fmt: skip
PRELUDE = (
    "".join(f"from {name} import *\n" for name in MODULES)
    + "".join(f"import {name}\n" for name in NAMED)
    + """

class TreeNode:
    def __init__(self, val=0, left=None, right=None, next=None):
        self.val = val
        self.left = left
        self.right = right
        self.next = next


class ListNode:
    def __init__(self, val=0, next=None):
        self.val = val
        self.next = next


"""
)

WORKLOAD = '''"""The arguments of the calls in the suite's test, in four groups, the shortest first."""

import ast

import target

TEST = {test!r}
METHOD = {method!r}


def is_call(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == METHOD


CALLS = sorted((ast.unparse(node) for node in ast.walk(ast.parse(TEST)) if is_call(node)), key=len)

sizes = [1, 2, 3, 4]


def make_input(size, rng):
    group = min(max(size, 1), 4) - 1
    start = group * len(CALLS) // 4
    call = ast.parse(rng.choice(CALLS[start : max((group + 1) * len(CALLS) // 4, start + 1)]), mode="eval").body
    scope = dict(vars(target))
    value = lambda node: eval(ast.unparse(node), scope)
    return {{"args": tuple(map(value, call.args)), "kwargs": {{one.arg: value(one.value) for one in call.keywords}}}}
'''


class EffiBench:
    """The suite."""

    name = "effibench"
    title = "EffiBench: LeetCode solutions against the canonical ones, NET, NMU and NTMU"
    status = "format only"
    origin = Origin(
        "huggingface.co/datasets/DONG19/EffiBench; github.com/huangd1999/EffiBench",
        "Apache-2.0",
        {"**/dataset*.json*": "1000 tasks, as one JSON array or as JSON Lines"},
        ("the repository holds pointers (Git LFS) in place of the data: git lfs pull, or the copy on Hugging Face",),
    )

    def read(self, root: Path) -> Reading:
        """See `Suite.read`."""
        return read_problems(find(root, "dataset*.json*", self.name), _problem)

    def write_target(self, problem: Problem, folder: Path) -> str:
        """See `Suite.write_target`: inputs are the arguments of the calls in the test."""
        data = problem.data
        workload = WORKLOAD.format(test=data["test"], method=data["method"])
        return write_function(folder, problem.name, problem.unchanged, f"Solution.{data['method']}", workload)

    def judge(self, problem: Problem, answer: str, lab: Lab) -> Own:
        """See `Suite.judge`."""
        data = problem.data
        sides = {"canonical": data["canonical"], "answer": answer.removeprefix(PRELUDE)}
        runs: dict[str, list[RunCost]] = {side: [] for side in sides}
        texts = {side: f"{PRELUDE}{text}\nsolution=Solution()\n{data['test']}\n" for side, text in sides.items()}
        builders = {side: program_builder(lab, text, LIMITS) for side, text in texts.items()}
        for _ in range(REPEATS):
            for side in sides:
                ran = _run(builders[side], texts[side])
                if isinstance(ran, str):
                    if side == "canonical":
                        raise Unusable(f"the canonical solution fails: {ran}")
                    return Own(False, ran)
                runs[side].append(ran)
        figures = {
            side: {name: statistics.median(getattr(ran, name) for ran in each) for name in MEASURES}
            for side, each in runs.items()
        }
        return Own(True, "", figures, "s, MB, MB*s", "clock")

    def score(self, rows: Sequence[Row]) -> Score:
        """See `Suite.score`."""
        found = grouped(rows)
        kept = found.rows
        figures: list[Figure] = []
        nets: list[float] = []
        for name, called in MEASURES.items():
            pairs = [pair for each in kept.values() if (pair := _pair(each, name)) is not None]
            theirs, canonical = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
            ratios = [a / b for a, b in pairs]
            if name == "seconds":
                nets = ratios
                figures.append(mean_figure("ET", theirs, "s", RAN, "lower"))
            ends = mean_figure(
                called, ratios, note=f"the paper's mean of ratios; {RAN}", better="lower", headline=name == "seconds"
            )
            assert not ratios or abs(ends.value - mean_of_ratios(theirs, canonical)) < 1e-9
            note = "the published script's ratio of sums: the longest tasks rule it"
            figures += [
                ends,
                Figure(f"{called} as coded", ratio_of_sums(theirs, canonical), len(pairs), "lower", note=note),
            ]
        least = leave_one_out(nets, MeanKind.GEOMETRIC)
        note = f"leaving one out: {least.low:.4g} to {least.high:.4g}" if least else ""
        figures.append(Figure("NET, geometric mean", geometric_mean(nets), len(nets), "lower", note=note))
        figures.append(mean_figure("pass@1", [mean(float(passed(row)) for row in each) for each in kept.values()]))
        return Score(tuple(figures), spread([1.0 / net for net in nets]), found.failed, found.excluded)

    def export(self, rows: Sequence[Row], folder: Path) -> Path | None:
        """See `Suite.export`: the suite's file of completions; its script makes results of it."""
        kept = grouped(rows).rows
        file = folder / "effibench.json"
        file.write_text(json.dumps([{"problem_idx": int(n), "completion": each[0].answer} for n, each in kept.items()]))
        return file

    def answers(self, file: Path, problems: Sequence[Problem]) -> dict[tuple[str, int], str]:
        """Returns (problem, sample) -> answer of a file of results: rows with problem_idx and completion.

        Raises:
            UsageError: it is none.
        """
        rows = json_of(file)
        found = {
            (str(row["problem_idx"]), 0): _code(row["completion"])
            for row in (rows if isinstance(rows, list) else ())
            if isinstance(row, dict) and isinstance(row.get("completion"), str) and "problem_idx" in row
        }
        if not found:
            raise UsageError(f"{file} holds no rows with problem_idx and completion")
        return found

    def imported(self, file: Path) -> Score | None:
        """See `Suite.imported`: the suite publishes no results but one file of samples of memory a task."""
        return None


def _problem(row: dict[str, Any]) -> Problem:
    number = row.get("problem_idx")
    if isinstance(number, bool) or not str(number).isdecimal():
        raise RowFault(f"its problem_idx is {shown(number)}")
    canonical, test = field(row, "canonical_solution", str), field(row, "test_case", str)
    canonical = _code(canonical)
    if "class Solution" not in canonical:
        raise RowFault("its canonical_solution defines no class Solution")
    method = _method(test)
    if not method:
        raise RowFault("its test_case calls no method of solution")
    data = {"canonical": canonical, "test": test, "method": method}
    return Problem(str(number), f"{number} {method}", "python", PRELUDE + canonical, None, data, digest(data))


def _method(test: str) -> str:
    """Returns the method of ``solution`` that a test calls most."""
    try:
        tree = parse_python(test)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    called = Counter(
        node.func.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "solution"
    )
    name = called.most_common(1)[0][0] if called else ""
    return name if is_name(name) else ""


def _code(text: str) -> str:
    """Returns what is in the first fenced block, as the suite takes it, or all of a text without one."""
    _, fence, after = text.partition("```python")
    return after.partition("```")[0] if fence else text


@dataclass(frozen=True, slots=True)
class RunCost:
    """What one run cost.

    Attributes:
        seconds: of the whole process, by the clock out here.
        peak: megabytes.
        integral: MB*s.
    """

    seconds: float
    peak: float
    integral: float


def _run(builder: Builder, text: str) -> RunCost | str:
    """Runs a program once; returns what it cost, or why it failed."""
    artifact = builder.build(text)
    if isinstance(artifact, Fault):
        return artifact.detail
    process = artifact.start()
    if not isinstance(process, ProgramProcess):
        return process.detail if isinstance(process, Fault) else "no program"
    with _Sampling(process.session) as sampling:
        run = process.timed([b""], SECONDS)
    process.close()
    if isinstance(run, Fault):
        return run.detail
    ended = decode_run(run.outcomes[0])
    if ended.code:
        return f"exit code {ended.code}: {ended.stderr.decode('utf-8', 'replace').strip()[-200:]}"
    peak = max([run.peak / 1e6, *(megabytes for _, megabytes in sampling.samples)])
    samples = sampling.samples if len(sampling.samples) > 1 else [(0.0, peak), (run.outside, peak)]
    return RunCost(run.outside, peak, memory_integral(samples))


class _Sampling:
    """Samples the resident memory of what a session starts, from outside, while it is open.

    Attributes:
        samples: (seconds since it began, megabytes).
    """

    def __init__(self, session: Session) -> None:
        self.samples: list[tuple[float, float]] = []
        self._session = session
        self._before = set(session.pids())
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> _Sampling:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _work(self) -> None:
        start = time.perf_counter()
        while not self._over.wait(SAMPLE_SECONDS):
            resident = sum(map(_resident, set(self._session.pids()) - self._before))
            if resident:
                self.samples.append((time.perf_counter() - start, resident / 1e6))


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()
    except (OSError, IndexError, ValueError):  # it has ended
        return 0


def _pair(rows: Sequence[Row], name: str) -> tuple[float, float] | None:
    """Returns (a problem's measure, the canonical solution's beside it), means over its right samples; None of none."""
    found: list[Mapping[str, Any]] = [row.own.figures for row in rows if row.own is not None and row.own.passed]
    if not found:
        return None
    return mean(one["answer"][name] for one in found), mean(one["canonical"][name] for one in found)


SUITE = EffiBench()
