"""EffiBench-X's own rule: tests over stdin judged by the problem's own evaluator, and seconds and bytes of each run."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.lab.programs import Program, ProgramResult, built, on_one_core, program_task, why
from whet.benchmarks.results import Own
from whet.benchmarks.suites.base import Problem, Unusable
from whet.benchmarks.suites.effibench_x.rows import LANGUAGES, PYTHON_HEAD, SLOT
from whet.core.task import MIB, Commands, Limits, Task
from whet.evaluators.finding import Fault

LIMITS = Limits(seconds=10.0, memory=1024 * MIB, processes=64)
ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[@-Z\\-_])")
PUBLIC = re.compile(r"\bpublic\s+(?:final\s+)?class\s+(\w+)")
MAIN = "Main.java"
JAVA = (
    "(grep -hE '^ *import ' {0}; grep -hvE '^ *import ' {0} | sed -E 's/^ *public +((final|abstract) +)*class/class/')"
)
"""Puts imports before all classes, none of which is public then: a file may hold one of its own name only."""
HEAD, TAIL = "head.txt", "tail.txt"
JUDGING = Limits(seconds=60.0)

JUDGE = """
import json as _json, os as _os, sys as _sys
_answer = _os.fdopen(_os.dup(1), "w")
_os.dup2(2, 1)
{head}
import bisect, collections, heapq, itertools, json, math, random, re, string, sys
{evaluator}
_said = []
for _output, _expected in _json.load(_sys.stdin):
    try:
        _said.append(bool(evaluate(_output, _expected)))
    except Exception:
        _said.append(False)
_answer.write(_json.dumps(_said))
_answer.close()
"""
"""Runs a problem's own evaluator, in a process that holds outputs and nothing that made them."""


def whole(problem: Problem, answer: str) -> Task:
    """Returns the task of an answer: the program itself, or what a runner of functions makes of it."""
    language = LANGUAGES[problem.data["language"]]
    runner = problem.data["runner"]
    if runner is None:
        answer = _named_main(answer) if language.filename == MAIN else answer
        if language.task in ("python", "cpp"):
            flags = ("-O2", "-std=c++17") if language.task == "cpp" else ()
            return program_task(language.task, answer, flags, LIMITS)
        commands = language.commands
        return program_task("command", answer, limits=LIMITS, commands=commands, filename=language.filename)
    before, _, rest = runner.partition(SLOT)
    head, tail = before.rpartition("\n")[0], rest.partition("\n")[2]
    support = {HEAD: f"{language.head}\n{head}\n", TAIL: f"\n{tail}\n"}
    solution = f"solution{Path(language.filename).suffix}"
    parts = f"{HEAD} {solution} {TAIL}"
    joined = f"{(JAVA if language.filename == MAIN else 'cat {0}').format(parts)} > {language.filename}"
    build = f"{joined} && {language.commands.build}" if language.commands.build else joined
    commands = Commands(language.commands.run, build)
    return program_task("command", answer, limits=LIMITS, commands=commands, filename=solution, support=support)


def judge(problem: Problem, answer: str, lab: Lab, runs: int) -> Own:
    """Judges an answer beside the canonical solution.

    The published statistics also pass a run that printed nothing, and one that printed its input and the output: here
    the evaluator alone decides, as in the suite's runner of tests.

    Args:
        problem: one language of a problem.
        answer: a solution as the suite asks for it.
        lab: where it runs.
        runs: of each test that is timed; the least counts. The suite runs each test once.

    Raises:
        Unusable: its tool is missing, or the canonical solution or the evaluator fails.
    """
    if problem.needs:
        raise Unusable(f"not run: it needs {problem.needs}")
    tests = problem.data["tests"]
    ours, theirs = whole(problem, problem.unchanged), whole(problem, answer)
    with built(lab, theirs) as candidate:
        if isinstance(candidate, Fault):
            return Own(False, why(candidate))
        with built(lab, ours) as canonical:
            if isinstance(canonical, Fault):
                raise Unusable(f"the canonical solution does not build: {why(canonical)}")
            with on_one_core(canonical, candidate):
                pairs = [_turns(canonical, candidate, test, runs) for test in tests]
    if wrong := _wrong(problem, [pair[0] for pair in pairs], lab):
        raise Unusable(f"the canonical solution fails: {wrong}")
    if wrong := _wrong(problem, [pair[1] for pair in pairs], lab):
        return Own(False, wrong)
    figures = {side: _figures([pair[number] for pair in pairs]) for number, side in enumerate(("source", "answer"))}
    return Own(True, "", figures, "s", "clock")


def _turns(
    canonical: Program, candidate: Program, test: Mapping[str, str], runs: int
) -> tuple[ProgramResult, ProgramResult]:
    """Returns the fastest run of both on a test, taken in turns; where one does not end well, that one."""
    stdin = test["input"].encode()
    pairs = [(canonical.run(stdin, LIMITS.seconds), candidate.run(stdin, LIMITS.seconds)) for _ in range(runs)]
    first, second = ([pair[number] for pair in pairs] for number in (0, 1))
    return _best(first), _best(second)


def _best(runs: Sequence[ProgramResult]) -> ProgramResult:
    failed = next((run for run in runs if run.code != 0), None)
    return failed or min(runs, key=lambda run: run.seconds)


def _figures(runs: Sequence[ProgramResult]) -> dict[str, float]:
    seconds = [run.seconds for run in runs]
    return {"runtime_sum": sum(seconds), "runtime_max": max(seconds), "memory": max(run.peak for run in runs)}


def _wrong(problem: Problem, runs: Sequence[ProgramResult], lab: Lab) -> str:
    """Returns why not all runs of a program are right; empty where they are."""
    for number, run in enumerate(runs, 1):
        if run.fault is not None:
            return f"test {number}: {why(run.fault)}"
        if run.code != 0:
            return f"test {number}: exit code {run.code}"
    tests = problem.data["tests"]
    outputs = [
        (tidied(run.stdout.decode("utf-8", "replace")), tidied(test["output"]))
        for run, test in zip(runs, tests, strict=True)
    ]
    passed = _evaluated(problem.data["evaluator"], outputs, lab)
    return next((f"test {number}: wrong output" for number, one in enumerate(passed, 1) if not one), "")


def _evaluated(evaluator: str, outputs: Sequence[tuple[str, str]], lab: Lab) -> list[bool]:
    """Has a problem's evaluator say which outputs are right, in a sandbox of its own."""
    task = program_task("python", JUDGE.format(head=PYTHON_HEAD, evaluator=evaluator), limits=JUDGING)
    with built(lab, task) as program:
        assert not isinstance(program, Fault), "Python is not built"
        run = program.run(json.dumps(outputs).encode(), JUDGING.seconds)
    try:
        said: Any = json.loads(run.stdout)
    except (ValueError, RecursionError):
        said = None
    if run.fault is not None or run.code != 0 or not isinstance(said, list) or len(said) != len(outputs):
        raise Unusable(f"its evaluator fails: {why(run.fault) if run.fault else run.stderr.strip()[-200:]!r}")
    return [one is True for one in said]


def tidied(text: str) -> str:
    """Returns text without a terminal's escapes, blanks around it, and carriage returns before line ends."""
    return re.sub(r"\r+\n", "\n", ESCAPES.sub("", text)).strip()


def _named_main(answer: str) -> str:
    """Returns a Java program whose public class is called as its file is."""
    public = PUBLIC.search(answer)
    return answer if public is None or public[1] == "Main" else re.sub(rf"\b{public[1]}\b", "Main", answer)
