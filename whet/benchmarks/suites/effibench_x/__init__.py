"""EffiBench-X: competitive programs and functions in six languages, against the best human solutions.

Its own rule stands in `whet.benchmarks.suites.effibench_x.rule`. Where it differs from the published harness: C++ is
built without the address sanitizer, the memory integral is not taken, and an answer that prints nothing is wrong.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.results import Own, Row
from whet.benchmarks.suites.base import Figure, Origin, Problem, Reading, Score
from whet.benchmarks.suites.effibench_x import rows, rule
from whet.benchmarks.suites.grouping import grouped, passed
from whet.benchmarks.suites.program_folder import write_task
from whet.core.task import Case
from whet.evaluators.scores import common
from whet.evaluators.scores.effibench import clipped_ratio

KINDS = {"runtime_sum": "runtime", "runtime_max": "longest test", "memory": "peak memory"}


@dataclass(frozen=True, slots=True)
class EffiBenchX:
    """The suite.

    Attributes:
        runs: of each test that is timed, of which the least counts; the suite's is one.
    """

    runs: int = 1

    name = "effibench-x"
    title = "EffiBench-X: programs in Python, C++, Java, JavaScript, Go and Ruby against human solutions"
    status = "format only"
    origin = Origin(
        source="github.com/EffiBench/EffiBench-X; its page links the data set, which its hf_dataset.py unpacks",
        licence="unknown",
        files={"*.json": "a problem each, as unpacked; or *.jsonl with a row each"},
        notes=("languages whose tool is not installed are listed as not run",),
    )

    def read(self, root: Path) -> Reading:
        """See `whet.benchmarks.suites.base.Suite.read`."""
        return rows.read(root)

    def answers(self, file: Path, problems: Sequence[Problem]) -> Mapping[tuple[str, int], str]:
        """Returns somebody's solutions in the suite's format: (problem, sample) -> answer.

        Raises:
            UsageError: they cannot be read.
        """
        return rows.solutions(file)

    def write_target(self, problem: Problem, folder: Path) -> str:
        """See `whet.benchmarks.suites.base.Suite.write_target`; whet compares stdout, and knows no evaluator."""
        tests = problem.data["tests"]
        cases = [Case(str(n), test["input"].encode(), test["output"].encode()) for n, test in enumerate(tests)]
        return write_task(folder, rule.whole(problem, problem.unchanged), cases, 'stdout = "tokens"')

    def judge(self, problem: Problem, answer: str, lab: Lab) -> Own:
        """See `whet.benchmarks.suites.base.Suite.judge`."""
        return rule.judge(problem, answer, lab, self.runs)

    def score(self, rows: Sequence[Row]) -> Score:
        """Returns the mean over languages of the mean clipped ratio over *all* problems of each, a wrong one 0.

        Being faster than the canonical solution is worth no more than reaching it. The first sample counts.
        """
        found = grouped(rows)
        kept = found.rows
        firsts = [samples[0] for samples in kept.values()]
        figures: list[Figure] = []
        for kind, name in KINDS.items():
            by_language: dict[str, list[float]] = {}
            for row in firsts:
                by_language.setdefault(_language(row), []).append(_ratio(row, kind))
            means = {word: 100.0 * common.mean(ratios) for word, ratios in sorted(by_language.items())}
            note = "mean over languages; not above 100, wrong answers 0"
            headline = kind == "runtime_sum"
            figures.append(
                Figure(name, common.mean(means.values()), len(firsts), note=note, unit="%", headline=headline)
            )
            for word, value in means.items():
                ratios = by_language[word]
                ends = common.bootstrap(ratios)
                low, high = (100.0 * ends.low, 100.0 * ends.high) if ends else (None, None)
                figures.append(Figure(f"{name}, {word}", value, len(ratios), low=low, high=high, unit="%"))
        figures.append(Figure("pass@1", 100.0 * common.mean(map(float, map(passed, firsts))), len(firsts), unit="%"))
        speedups = [_times(row, "source") / _times(row, "answer") for row in firsts if passed(row)]
        return Score(tuple(figures), common.spread(speedups), found.failed, found.excluded)

    def export(self, rows: Sequence[Row], folder: Path) -> Path | None:
        """Writes the first answers as the suite's evaluation takes them: ``{problem: {language: code}}``."""
        kept = grouped(rows).rows
        answers: dict[str, dict[str, str]] = {}
        for name, samples in kept.items():
            problem, _, word = name.rpartition(":")
            answers.setdefault(problem, {})[word] = samples[0].answer
        file = folder / "effibench-x-solutions.json"
        file.write_text(json.dumps(answers, indent=1), encoding="utf-8")
        return file

    def imported(self, file: Path) -> Score | None:
        """Returns None: the suite's results are a folder of files."""
        return None


def _language(row: Row) -> str:
    return row.problem.rpartition(":")[2]


def _times(row: Row, side: str, kind: str = "runtime_sum") -> float:
    assert row.own is not None
    return float(row.own.figures[side][kind])


def _ratio(row: Row, kind: str) -> float:
    value = _times(row, "answer", kind) if passed(row) else math.inf
    return clipped_ratio(_times(row, "source", kind), value) if passed(row) else 0.0


SUITE = EffiBenchX()
