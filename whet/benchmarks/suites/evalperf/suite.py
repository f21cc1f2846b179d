"""EvalPerf: in which cluster of known solutions a right sample lies, by its instructions (DPS).

Its rule. A sample is right where it passes the base and plus tests of HumanEval+ or MBPP+, each within four times the
canonical solution's time and at least 4 s. A right one runs once on the task's performance input, within 45 s and 12
GB, and its instructions are counted. The task has reference solutions from slow to fast, each with a score: the sample
gets the score of the fastest one that it needs no more instructions than (DPS), and that one's rank (DPS_norm); 0 where
it is slower than all, or fails there. A task's score is the mean over its first 20 right samples; tasks with fewer than
10 right ones drop out; a model's is the mean over what is left. So wrong answers do not count against DPS: rank models
on common tasks, or beside pass@1.

Where this differs from the suite's own scorer: instructions are perf's where the machine shows its counter, else
cachegrind's (rows say which), and are counted in user mode for a process of its own, less those of loading the text; a
count is believed as far as the clock outside agrees. References are counted from the fastest on, as far as needed (the
suite's lazy mode), beside each sample. Outputs are compared in a process without the sample.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.lab.functions import AnswerOutcome, Counting, Helper, Submission, function_builder, open_counting
from whet.benchmarks.results import Own, Row
from whet.benchmarks.suites.base import Origin, Problem, Reading, Score, Unusable
from whet.benchmarks.suites.evalperf.tests import CHECKER, arguments
from whet.benchmarks.suites.files import find, json_of
from whet.benchmarks.suites.function_folder import is_name, write_function
from whet.benchmarks.suites.grouping import grouped, passed
from whet.benchmarks.suites.jsonl import Ids, RowFault, digest, fault, field, read_rows, shown
from whet.benchmarks.suites.samples import mean_figure, told
from whet.core.errors import UsageError
from whet.core.task import MIB, Limits
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.plain_data import write
from whet.evaluators.scores.common import mean, spread
from whet.evaluators.scores.evalperf import MAX_PROFILED, MIN_CORRECT, dps, dps_norm, matching_cluster, task_score

LIMITS = Limits(seconds=45.0, memory=12 * 1024 * MIB)
LEAST_SECONDS = 4.0
"""Seconds that a test has at least, by the suite's rule, however fast the canonical solution is. More let slower
samples pass."""
TIMES_CANONICAL = 4.0
"""The limit of a test in multiples of the canonical solution's seconds, by the suite's rule. More let slower samples
pass."""
FEW = f"fewer than {MIN_CORRECT} samples a task: each task with a right one counts"

WORKLOAD = '''"""The suite's performance input is timed; other sizes give the inputs of its tests."""

inf, nan = float("inf"), float("nan")
PERFORMANCE = {performance!r}
TESTS = {tests!r}

sizes = [1000]


def make_input(size, rng):
    return PERFORMANCE if size >= 1000 or not TESTS else rng.choice(TESTS)
'''


class EvalPerf:
    """The suite."""

    name = "evalperf"
    title = "EvalPerf: HumanEval+ and MBPP+ tasks that cost time, Differential Performance Score"
    status = "published score reproduced"
    origin = Origin(
        "huggingface.co/datasets/evalplus/evalperf; tests: github.com/evalplus/humanevalplus_release and "
        "mbppplus_release; outputs of 35 models: github.com/evalplus/evalplus.github.io",
        "Apache-2.0",
        {
            "**/*evalperf*.jsonl*": "the tasks as JSON Lines, one a line (datasets' to_json writes it)",
            "**/HumanEvalPlus*.jsonl*": "tests of its HumanEval tasks (the suite takes the variant NoExtreme)",
            "**/MbppPlus*.jsonl*": "tests of its MBPP tasks",
        },
        ("published outputs (*_evalperf_results.brief.json) are scored by whet bench score",),
    )

    def read(self, root: Path) -> Reading:
        """See `Suite.read`."""
        file = find(root, "*evalperf*.jsonl*", self.name)
        faults: list[str] = []
        tests: dict[str, tuple[str, dict[str, Any]]] = {}
        for pattern in ("HumanEvalPlus*.jsonl*", "MbppPlus*.jsonl*"):
            for path in sorted(root.rglob(pattern))[:1] if root.is_dir() else ():
                for line, row in read_rows(path, faults):
                    tests.setdefault(str(row.get("task_id")), (f"{path.name}, row {line}", row))
        problems: list[Problem] = []
        ids = Ids()
        for line, row in read_rows(file, faults):
            try:
                problem = _problem(row, tests)
                ids.take(problem.id, line)
                problems.append(problem)
            except RowFault as why:
                faults.append(fault(file, line, why))
        if not problems:
            raise UsageError(f"{file} holds no task that can be read{': ' + faults[0] if faults else ''}")
        return Reading(tuple(problems), tuple(faults))

    def write_target(self, problem: Problem, folder: Path) -> str:
        """See `Suite.write_target`: the slowest reference is to be made faster."""
        data = problem.data
        workload = WORKLOAD.format(performance=data["performance"], tests=list(data["tests"]))
        return write_function(folder, problem.name, problem.unchanged, data["entry_point"], workload, LIMITS.seconds)

    def judge(self, problem: Problem, answer: str, lab: Lab) -> Own:
        """See `Suite.judge`."""
        data = problem.data
        if why := _wrong(data, answer, lab):
            return Own(False, why)
        counting = open_counting(function_builder(lab, answer, data["entry_point"], LIMITS))
        return _profiled(data, answer, counting, lab)

    def score(self, rows: Sequence[Row]) -> Score:
        """See `Suite.score`."""
        found = grouped(rows)
        kept = found.rows
        few = max(map(len, kept.values()), default=0) < MIN_CORRECT
        scored: dict[str, list[float]] = {"dps": [], "dps_norm": []}
        for each in kept.values():
            right = [row for row in each if passed(row)]
            for name, values in scored.items():
                shares = [told(row, name, 0.0) for row in right[:MAX_PROFILED]]
                if (value := task_score(shares, len(right), 1 if few else MIN_CORRECT)) is not None:
                    values.append(value)
        rights = [100.0 * mean(float(passed(row)) for row in each) for each in kept.values()]
        return _score(scored["dps"], scored["dps_norm"], rights, found.failed, found.excluded, FEW if few else "")

    def export(self, rows: Sequence[Row], folder: Path) -> Path | None:
        """See `Suite.export`: the suite's brief file of results."""
        kept = grouped(rows).rows
        score = self.score(rows)
        summary = {figure.name.lower(): figure.value for figure in score.figures}
        samples = max(map(len, kept.values()), default=0)
        found = {"config": {"n_samples": samples, "min_correct": MIN_CORRECT, "max_profile": MAX_PROFILED}}
        file = folder / "evalperf_results.brief.json"
        file.write_text(json.dumps({**found, "summary": summary, "eval": {n: _brief(e) for n, e in kept.items()}}))
        return file

    def answers(self, file: Path, problems: Sequence[Problem]) -> dict[tuple[str, int], str]:
        """Returns (problem, sample) -> answer of a JSON Lines file with task_id and solution.

        Raises:
            UsageError: it is none.
        """
        faults: list[str] = []
        found: dict[tuple[str, int], str] = {}
        seen: dict[str, int] = {}
        for _, row in read_rows(file, faults):
            task, text = row.get("task_id"), row.get("solution")
            if isinstance(task, str) and isinstance(text, str):
                name = task.replace("_", "/")
                found[name, seen.setdefault(name, 0)] = text
                seen[name] += 1
        if not found:
            raise UsageError(f"{file} holds no samples with task_id and solution")
        return found

    def imported(self, file: Path) -> Score | None:
        """See `Suite.imported`: a file ``*evalperf_results.brief.json`` or ``*evalperf_results.json``."""
        if not file.name.endswith(("evalperf_results.brief.json", "evalperf_results.json")):
            return None
        found = json_of(file)
        try:
            tasks = list(found["eval"].values())
            dpses, norms = ([float(t[name]) for t in tasks if t[name] is not None] for name in ("dps", "dps_norm"))
            rights = [float(task["pass@1"]) for task in tasks]
        except (AttributeError, KeyError, TypeError, ValueError):
            raise UsageError(
                f"{file} is no file of EvalPerf's results: eval -> task -> dps, dps_norm, pass@1"
            ) from None
        return _score(dpses, norms, rights, rights.count(0.0), {}, "")


def _problem(row: dict[str, Any], tests: Mapping[str, tuple[str, dict[str, Any]]]) -> Problem:
    task = field(row, "task_id", str)
    kind = task.partition("/")[0]
    if kind not in ("HumanEval", "Mbpp"):
        raise RowFault(f"its task_id is {shown(task)}, neither HumanEval/N nor Mbpp/N")
    name = field(row, "entry_point", str)
    if not is_name(name) or "." in name:
        raise RowFault(f"its entry_point is {shown(name)}")
    references, scores = field(row, "reference", list), field(row, "scores", list)
    if not references or len(references) != len(scores) or not all(isinstance(one, str) for one in references):
        raise RowFault("its references are not as many texts as it has scores")
    if not all(isinstance(score, int | float) and math.isfinite(score) for score in scores):
        raise RowFault("its scores are no numbers")
    if task not in tests:
        raise RowFault(f"there are no tests for {shown(task)} in the files of HumanEval+ and MBPP+")
    where, plus = tests[task]
    try:
        given: Any = row.get("pe_input")
        performance = (json.loads(given) if isinstance(given, str) else given)[0]
        inputs = [*field(plus, "base_input", list), *(plus.get("plus_input") or ())]  # none is written as {}
        data = {
            "kind": kind,
            "entry_point": name,
            "references": references,
            "scores": [float(score) for score in scores],
            "performance": arguments(task, performance),
            "tests": [arguments(task, one) for one in inputs],
            "canonical": field(plus, "prompt", str) + field(plus, "canonical_solution", str),
            "atol": field(plus, "atol", float),
        }
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise RowFault(f"its inputs cannot be read: {error}") from None
    except RowFault as why:
        raise RowFault(f"its tests ({where}): {why}") from None
    label = f"{task} {name}"
    mark = digest([row, plus])
    return Problem(task, label, "python", references[0], references[-1], data, mark, kind)


def _wrong(data: Mapping[str, Any], answer: str, lab: Lab) -> str:
    """Returns why an answer fails the tests; empty where it passes."""
    name = data["entry_point"]
    payloads = [write(one) for one in data["tests"]]
    canonical = Submission(function_builder(lab, data["canonical"], name, LIMITS), data["canonical"])
    expected = list(canonical.calls(payloads, LIMITS.seconds))
    if len(expected) < len(payloads) or any(came.kind != "value" for came in expected):
        bad = next((came for came in expected if came.kind != "value"), AnswerOutcome("crash"))
        raise Unusable(f"the canonical solution fails its tests: {bad.detail or bad.kind}")
    patience = max(LEAST_SECONDS, TIMES_CANONICAL * max((came.outside for came in expected), default=0.0))
    theirs = Submission(function_builder(lab, answer, name, LIMITS), answer)
    with Helper(lab, CHECKER, "whet_check") as check:
        for number, came in enumerate(theirs.calls(payloads, patience)):
            if came.kind != "value":
                return f"test {number}: {came.detail or came.kind}"
            if came.inside > max(LEAST_SECONDS, TIMES_CANONICAL * expected[number].inside):
                return f"test {number}: over its time limit"
            given = data["tests"][number]
            try:
                held = check(data["kind"], name, given, expected[number].value, came.value, data["atol"])
            except Unusable:  # what cannot even be compared is another value
                held = False
            if held is not True:
                return f"test {number}: wrong output"
    return ""


def _profiled(data: Mapping[str, Any], answer: str, counting: Counting, lab: Lab) -> Own:
    """Returns what a right answer's instructions on the performance input come to."""
    payload = write(data["performance"])

    def side_of(text: str) -> Submission:
        return Submission(function_builder(lab, text, data["entry_point"], LIMITS), text)

    def measured(side: Submission) -> tuple[AnswerOutcome, float | Fault]:
        came = side.call(payload, LIMITS.seconds)
        lost = came.kind != "value"
        return came, math.inf if lost else side.count(counting, payload, came)

    theirs = side_of(answer)
    came, number = measured(theirs)
    if isinstance(number, Fault):
        return Own(False, number.detail, {}, "instructions", counting.name)
    known: dict[int, float] = {}
    references = [-1.0] * len(data["references"])
    for index in reversed(range(len(references))):
        text = data["references"][index]
        # Two counts of one text differ by a little: the same text has the same.
        ran, needed = (came, number) if text == answer and number < math.inf else measured(side_of(text))
        if isinstance(needed, Fault) or needed == math.inf:
            detail = needed.detail if isinstance(needed, Fault) else ran.detail
            raise Unusable(f"reference {index} fails on the performance input: {detail}")
        believed = bool(known) or number == math.inf
        if not believed and not theirs.believed(payload, LIMITS.seconds, (number, needed), came, ran):
            why = "the clock outside does not agree with its count of instructions"
            return Own(False, why, {}, "instructions", counting.name)
        known[index] = references[index] = needed
        if number <= needed:
            break
    figures = {
        "count": number if number < math.inf else None,
        "references": {str(index): needed for index, needed in known.items()},
        "cluster": matching_cluster(number, references),
        "dps": dps(number, references, data["scores"]),
        "dps_norm": dps_norm(number, references),
    }
    return Own(
        True,
        "" if number < math.inf else f"on the performance input: {came.detail}",
        figures,
        "instructions",
        counting.name,
    )


def _brief(rows: Sequence[Row]) -> dict[str, Any]:
    right = [row for row in rows if passed(row)]
    profiled = right[:MAX_PROFILED] if len(right) >= MIN_CORRECT else []
    return {
        "dps": mean(told(row, "dps", 0.0) for row in profiled) if profiled else None,
        "dps_norm": mean(told(row, "dps_norm", 0.0) for row in profiled) if profiled else None,
        "pass@1": 100.0 * len(right) / len(rows),
        "profiled": [
            {"solution": row.answer, "matching_cluster_idx": int(told(row, "cluster", -1.0))} for row in profiled
        ],
    }


def _score(
    dpses: Sequence[float],
    norms: Sequence[float],
    rights: Sequence[float],
    failed: int,
    excluded: Mapping[str, str],
    few: str,
) -> Score:
    note = "; ".join(filter(None, (few, "tasks without enough right samples drop out: compare beside pass@1")))
    figures = (
        mean_figure("DPS", dpses, note=note, headline=True),
        mean_figure("DPS_norm", norms, note=few),
        mean_figure("pass@1", rights, "%"),
    )
    return Score(figures, spread(dpses), failed, excluded)


SUITE = EvalPerf()
