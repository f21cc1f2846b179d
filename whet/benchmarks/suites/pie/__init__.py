"""PIE: slow competitive programs in Python and C++, to be made faster (both releases).

Its own rule stands in `whet.benchmarks.suites.pie.rule`, its score in `whet.benchmarks.suites.pie.scoring`. Where it
differs from the published harness: v2 counts instructions (or seconds, where nothing counts) in place of the seconds
of a simulated Skylake, and a program that a signal ends is wrong whatever it printed before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.results import Own, Row
from whet.benchmarks.suites.base import Origin, Problem, Reading, Score
from whet.benchmarks.suites.pie import rows, rule, scoring
from whet.benchmarks.suites.program_folder import write_task


@dataclass(frozen=True, slots=True)
class Pie:
    """The suite.

    Attributes:
        trials: runs a case where seconds count, the first of which is dropped; PIE's are 25.
        clock: whether rows of v2 are timed too, and not counted.
    """

    trials: int = 25
    clock: bool = False

    name = "pie"
    title = "PIE: slow Python and C++ programs over stdin and stdout, both releases"
    status = "format only"
    origin = Origin(
        source="github.com/madaan/pie-perf (v1), github.com/LearningOpt/pie (v2); their pages link the data",
        licence="unknown",
        files={
            "*.jsonl": "rows of slow and fast programs, such as test.jsonl",
            "*/*/input.*.txt": "cases of the problems, below merged_test_cases/<problem_id>/ say, with output.*.txt",
        },
        notes=("rows of v2 name the cases to use in 'tests': some sources fail others",),
    )

    def read(self, root: Path) -> Reading:
        """See `whet.benchmarks.suites.base.Suite.read`."""
        return rows.read(root)

    def answers(self, file: Path, problems: Sequence[Problem]) -> Mapping[tuple[str, int], str]:
        """Returns somebody's predictions in PIE's format: (problem, sample) -> answer.

        Raises:
            UsageError: they cannot be read.
        """
        return rows.predictions(file)

    def write_target(self, problem: Problem, folder: Path) -> str:
        """See `whet.benchmarks.suites.base.Suite.write_target`; whet compares all lines, those beyond the end too."""
        near = f'stdout = "floats"\ntolerance = {{atol = {rule.NEAR}}}'
        return write_task(folder, rule.task_of(problem), rows.cases(problem.data), near)

    def judge(self, problem: Problem, answer: str, lab: Lab) -> Own:
        """See `whet.benchmarks.suites.base.Suite.judge`."""
        clock = self.clock or problem.data["version"] == "v1"
        return rule.judge(problem, answer, rows.cases(problem.data), lab, self.trials, clock)

    def score(self, rows: Sequence[Row]) -> Score:
        """See `whet.benchmarks.suites.base.Suite.score`."""
        return scoring.score(rows)

    def export(self, rows: Sequence[Row], folder: Path) -> Path | None:
        """See `whet.benchmarks.suites.base.Suite.export`."""
        return scoring.export(rows, folder)

    def imported(self, file: Path) -> Score | None:
        """See `whet.benchmarks.suites.base.Suite.imported`."""
        return scoring.imported(file)


SUITE = Pie()
