"""Which branches of a reference the tests take: what tests that find nothing are worth.

The reference is compiled without optimisation, so that its branches are those of its text. While it is called on the
cases that candidates meet, gcov counts them. It runs on this machine, whatever the candidates are for.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from whet.core.signature import Signature
from whet.core.task import NATIVE_ISA, Task
from whet.core.verdict import Reason
from whet.evaluators.abi.calls import SECONDS
from whet.evaluators.abi.cases import Case
from whet.evaluators.abi.conventions import CONVENTIONS
from whet.evaluators.abi.deck import deal
from whet.evaluators.artifacts import Builder
from whet.evaluators.finding import Passed, Skipped
from whet.sandbox.toolchains.assembly import branch_report, counting_object
from whet.sandbox.toolchains.driver import Driver
from whet.sandbox.toolchains.isas import ISAS
from whet.sandbox.toolchains.native import SUFFIXES, Diagnostics

GOAL = 0.98
"""Share of the branches that tests of a translation should take."""
MOST_LINES = 8
"""Lines with untaken branches that the message names, the first ones; the evidence has all. More lengthen it."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """The branches of a reference, each way of a condition being one.

    Attributes:
        branches: how many it has.
        taken: how many of them some call took.
        missed: lines with a branch that no call took.
    """

    branches: int
    taken: int
    missed: tuple[int, ...] = ()

    @property
    def share(self) -> float:
        """Taken ones among all; 1 where there are none."""
        return self.taken / self.branches if self.branches else 1.0

    @property
    def enough(self) -> bool:
        """Whether that reaches the goal."""
        return self.share >= GOAL

    def __str__(self) -> str:
        if not self.branches:
            return "the reference has no branches"
        told = f"{self.taken} of {self.branches} branches of the reference were taken ({self.share:.1%})"
        if self.enough:
            return told
        lines = ", ".join(map(str, self.missed[:MOST_LINES]))
        return (
            f"only {told}, less than {GOAL:.0%}: what stands behind the others, in line {lines}, was not tested; "
            "a [workload] generator can make inputs that go there"
        )

    def plain(self) -> Mapping[str, Any]:
        """Returns it as plain JSON data."""
        return {"branches": self.branches, "taken": self.taken, "missed_lines": list(self.missed)}


def covered(builder: Builder, signature: Signature, cases: Sequence[Case], seed: int) -> Coverage | Skipped:
    """Returns the branches of a task's reference that cases take.

    Args:
        builder: of the task.
        signature: its contract.
        cases: to call the reference on.
        seed: of what registers and memory hold beside them.
    """
    task = builder.task
    made = counting_object(builder.sandbox, builder.interpreter, task)
    if isinstance(made, Diagnostics):
        return Skipped(Reason.BUILD_ERROR, f"branches are not counted: {made.text}")
    content, notes = made
    driver = Driver(builder.sandbox, builder.interpreter, ISAS[NATIVE_ISA], signature.externs)
    deck = deal(signature, cases, CONVENTIONS[NATIVE_ISA], seed, ())
    ran = driver.run(content, task.symbol or "", deck.data, SECONDS, notes=notes)
    if not ran.log:
        return Skipped(Reason.TOOL_MISSING, f"branches were not counted: {ran.said[-200:] or 'gcov said nothing'}")
    return read_report(ran.log, _file(task))


def covered_by_runs(builder: Builder, inputs: Sequence[bytes]) -> Coverage | Skipped:
    """Returns the branches of a task's reference, a whole program, that its runs take.

    Args:
        builder: of the task.
        inputs: for its stdin, one a run.
    """
    task = builder.task
    made = branch_report(builder.sandbox, builder.interpreter, task, inputs, task.limits.seconds)
    if isinstance(made, Diagnostics):
        return Skipped(Reason.BUILD_ERROR, f"branches are not counted: {made.text}")
    return read_report(made, _file(task))


def with_coverage(found: Passed, coverage: Coverage | Skipped) -> Passed:
    """Returns a finding that tells the branches as well."""
    if isinstance(coverage, Skipped):
        return replace(found, detail=f"{found.detail}; {coverage.detail}")
    return Passed(f"{found.detail}; {coverage}", {**found.evidence, "coverage": coverage.plain()})


def _file(task: Task) -> str:
    return f"{task.path.stem}{SUFFIXES[task.original[1]]}"


def read_report(report: bytes, file: str) -> Coverage:
    """Returns the branches of a file in what gcov writes; those of exceptions stand in no text, so they do not count.

    Raises:
        ValueError: it is no such report.
    """
    text = gzip.decompress(report) if report.startswith(b"\x1f\x8b") else report
    parts = [one["lines"] for one in json.loads(text)["files"] if one["file"] == file]
    if not parts:
        raise ValueError(f"gcov says nothing of {file}")
    lines = [line for part in parts for line in part]
    branches = [(line["line_number"], one["count"]) for line in lines for one in line["branches"] if not one["throw"]]
    missed = sorted({number for number, count in branches if not count})
    return Coverage(len(branches), sum(count > 0 for _, count in branches), tuple(missed))
