"""Mercury: how far along the range of people's runtimes a solution of a LeetCode task lies.

Its rule. An answer defines ``class Solution``. All test cases of a task run on one instance of it, one after the
other, in 30 s; the task's ``convert_offline`` makes arguments of a case, and its ``evaluate_offline`` looks at the
arguments after the call, the result and what is expected. All must pass. The runtime is the sum over the cases. The
task's own solutions run in the same way on the same machine, those that pass give the range, and Beyond is where the
answer lies in it: 1 at the fastest or before, 0 at the slowest or behind, 0 for a wrong answer. Beyond as the paper has
it is the headline; as the published evaluator computes it (it limits the numerator to one second before it divides) it
stands beside it.

Where this differs from the suite's own scorer: converting and evaluating run in a process without the answer, and are
not part of the runtime; a time counts where the clock outside agrees with it; all samples of a task count, not the
first alone. ``lctk`` and ``sortedcontainers`` are there only where the interpreter has them. Linked lists of more than
some hundred nodes are deeper than whet's codec goes: such a task is excluded, not failed.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.lab.functions import AnswerOutcome, Helper, Submission, agreed, function_builder
from whet.benchmarks.results import Own, Row
from whet.benchmarks.suites.base import Origin, Problem, Reading, Score, Unusable
from whet.benchmarks.suites.files import find, json_of
from whet.benchmarks.suites.function_folder import is_name, write_function
from whet.benchmarks.suites.grouping import grouped, passed
from whet.benchmarks.suites.jsonl import RowFault, digest, field, shown
from whet.benchmarks.suites.reading import read_problems
from whet.benchmarks.suites.samples import mean_figure, told
from whet.core.errors import UsageError
from whet.core.task import MIB, Limits
from whet.evaluators.inputs.plain_data import write
from whet.evaluators.scores.common import mean, spread
from whet.evaluators.scores.mercury import beyond, beyond_as_coded

SECONDS = 30.0  # seconds for all cases of a task together, by the suite's rule; more let slower solutions pass
AGAIN = 5
"""Repetitions of both sides at most, while the clocks inside and outside disagree. With fewer, a busy machine fails
more answers; with more, an answer that misreports its time takes longer to reject."""
LIMITS = Limits(seconds=SECONDS, memory=2048 * MIB)
CLASSES = frozenset({"ListNode", "TreeNode"})
CODED = "the published evaluator limits the numerator to 1 s before it divides"

PRELUDE = """import bisect
import collections
import copy
import functools
import heapq
import itertools
import math
import re
import string
import sys
from bisect import bisect_left, bisect_right
from collections import OrderedDict, defaultdict, deque
from functools import cache, lru_cache
from heapq import heapify, heappop, heappush
from itertools import permutations, zip_longest
from math import ceil, factorial, floor, inf, sqrt
from sys import maxsize, stdin
from typing import List, Optional, Tuple

try:
    import sortedcontainers
    import lctk
except ImportError:
    pass


class ListNode(object):
    def __init__(self, val=0, next=None):
        self.val = val
        self.next = next


class TreeNode(object):
    def __init__(self, val=0, left=None, right=None):
        self.val = val
        self.left = left
        self.right = right


def print(*args):
    pass


"""

CALLING = """

solution = Solution()


def whet_call(*inputs):
    return solution.{name}(*inputs)
"""

JUDGING = """

def whet_convert(given, expected):
    inputs, expected = convert_offline((given, expected))
    return tuple(inputs), expected


def whet_evaluate(inputs, outputs, expected):
    return bool(evaluate_offline(list(inputs), outputs, expected))
"""

WORKLOAD = '''"""The suite's own test cases in four groups, the shortest first."""

import json

import target

CASES = json.loads({cases!r})
CONVERT = {convert!r}
scope = dict(vars(target))
exec(CONVERT, scope)

sizes = [1, 2, 3, 4]


def make_input(size, rng):
    group = min(max(size, 1), 4) - 1
    few = CASES[group * len(CASES) // 4 : max((group + 1) * len(CASES) // 4, group * len(CASES) // 4 + 1)]
    case = json.loads(json.dumps(rng.choice(few)))
    return tuple(scope["convert_offline"]((case["input"], case["expected"]))[0])
'''


class Mercury:
    """The suite."""

    name = "mercury"
    title = "Mercury: LeetCode tasks against the range of people's solutions, Beyond"
    status = "published score reproduced"
    origin = Origin(
        "huggingface.co/datasets/Elfsong/Mercury; outputs of seven models: github.com/Elfsong/Mercury",
        "CC-BY-NC-4.0 as the data's card has it; look there",
        {"**/*mercury*.jsonl*": "the split eval as JSON Lines, one task a line (datasets' to_json writes it)"},
        ("256 tasks; published outputs (data/*/*_eval.json of the repository) are scored by whet bench score",),
    )

    def read(self, root: Path) -> Reading:
        """See `Suite.read`."""
        return read_problems(find(root, "*mercury*.json*", self.name), _problem)

    def write_target(self, problem: Problem, folder: Path) -> str:
        """See `Suite.write_target`."""
        data = problem.data
        cases = sorted(data["cases"], key=lambda case: len(json.dumps(case)))
        workload = WORKLOAD.format(cases=json.dumps(cases), convert=data["convert"])
        return write_function(folder, problem.name, problem.unchanged, f"Solution.{data['entry_point']}", workload)

    def judge(self, problem: Problem, answer: str, lab: Lab) -> Own:
        """See `Suite.judge`."""
        data = problem.data
        helping = f"{PRELUDE}{data['convert']}\n{data['evaluate']}\n{JUDGING}"
        with Helper(lab, helping, "whet_convert", LIMITS) as convert, Helper(lab, helping, "whet_evaluate") as judge:
            cases = [convert(case["input"], case["expected"]) for case in data["cases"]]
            if not all(isinstance(case, tuple) and len(case) == 2 and isinstance(case[0], tuple) for case in cases):
                raise Unusable("convert_offline gives no arguments and what is expected")
            runs = {text: self._run(data, text, cases, judge, lab) for text in dict.fromkeys(data["solutions"])}
            right = {text: calls for text, (why, calls) in runs.items() if not why}
            if not right:
                why = next(iter(runs.values()))[0]
                raise Unusable(f"none of the task's own {len(runs)} solutions passes here; the first: {why}")
            why, calls = self._run(data, answer, cases, judge, lab)
            known = {text: list(each) for text, each in right.items()}
            for _ in range(AGAIN):
                if why or agreed(calls, [call for each in known.values() for call in each]):
                    break
                # One call may be late on a busy machine: both sides once more, before that is held against anybody.
                for text, each in known.items():
                    each += self._run(data, text, cases, judge, lab)[1]
                why, more = self._run(data, answer, cases, judge, lab)
                calls += more
        runtimes = sorted(_runtime(right[text]) for text in data["solutions"] if text in right)
        if not why and not agreed(calls, [call for each in known.values() for call in each]):
            why = "the clock outside does not agree with its process's"
        figures: dict[str, Any] = {"runtimes": runtimes, "solutions": len(data["solutions"])}
        if not why:
            runtime = _runtime(calls[: len(cases)])
            figures |= {"runtime": runtime, "beyond": beyond(runtime, runtimes), "coded": _coded(runtime, runtimes)}
        return Own(not why, why, figures, "s", "clock")

    def _run(
        self, data: Mapping[str, Any], text: str, cases: Sequence[Any], judge: Helper, lab: Lab
    ) -> tuple[str, list[AnswerOutcome]]:
        """Returns why a text is wrong (empty where it is right), and its calls."""
        source = PRELUDE + text + CALLING.format(name=data["entry_point"])
        answer = Submission(function_builder(lab, source, "whet_call", LIMITS), source, CLASSES)
        calls: list[AnswerOutcome] = []
        left = SECONDS
        for number, came in enumerate(answer.calls([write(inputs) for inputs, _ in cases], SECONDS)):
            if came.kind != "value":
                return f"case {number}: {came.detail or came.kind}", calls
            if (left := left - came.inside) < 0:
                return f"case {number}: over the limit of {SECONDS:g} s for all cases", calls
            inputs, expected = cases[number]
            try:
                held = judge(inputs if came.after is None else came.after, came.value, expected)
            except Unusable as error:  # an evaluation that raises rejects the answer
                return f"case {number}: {error}", calls
            if held is not True:
                return f"case {number}: wrong output", calls
            calls.append(came)
        return "", calls

    def score(self, rows: Sequence[Row]) -> Score:
        """See `Suite.score`."""
        found = grouped(rows)
        kept = found.rows
        tasks = [[told(row, "beyond", 0.0) for row in each] for each in kept.values()]
        coded = [[told(row, "coded", 0.0) for row in each] for each in kept.values()]
        rights = [mean(float(passed(row)) for row in each) for each in kept.values()]
        return _score(tasks, coded, rights, found.failed, found.excluded)

    def export(self, rows: Sequence[Row], folder: Path) -> Path | None:
        """See `Suite.export`: slug -> samples, as the repository's ``*_eval.json``."""
        kept = grouped(rows).rows
        found = {slug: [_exported(slug, number, row) for number, row in enumerate(each)] for slug, each in kept.items()}
        file = folder / "mercury_eval.json"
        file.write_text(json.dumps(found))
        return file

    def answers(self, file: Path, problems: Sequence[Problem]) -> dict[tuple[str, int], str]:
        """Returns (problem, sample) -> answer of a file ``*_samples.json``: slug -> samples with their completion.

        Raises:
            UsageError: it is none.
        """
        samples = json_of(file)
        found = {
            (slug, number): one["completion"]
            for slug, each in (samples.items() if isinstance(samples, dict) else ())
            for number, one in enumerate(each if isinstance(each, list) else ())
            if isinstance(one, dict) and isinstance(one.get("completion"), str)
        }
        if not found:
            raise UsageError(f"{file} holds no samples of Mercury: slug -> [{{completion}}]")
        return found

    def imported(self, file: Path) -> Score | None:
        """See `Suite.imported`: a file ``*_eval.json`` of the repository's, with the runtimes of its machine."""
        if not re.search(r"_eval(_new)?\.json$", file.name):
            return None
        found = json_of(file)
        try:
            samples = [[_sample(one) for one in each] for each in found.values()]
        except (AttributeError, KeyError, TypeError, ValueError):
            raise UsageError(f"{file} is no file of Mercury's results: slug -> [{{result, runtimes}}]") from None
        if not samples or not all(samples):
            raise UsageError(f"{file} holds no results")
        tasks = [[beyond(*one) if math.isfinite(one[0]) else 0.0 for one in each] for each in samples]
        coded = [[_coded(*one) if math.isfinite(one[0]) else 0.0 for one in each] for each in samples]
        rights = [mean(float(math.isfinite(runtime)) for runtime, _ in each) for each in samples]
        return _score(tasks, coded, rights, rights.count(0.0), {})


def _problem(row: dict[str, Any]) -> Problem:
    slug = field(row, "slug_name", str)
    name = field(row, "entry_point", str)
    if not is_name(name) or "." in name:
        raise RowFault(f"its entry_point is {shown(name)}")
    solutions = [
        (_stated(one.get("runtime")), one["solution"])
        for one in field(row, "solutions", list)
        if isinstance(one, dict) and isinstance(one.get("solution"), str)
    ]
    if not solutions:
        raise RowFault("it has no solutions of its own")
    try:
        cases = json.loads(field(row, "test_cases", str))
    except (ValueError, RecursionError):
        raise RowFault("its test_cases are not JSON") from None
    if not isinstance(cases, list) or not cases or not all(_is_case(case) for case in cases):
        raise RowFault("its test_cases are not a list of input and expected")
    data = {
        "entry_point": name,
        "convert": field(row, "convert_offline", str),
        "evaluate": field(row, "evaluate_offline", str),
        "solutions": [text for _, text in solutions],
        "cases": cases,
    }
    stated = sorted(solutions, key=lambda one: one[0])
    slow, fast = PRELUDE + stated[-1][1], PRELUDE + stated[0][1]
    level = row.get("difficulty")
    group = level if isinstance(level, str) else ""
    return Problem(slug, slug, "python", slow, fast if fast != slow else None, data, digest(data), group)


def _is_case(case: Any) -> bool:
    return isinstance(case, dict) and {"input", "expected"} <= set(case)


def _stated(runtime: Any) -> float:
    """Returns the runtime that a solution's row states, whatever its unit; 0 where it states none."""
    number = re.match(r"\d{1,12}(\.\d{1,6})?", str(runtime))
    return float(number[0]) if number else 0.0


def _runtime(calls: Sequence[AnswerOutcome]) -> float:
    return sum(call.inside for call in calls)


def _coded(runtime: float, known: Sequence[float]) -> float:
    if max(known) == min(known):
        return beyond(runtime, known)
    return beyond_as_coded(runtime, known)


def _sample(one: Mapping[str, Any]) -> tuple[float, list[float]]:
    """Returns (runtime, the runtimes of the task's own solutions) of a published sample; infinite where it failed."""
    result = one["result"] if "result" in one else one["status"]
    known = [float(each) for each in one["runtimes"]]
    runtime = float(result["runtime"]) if result["result"] == "passed" else math.inf
    if (math.isfinite(runtime) and not known) or not all(one >= 0 for one in (runtime, *known)):
        raise ValueError("no runtimes")
    return runtime, known


def _exported(slug: str, number: int, row: Row) -> dict[str, Any]:
    own = row.own.figures if row.own is not None else {}
    status = "passed" if passed(row) else "failed@cases"
    return {
        "slug_name": slug,
        "result": {"result": status, "runtime": told(row, "runtime", 0.0), "index": number},
        "solution": row.answer,
        "runtimes": own.get("runtimes", []),
        "beyond_p": told(row, "beyond", 0.0),
    }


def _score(
    tasks: Sequence[Sequence[float]],
    coded: Sequence[Sequence[float]],
    rights: Sequence[float],
    failed: int,
    excluded: Mapping[str, str],
) -> Score:
    values = [mean(each) for each in tasks]
    figures = (
        mean_figure("Beyond", values, headline=True, note="the paper's formula, over all samples of each task"),
        mean_figure("Beyond as coded", [mean(each) for each in coded], note=CODED),
        mean_figure("pass@1", rights),
    )
    return Score(figures, spread(values), failed, excluded)


SUITE = Mercury()
