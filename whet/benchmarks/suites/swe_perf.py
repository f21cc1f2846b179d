"""SWE-Perf: patches by the durations of a repository's own tests.

Its own rule: the row's ``efficiency_test`` must pass with the patch, each repeated 20 times before and after; its gain
is the largest share that a rank test still vouches for (`whet.evaluators.scores.sweperf`). Traps: the durations are
those that pytest tells from within the patched program, a fixture's time left out; many tests last milliseconds, so
that most of a duration is pytest's own, and published gains of the experts are not found again on other machines. Here
base and patch run in turns in sandboxes of their own.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.results import Own, Row
from whet.benchmarks.suites.base import Figure, NoTarget, Origin, Problem, Reading, Score, Unusable
from whet.benchmarks.suites.grouping import grouped, passed
from whet.benchmarks.suites.jsonl import RowFault, field
from whet.benchmarks.suites.repositories import rows as repositories
from whet.benchmarks.suites.repositories.trees import Tree, trees, usable
from whet.benchmarks.suites.samples import mean_figure
from whet.core.errors import UsageError
from whet.evaluators.scores import common, sweperf
from whet.sandbox.cores import measuring_cores

UNAPPLIED = "the patch does not apply"


@dataclass(frozen=True, slots=True)
class SwePerf:
    """The suite.

    Attributes:
        rounds: runs of each test before and after.
    """

    rounds: int = 20

    name = "swe-perf"
    title = "SWE-Perf: patches by the durations of a repository's own tests"
    status = "format only"
    origin = Origin(
        source="huggingface.co/datasets/SWE-Perf/SWE-Perf; harness at github.com/SWE-Perf/SWE-Perf",
        licence="unknown",
        files={
            "*.jsonl": "the rows, exported as JSON Lines: datasets' Dataset.to_json does that",
            "checkouts/*": "a repository at its base commit for each instance_id, with INSTANCE_ID.sh to rebuild it",
        },
        notes=("--python is the environment in which the tests run, without the library itself",),
    )

    def read(self, root: Path) -> Reading:
        """See `whet.benchmarks.suites.base.Suite.read`."""
        return repositories.read(root, self.name, _fields)

    def answers(self, file: Path, problems: Sequence[Problem]) -> Mapping[tuple[str, int], str]:
        """Returns predictions; see `whet.benchmarks.suites.repositories.rows.answers`."""
        return repositories.answers(file)

    def write_target(self, problem: Problem, folder: Path) -> str:
        """See `whet.benchmarks.suites.base.Suite.write_target`."""
        raise NoTarget(f"{problem.id} is a repository: an answer is a patch, which only the suite's own rule judges")

    def judge(self, problem: Problem, answer: str, lab: Lab) -> Own:
        """See `whet.benchmarks.suites.base.Suite.judge`."""
        tests = problem.data["efficiency_test"]
        with trees(lab, problem, {"base": "", "patched": answer}, {}) as made:
            base, copy = usable(made, "base"), made["patched"]
            if isinstance(copy, str):
                return Own(False, copy, {"applied": not copy.startswith(UNAPPLIED)}, "s", "clock")
            before: dict[str, list[float]] = {test: [] for test in tests}
            after: dict[str, list[float]] = {test: [] for test in tests}
            with measuring_cores(1) as cores:
                for _ in range(self.rounds):
                    if why := _durations(base, before, cores):
                        raise Unusable(f"before any patch {why}")
                    if why := _durations(copy, after, cores):
                        return Own(False, why, {"applied": True}, "s", "clock")
        gains = [sweperf.minimum_gain(before[test], after[test]) for test in tests]
        figures = {"applied": True, "gains": gains, "before": before, "after": after}
        return Own(True, "", figures, "s", "clock")

    def score(self, rows: Sequence[Row]) -> Score:
        """See `whet.benchmarks.suites.base.Suite.score`; the first sample of a problem counts."""
        found = grouped(rows)
        kept, excluded = found.rows, found.excluded
        first = [samples[0] for samples in kept.values()]
        gains = [list(row.own.figures["gains"]) if row.own is not None and passed(row) else [] for row in first]
        each = [sweperf.score([one]) for one in gains]
        performance = mean_figure(
            "Performance", each, "", "wrong is 0; the least gain that p < 0.1 vouches for", headline=True
        )
        applied = [float(row.own is not None and bool(row.own.figures.get("applied"))) for row in first]
        right = [float(passed(row)) for row in first]
        figures = (performance, mean_figure("Apply", applied), mean_figure("Correctness", right))
        return Score(figures, common.spread(each), found.failed, excluded)

    def export(self, rows: Sequence[Row], folder: Path) -> Path | None:
        """Writes predictions; see `whet.benchmarks.suites.repositories.rows.export`."""
        return repositories.export(rows, folder)

    def imported(self, file: Path) -> Score | None:
        """Returns the score of a CSV of ``check_evaluation.py``; see `whet.benchmarks.suites.base.Suite.imported`."""
        if file.suffix != ".csv":
            return None
        with file.open(encoding="utf-8", newline="") as stream:
            reader = csv.DictReader(stream)
            if not {"total", "apply", "correctness", "performance", "repo"} <= set(reader.fieldnames or ()):
                return None
            whole = [row for row in reader if row["repo"] == "total"]
        try:
            (row,) = whole
            n = int(float(row["total"]))
            performance, applied, right = (float(row[name]) for name in ("performance", "apply", "correctness"))
        except (ValueError, TypeError):
            raise UsageError(f"{file} has no single row of the total with numbers; was it cut off?") from None
        figures = (
            Figure("Performance", performance, n, headline=True),
            Figure("Apply", applied, n),
            Figure("Correctness", right, n),
        )
        return Score(figures, failed=n - round(right * n))


def _fields(row: dict[str, Any]) -> Mapping[str, Any]:
    tests = repositories.texts(row, "efficiency_test")
    if not tests or any("::" not in test or test.startswith("-") for test in tests):
        raise RowFault("efficiency_test names no tests of pytest")
    return {"expert": field(row, "patch", str), "efficiency_test": tests}


def _durations(tree: Tree, into: Mapping[str, list[float]], cores: Sequence[int]) -> str:
    """Runs the tests once and adds their durations; returns which did not pass, or nothing."""
    found = tree.test(list(into), cores)
    if isinstance(found, str):
        return f"the tests do not run: {found}"
    for test, durations in into.items():
        if test not in found or not found[test].passed:
            return f"{test} fails"
        durations.append(found[test].seconds)
    return ""


SUITE = SwePerf()
