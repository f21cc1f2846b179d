"""SWE-fficiency: patches that make a workload of a Python library faster, beside the expert's.

Its own rule: all ``PASS_TO_PASS`` tests pass with the patch, and no added line asks who called it; then the workload's
own "Mean:" before and after. Traps: the workload tells its time from within the patched library; a failure counts as no
change, 1 / the expert's speedup, and not 0; a harmonic mean is ruled by its worst tasks. Here the three sides run in
turns in sandboxes of their own, the median of the rounds counts, and a mean that does not fit into the seconds outside
is no mean. The suite's look at added lines is one at their syntax tree; this one is at their text.
"""

from __future__ import annotations

import csv
import math
import re
import statistics
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
from whet.benchmarks.suites.repositories.trees import Tree, added, trees, usable
from whet.benchmarks.suites.samples import mean_figure, told
from whet.core.errors import UsageError
from whet.evaluators.scores import common, swefficiency
from whet.sandbox.cores import measuring_cores

WORKLOAD_SECONDS = 3600.0
"""Seconds of one run of a workload. A smaller limit fails slow workloads, and excludes a row where base or expert is
slow; a larger one waits longer for a patch that hangs."""
MEAN = re.compile(r"^Mean:\s*([0-9.eE+-]+)\s*$", re.MULTILINE)
ASKS = re.compile(
    r"\b(?:inspect\s*\.\s*(?:currentframe|stack|trace|getsource\w*|get(?:outer|inner)frames|getframeinfo)"
    r"|from\s+inspect\s+import|sys\s*\.\s*(?:_getframe|settrace|setprofile)"
    r"|gc\s*\.\s*get_(?:referrers|objects)|traceback\s*\.\s*(?:extract|format|print|walk)_stack"
    r"|f_back|tb_frame|gi_frame|cr_frame|ag_frame)\b"
)
"""What tells code who called it."""
LEAST_RATIO = 1e-9
"""The ratio that a line of a report has to exceed, since the harmonic mean divides by it. It lies far below real
ratios, which span five orders of magnitude; a larger bound could refuse a slow answer."""


@dataclass(frozen=True, slots=True)
class SweFficiency:
    """The suite.

    Attributes:
        rounds: in which the workload runs before, after and with the expert's patch; the suite has one.
    """

    rounds: int = 3

    name = "swe-fficiency"
    title = "SWE-fficiency: patches of Python libraries beside the expert's, by a workload and covering tests"
    status = "published score reproduced"
    origin = Origin(
        source="huggingface.co/datasets/swefficiency/swefficiency; harness at github.com/swefficiency/swefficiency",
        licence="unknown",
        files={
            "*.jsonl": "the rows, exported as JSON Lines: datasets' Dataset.to_json does that",
            "checkouts/*": "a repository at its base commit for each instance_id, with INSTANCE_ID.sh to rebuild it",
        },
        notes=(
            "--python is the environment in which the library's tests run, without the library itself",
            "rows without a checkout are listed and not run",
        ),
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
        data = problem.data
        patches = {"base": "", "expert": data["expert"], "answer": answer}
        with trees(lab, problem, patches, {"workload.py": data["workload"]}) as made:
            base, expert = usable(made, "base"), usable(made, "expert")
            _expect_tests(base, data)
            copy = made["answer"]
            reason = copy if isinstance(copy, str) else _wrong(copy, answer, data)
            sides = {"before": base, "expert": expert}
            if not isinstance(copy, str) and not reason:
                sides["after"] = copy
            means: dict[str, list[float]] = {side: [] for side in sides}
            with measuring_cores(1) as cores:
                for _ in range(self.rounds):
                    for side, tree in sides.items():
                        found = _mean(tree, cores)
                        if isinstance(found, float):
                            means[side].append(found)
                        elif side == "after":
                            reason = reason or f"the workload fails: {found}"
                        else:
                            raise Unusable(f"the workload fails {side}: {found}")
        figures = {side: statistics.median(found) for side, found in means.items() if found}
        figures["gold_speedup"] = figures["before"] / figures["expert"]
        return Own(not reason, reason, figures, "s", "clock")

    def score(self, rows: Sequence[Row]) -> Score:
        """See `whet.benchmarks.suites.base.Suite.score`; the first sample of a problem counts."""
        found = grouped(rows)
        kept, excluded = found.rows, found.excluded
        ratios = [_ratio(samples[0]) for samples in kept.values()]
        right = [passed(samples[0]) for samples in kept.values()]
        return _scored(ratios, right, found.failed, excluded)

    def export(self, rows: Sequence[Row], folder: Path) -> Path | None:
        """Writes predictions; see `whet.benchmarks.suites.repositories.rows.export`."""
        return repositories.export(rows, folder)

    def imported(self, file: Path) -> Score | None:
        """Returns the score of an ``eval_report_*.csv``; see `whet.benchmarks.suites.base.Suite.imported`."""
        if file.suffix != ".csv":
            return None
        with file.open(encoding="utf-8", newline="") as stream:
            reader = csv.DictReader(stream)
            if not {"instance_id", "human_speedup_ratio", "correctness"} <= set(reader.fieldnames or ()):
                return None
            read = [_report(row, number) for number, row in enumerate(reader, 2)]
        right = [correct for _, correct in read]
        return _scored([ratio for ratio, _ in read], right, right.count(False), {})


def _fields(row: dict[str, Any]) -> Mapping[str, Any]:
    workload = field(row, "workload", str)
    needed, covering = repositories.texts(row, "PASS_TO_PASS"), repositories.texts(row, "covering_tests")
    if not needed or not covering:
        raise RowFault("it names no tests")
    if any("::" not in test for test in needed) or any(test.startswith("-") for test in covering):
        raise RowFault("its tests are not pytest's")
    if "Mean:" not in workload:
        raise RowFault("its workload prints no 'Mean:'")
    return {"expert": field(row, "patch", str), "workload": workload, "pass_to_pass": needed, "covering": covering}


def _expect_tests(base: Tree, data: Mapping[str, Any]) -> None:
    found = base.test(data["covering"])
    if isinstance(found, str):
        raise Unusable(f"the tests do not run before any patch: {found}")
    if missing := [test for test in data["pass_to_pass"] if test not in found or not found[test].passed]:
        raise Unusable(f"{len(missing)} of {len(data['pass_to_pass'])} tests fail before any patch, {missing[0]} first")


def _wrong(tree: Tree, patch: str, data: Mapping[str, Any]) -> str:
    """Returns why a patch that applies does not count; empty where it does."""
    for file, line in added(patch):
        if file.endswith(".py") and (asked := ASKS.search(line)):
            return f"{file} asks who called it: {asked.group()}"
    found = tree.test(data["covering"])
    if isinstance(found, str):
        return f"the tests do not run: {found}"
    failed = [test for test in data["pass_to_pass"] if test not in found or not found[test].passed]
    return f"{len(failed)} of {len(data['pass_to_pass'])} tests fail, {failed[0]} first" if failed else ""


def _mean(tree: Tree, cores: Sequence[int]) -> float | str:
    """Returns the seconds that a workload tells, or what is wrong with it."""
    ran = tree.python([f"{tree.shell.tree}/scripts/workload.py"], WORKLOAD_SECONDS, cores)
    if not ran.well:
        return ran.why
    found = MEAN.findall(ran.stdout)
    try:
        mean = float(found[0]) if len(found) == 1 else math.nan
    except ValueError:
        mean = math.nan
    if not 0.0 < mean < math.inf:
        return "it prints no mean, or several"
    return mean if mean <= ran.seconds else f"a mean of {mean:.3g} s, and {ran.seconds:.3g} s passed"


def _ratio(row: Row) -> float:
    figures = row.own.figures if row.own is not None else {}
    gold = float(figures.get("gold_speedup", 1.0))
    after = told(row, "after", math.nan)
    return swefficiency.speedup_ratio(float(figures.get("before", 1.0)), None if math.isnan(after) else after, gold)


def _report(row: Mapping[str, str | None], line: int) -> tuple[float, bool]:
    try:
        ratio, correct = float(row["human_speedup_ratio"] or ""), float(row["correctness"] or "")
    except ValueError:
        raise UsageError(f"line {line} of the report has no numbers; was it cut off?") from None
    if not LEAST_RATIO < ratio < math.inf:
        raise UsageError(f"line {line} of the report: a ratio of {ratio:g}")
    return ratio, correct == 1.0


def _scored(ratios: Sequence[float], right: Sequence[bool], failed: int, excluded: Mapping[str, str]) -> Score:
    n = len(ratios)
    low, high = common.bootstrap(ratios, common.Mean.HARMONIC) or (None, None)
    ends = common.leave_one_out(ratios, common.Mean.HARMONIC)
    note = "harmonic mean; a failure is 1 / the expert's speedup"
    note += f"; {ends.low:.4g} to {ends.high:.4g} without any one task" if ends else ""
    figures = [
        Figure("SR", swefficiency.score(ratios), n, "higher", low, high, note, "x", headline=True),
        Figure("SR, geometric", common.geometric_mean(ratios), n, note="the report's script names it, and has none"),
        mean_figure("correct", [100.0 * one for one in right], "%"),
    ]
    if n > 1:
        share = 100.0 * swefficiency.share_of_worst(ratios, min(5, n))
        figures.append(Figure("share of the worst 5", share, n, "lower", note="of the sum of 1 / SR", unit="%"))
    for k in (k for k in (1, 5, 20) if k < n):
        figures.append(Figure(f"SR without the worst {k}", swefficiency.without_worst(ratios, k), n - k, unit="x"))
    return Score(tuple(figures), common.spread(ratios), failed, excluded)


SUITE = SweFficiency()
