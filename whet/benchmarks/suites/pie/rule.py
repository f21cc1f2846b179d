"""PIE's own rule: lines of stdout, and the time of both programs on all cases."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.lab.programs import Program, ProgramResult, built, on_one_core, program_task, why
from whet.benchmarks.results import Own
from whet.benchmarks.suites.base import Problem, Unusable
from whet.core.errors import UsageError
from whet.core.task import MIB, Case, Limits, Task
from whet.evaluators.finding import Fault

NEAR = 1e-3  # difference below which two numbers count as equal, by the suite's rule; more accepts less exact output
FLAGS = {"v1": ("--std=c++17", "-O1"), "v2": ("-O3", "--std=c++17")}
LIMITS = {"v1": Limits(seconds=10.0, memory=500 * MIB), "v2": Limits(seconds=120.0)}


def task_of(problem: Problem) -> Task:
    """Returns the task of a row's slow program, with the flags and limits of its release."""
    version = problem.data["version"]
    flags = FLAGS[version] if problem.language == "cpp" else ()
    return program_task(problem.language, problem.unchanged, flags, LIMITS[version])


class Wrong(Exception):
    """A program that does not give what it must; the message says where."""


def accuracy(stdout: str, expected: str) -> float:
    """Returns PIE's accuracy: the share of the expected lines that are right.

    A line is right if it is equal, or if both are numbers that lie within 0.001. As in PIE's scorer, lines are paired
    with ``zip``: those beyond the expected ones count nowhere, and "0.0005" is as good as "0". Exit codes count nowhere
    either. Where no line is expected, PIE's scorer divides by zero and the row fails: 0 here.
    """
    wanted = expected.strip().splitlines()
    pairs = zip(stdout.strip().splitlines(), wanted, strict=False)
    return sum(_alike(given, line) for given, line in pairs) / len(wanted) if wanted else 0.0


def _alike(given: str, wanted: str) -> bool:
    try:
        return given == wanted or abs(float(given) - float(wanted)) < NEAR
    except ValueError:
        return False


def judge(problem: Problem, answer: str, cases: Sequence[Case], lab: Lab, trials: int, clock: bool) -> Own:
    """Judges an answer beside its slow program.

    Args:
        problem: a row.
        answer: a program.
        cases: those of the row.
        lab: where they run.
        trials: runs a case where seconds count, the first of which is dropped.
        clock: whether seconds count; else instructions, as far as the machine counts them.

    Raises:
        Unusable: the slow program itself fails.
    """
    base = {"problem_id": problem.data["problem_id"], "cases": len(cases)}
    task = task_of(problem)
    limits = task.limits
    with built(lab, replace(task, source=answer)) as theirs:
        if isinstance(theirs, Fault):
            return Own(False, why(theirs), {**base, "accuracy": 0.0})
        with built(lab, task) as slow:
            if isinstance(slow, Fault):
                raise Unusable(f"the slow program does not build: {why(slow)}")
            _, fails = _checked(slow, cases, limits)
            if fails:
                raise Unusable(f"the slow program fails: {fails}")
            share, fails = _checked(theirs, cases, limits)
            if fails:
                return Own(False, fails, {**base, "accuracy": share})
            counter = "clock" if clock else _counter(slow)
            try:
                if counter == "clock":
                    figures = _times(slow, theirs, cases, limits, trials)
                else:
                    figures = _counts(slow, theirs, cases, limits)
            except Wrong as wrong:
                return Own(False, str(wrong), {**base, "accuracy": share})
    unit = "s" if counter == "clock" else "instructions"
    return Own(True, "", {**base, "accuracy": 1.0, **figures}, unit, counter)


@contextmanager
def _ours() -> Iterator[None]:
    """Has a fault of the slow program exclude its row."""
    try:
        yield
    except Wrong as wrong:
        raise Unusable(f"the slow program fails: {wrong}") from None


def _counter(program: Program) -> str:
    try:
        return program.counter()
    except UsageError:
        return "clock"


def _checked(program: Program, cases: Sequence[Case], limits: Limits) -> tuple[float, str]:
    """Returns the mean accuracy over cases, and what is wrong first; one that comes to no end makes it 0."""
    shares: list[float] = []
    first = ""
    for case in cases:
        run = program.run(case.stdin, limits.seconds)
        try:
            _expect(run, case)
            shares.append(1.0)
        except Wrong as wrong:
            first = first or str(wrong)
            if run.fault is not None:
                return 0.0, first
            shares.append(_share(run, case))
    return statistics.fmean(shares), first


def _expect(run: ProgramResult, case: Case) -> float:
    """Returns the seconds of a run that is right."""
    if run.fault is not None:
        raise Wrong(f"case {case.name}: {why(run.fault)}")
    share = _share(run, case)
    if share < 1.0:
        raise Wrong(f"case {case.name}: {share:.0%} of the lines are right")
    return run.seconds


def _share(run: ProgramResult, case: Case) -> float:
    assert case.expected is not None, "cases of PIE have outputs"
    return accuracy(run.stdout.decode("utf-8", "replace"), case.expected.decode("utf-8", "replace"))


def _times(slow: Program, theirs: Program, cases: Sequence[Case], limits: Limits, trials: int) -> Mapping[str, Any]:
    """Returns the mean seconds over cases and trials of both programs, which take turns."""
    seconds: dict[str, list[float]] = {"source": [], "answer": []}
    with on_one_core(slow, theirs):
        for case in cases:
            for trial in range(trials):
                with _ours():
                    before = _expect(slow.run(case.stdin, limits.seconds), case)
                after = _expect(theirs.run(case.stdin, limits.seconds), case)
                if trial or trials == 1:
                    seconds["source"].append(before)
                    seconds["answer"].append(after)
    return {name: statistics.fmean(listed) for name, listed in seconds.items()}


def _counts(slow: Program, theirs: Program, cases: Sequence[Case], limits: Limits) -> Mapping[str, Any]:
    """Returns the instructions of both programs, summed over cases: PIE v2 sums the seconds of a simulator."""
    totals = {"source": 0.0, "answer": 0.0}
    for case in cases:
        with _ours():
            totals["source"] += _count(slow, case, limits)
        totals["answer"] += _count(theirs, case, limits)
    return totals


def _count(program: Program, case: Case, limits: Limits) -> float:
    found = program.count(case.stdin, limits.seconds)
    if isinstance(found, Fault):
        raise Wrong(f"case {case.name}: {why(found)}")
    _expect(found.run, case)
    return found.instructions
