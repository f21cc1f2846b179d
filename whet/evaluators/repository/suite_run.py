"""A repository's own tests, all of them: which pass before any change, and whether they still do after it."""

from __future__ import annotations

import json
import secrets
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from whet.core.repository import SuiteOutcome
from whet.core.verdict import Reason
from whet.evaluators.finding import Fault
from whet.evaluators.own_tests import Report, compared, report_of, runner_of, signed
from whet.evaluators.repository.trees import Ground, Snapshot, copied
from whet.sandbox.inside import suite

RUNNER = "suite.py"
BESIDE: Mapping[str, bytes] = {RUNNER: Path(suite.__file__).read_bytes()}
"""What a snapshot must hold for its tests to be run."""
SHELL = frozenset("|&;<>()$`*?~\n")
"""Characters that may make a line more than a program and its words."""
MOST_NAMED = 40
"""Tests that a command names one by one; of more it names the files."""


@dataclass(frozen=True, slots=True)
class SuiteRun:
    """What one run of the tests said.

    Attributes:
        report: which passed, and what happened around them.
        failed: which did not.
        seconds: that it took.
    """

    report: Report
    failed: tuple[str, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Suite:
    """Tests that a change must leave as they are.

    Attributes:
        command: that runs them.
        expected: what they said before any change, of those alone that passed each time.
        failing: tests that never passed.
        flaky: tests that did not end alike each time.
        seconds: of one run.
    """

    command: str
    expected: Report
    failing: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def outcome(self) -> SuiteOutcome:
        """The same, for a document."""
        return SuiteOutcome(self.command, tuple(self.expected.passed), self.failing, self.flaky, self.seconds)

    def check(self, ground: Ground, changed: Snapshot) -> Fault | None:
        """Runs the tests once on a changed copy; those that passed before must pass now."""
        told = run_tests(ground, changed, self.command)
        if isinstance(told, Fault):
            return told
        known = {name: code for name, code in told.report.passed.items() if name in self.expected.passed}
        return compared(self.expected, replace(told.report, passed=known))


def baseline(ground: Ground, unchanged: Snapshot, command: str, times: int = 2) -> Suite | Fault:
    """Runs the tests some times before any change.

    Returns:
        the tests, or why none of them can be run.
    """
    runs: list[SuiteRun] = []
    for _ in range(times):
        told = run_tests(ground, unchanged, command)
        if isinstance(told, Fault):
            return told
        runs.append(told)
    passed = [set(run.report.passed) for run in runs]
    always, ever = set.intersection(*passed), set.union(*passed)
    failed = set().union(*(run.failed for run in runs)) - ever
    first = runs[0].report
    expected = replace(first, passed={name: code for name, code in first.passed.items() if name in always})
    return Suite(command, expected, tuple(sorted(failed)), tuple(sorted(ever - always)), runs[-1].seconds)


def run_tests(ground: Ground, tree: Snapshot, command: str) -> SuiteRun | Fault:
    """Runs the tests once; of those that pytest or unittest runs each is told, of others the exit code alone."""
    kind, words = _runner(command)
    with copied(ground, tree) as copy:
        if kind == "command":
            ran = copy.run(command)
            if ran.code is None:
                return Fault(Reason.TEST_FAILURE, f"the tests did not end: {ran.why}")
            passed = Report({command: ""}) if ran.well else Report()
            return SuiteRun(passed, () if ran.well else (command,), ran.seconds)
        key = secrets.token_bytes(32)
        job = {"kind": kind, "args": words, "environment": {}, "key": key.hex()}
        runner = shlex.join([str(ground.interpreter.executable), "-s", f"{copy.beside}/{RUNNER}"])
        ran = copy.run(runner, stdin=json.dumps(job).encode())
    found = signed(ran.stdout.encode(), key)
    if found is None:
        return Fault(Reason.TEST_FAILURE, f"the tests ended without their report: {ran.why}")
    told, _ = found
    return SuiteRun(report_of(told), tuple(told["failed"]), ran.seconds)


def without(command: str, tests: Sequence[str]) -> str:
    """Returns a test command that leaves out some tests, where pytest runs them."""
    kind, _ = _runner(command)
    if kind != "pytest" or not tests:
        return command
    return shlex.join([*shlex.split(command), *(word for test in tests for word in ("--deselect", test))])


def alone(tests: Sequence[str]) -> str | None:
    """Returns the command of pytest that runs some tests alone; None where there are none."""
    if not tests:
        return None
    named = tests if len(tests) <= MOST_NAMED else list(dict.fromkeys(test.partition("::")[0] for test in tests))
    return shlex.join(["python", "-m", "pytest", "-q", *named])


def _runner(command: str) -> tuple[str, Sequence[str]]:
    """Returns which runner of ours runs a command, and the words for it; what needs a shell is a ``command``."""
    try:
        words = shlex.split(command)
    except ValueError:
        return "command", ()
    plain = words and (SHELL.isdisjoint(command) or shlex.join(words) == command)
    kind, rest = runner_of(words) if plain else ("command", ())
    return (kind, rest) if kind in ("pytest", "unittest") else ("command", ())
