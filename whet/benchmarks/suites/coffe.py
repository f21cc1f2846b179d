"""COFFE: how many samples are right and need fewer instructions than the best known solution (efficient@k).

Its rule. A problem is a function that is called ``solution`` (the set ``function``), or a program over stdin and stdout
(the sets ``file`` and ``deepmind_code_contests``). A sample is right where it passes the original tests by a loose
comparison: blanks, newlines and brackets in text do not count, tuples are lists, floats may differ by 1e-6. On some
five stress cases its instructions are counted, each within ten times the best solution's time and at least 0.1 s; a
sample is efficient where it is right and the sum is strictly below the best solution's. efficient@k is pass@k with
"efficient" in place of "right"; the speedup is pooled: sum of counts over sum of counts, of right samples alone.

The trap: stress cases have no expected output, so that a sample which is wrong on them alone is never caught. Here
their outputs are compared with the best solution's too; that decides nothing of the suite's score, and is shown beside
it.

Where this differs from the suite's own scorer: of 12 runs a case, without the least and the greatest, perf's are
averaged where the machine shows its counter; cachegrind, which tells the same number each time, counts once. What a
process needs to start, and to load a function's text, is counted apart and taken off. A program that ends by ``exit``
with code 0 is right, which the suite's scorer fails. Inputs are made in the sandbox, from the suite's seed.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.lab.functions import (
    AnswerOutcome,
    Counting,
    Helper,
    Submission,
    function_builder,
    open_counting,
    program_builder,
)
from whet.benchmarks.results import Own, Row
from whet.benchmarks.suites.base import Figure, Origin, Problem, Reading, Score, Unusable
from whet.benchmarks.suites.files import json_of
from whet.benchmarks.suites.function_folder import write_function, write_program
from whet.benchmarks.suites.grouping import grouped, passed
from whet.benchmarks.suites.jsonl import RowFault, digest, shown
from whet.benchmarks.suites.samples import draws, mean_figure, told
from whet.core.errors import UsageError
from whet.core.task import MIB, Limits
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.plain_data import write
from whet.evaluators.scores.coffe import is_efficient, pooled_speedup, trimmed_mean
from whet.evaluators.scores.common import Mean as MeanKind
from whet.evaluators.scores.common import geometric_mean, leave_one_out, pass_at_k, spread

SETS = {"function": False, "file": True, "deepmind_code_contests": True}
"""Folder of a set -> whether its answers are programs."""
LIMITS = Limits(seconds=60.0, memory=4096 * MIB)
TEST_SECONDS = 10.0
"""Seconds that one original test may take. A smaller limit fails slow right samples; a larger one waits longer for one
that hangs."""
LEAST_SECONDS = 0.1  # seconds that a stress case has at least, by the suite's rule; more let slower samples be counted
TIMES_BEST = 10.0
"""The limit of a stress case in multiples of the best solution's seconds, by the suite's rule. A larger one lets slower
samples be counted; a sample without a count is right and not efficient."""
RUNS = {"perf": 12, "cachegrind": 1}
DRAWS = (1, 10)  # k of efficient@k; one is shown where each problem has as many samples
FENCE = re.compile(r"```(?:python|py)?[ \t]*\n(.*?)```", re.DOTALL)

MAKING = """
import random


def whet_make(source):
    random.seed(1024)
    scope = {}
    if source.lstrip().startswith("["):
        return tuple(eval(source, scope))
    exec(source, scope)
    return str(scope["generate_input"]())
"""
"""An expression of an argument list, or the source of a generator of stdin; both are the suite's own code."""

CHECKING = """
def plain(value):
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return value


def squeezed(text):
    return text.translate({ord(sign): None for sign in " \\n[]"})


def floats(value):
    return isinstance(value, float) or (isinstance(value, (list, tuple)) and all(isinstance(v, float) for v in value))


def near(mine, theirs):
    if isinstance(mine, (list, tuple)):
        return len(mine) == len(theirs) and all(map(near, mine, theirs))
    return mine == theirs or abs(mine - theirs) <= 1e-6 + 1e-7 * abs(mine)


def whet_check(output, expected):
    if output == expected or plain(output) == plain(expected):
        return True
    if isinstance(output, str) and isinstance(expected, str):
        return squeezed(output) == squeezed(expected)
    alike = isinstance(output, float) == isinstance(expected, float)
    return alike and floats(output) and floats(expected) and near(output, expected)
"""

WORKLOAD = '''"""The suite's stress cases are timed; other sizes give the inputs of its tests."""

import random

inf, nan = float("inf"), float("nan")
TESTS = {tests!r}
STRESS = {stress!r}
{making}

sizes = [1000]


def make_input(size, rng):
    return whet_make(rng.choice(STRESS)) if size >= 1000 else rng.choice(TESTS)
'''


class Coffe:
    """The suite."""

    name = "coffe"
    title = "COFFE: functions and programs in Python against the best known solution, efficient@k"
    status = "real data read"
    origin = Origin(
        "github.com/JohnnyPeng18/Coffe, folder datasets",
        "Apache-2.0",
        {
            "**/SET/best_solutions.json": f"the references; SET is {', '.join(SETS)}",
            "**/SET/testcases.json": "the original tests",
            "**/SET/stressful_testcases.json": "the stress cases",
            "**/SET/prompts.json": "the order of the problems, for sets that have it",
        },
        ("testcases.json of the set file is large: see that the checkout holds it, and not a pointer to it",),
    )

    def read(self, root: Path) -> Reading:
        """See `Suite.read`."""
        problems: list[Problem] = []
        faults: list[str] = []
        for name in SETS:
            folders = [root] if root.name == name else sorted(path for path in root.rglob(name) if path.is_dir())
            for folder in folders[:1]:
                try:
                    problems += _read_set(folder, name, faults)
                except UsageError as error:
                    faults.append(f"the set {name}: {error}")
        if not problems:
            why = f": {faults[0]}" if faults else "; see whet bench fetch-help coffe"
            raise UsageError(f"no set of COFFE can be read under {root}{why}")
        return Reading(tuple(problems), tuple(faults))

    def write_target(self, problem: Problem, folder: Path) -> str:
        """See `Suite.write_target`: the best known solution is to be made faster."""
        data = problem.data
        tests = [test if data["program"] else tuple(test) for test, _ in data["tests"]]
        workload = WORKLOAD.format(tests=tests, stress=list(data["stress"]), making=MAKING)
        if data["program"]:
            return write_program(folder, problem.name, problem.unchanged, workload)
        return write_function(folder, problem.name, problem.unchanged, "solution", workload)

    def judge(self, problem: Problem, answer: str, lab: Lab) -> Own:
        """See `Suite.judge`."""
        data = problem.data
        best = _side(data, problem.unchanged, lab)
        theirs = best if answer == problem.unchanged else _side(data, answer, lab)
        with Helper(lab, MAKING, "whet_make", LIMITS) as make, Helper(lab, CHECKING, "whet_check") as check:
            if why := _wrong(data, best, check):
                raise Unusable(f"the best solution fails the tests: {why}")
            if why := _wrong(data, theirs, check):
                return Own(False, why)
            made = [make(source) for source in data["stress"]]
            payloads = [one.encode("utf-8", "replace") if data["program"] else write(one) for one in made]
            return _counted(data, best, theirs, payloads, check, lab)

    def score(self, rows: Sequence[Row]) -> Score:
        """See `Suite.score`."""
        found = grouped(rows)
        kept = found.rows
        figures: list[Figure] = []
        for k in draws(found.fewest, DRAWS):
            efficient = [pass_at_k(len(e), sum(told(row, "efficient", 0.0) > 0 for row in e), k) for e in kept.values()]
            figures.append(mean_figure(f"efficient@{k}", efficient, headline=k == 1))
        figures = figures or [mean_figure("efficient@1", [], headline=True)]
        right = [row for each in kept.values() for row in each if passed(row)]
        pairs = [(told(row, "best", math.inf), told(row, "count", math.inf)) for row in right]
        ratios = [best / count for best, count in pairs if math.isfinite(best) and math.isfinite(count)]
        least = leave_one_out(ratios, MeanKind.GEOMETRIC)
        apart = sum(told(row, "apart", 0.0) > 0 for row in right)
        rights = [pass_at_k(len(each), sum(map(passed, each)), 1) for each in kept.values()]
        figures += [
            mean_figure("pass@1", rights),
            Figure(
                "speedup, pooled",
                pooled_speedup(pairs),
                len(ratios),
                unit="x",
                note="right samples that finished alone; the biggest problems rule it",
            ),
            Figure(
                "speedup, geometric mean",
                geometric_mean(ratios),
                len(ratios),
                unit="x",
                note=f"leaving one out: {least.low:.4g} to {least.high:.4g}" if least else "",
            ),
            Figure(
                "right samples that differ on stress inputs",
                float(apart),
                len(right),
                "lower",
                note="the suite does not look at them",
            ),
        ]
        return Score(tuple(figures), spread(ratios), found.failed, found.excluded)

    def export(self, rows: Sequence[Row], folder: Path) -> Path | None:
        """See `Suite.export`: the suite's files name problems by their prompts, which rows do not have."""
        return None

    def answers(self, file: Path, problems: Sequence[Problem]) -> dict[tuple[str, int], str]:
        """Returns (problem, sample) -> answer of a file of predictions: prompt -> [texts, whether they are valid].

        Of a text that is no bare code its first fenced block is taken; a function that has its problem's own name is
        called ``solution`` too.

        Raises:
            UsageError: it is none.
        """
        predictions = json_of(file)
        known = {problem.data["prompt"]: problem for problem in problems}
        found: dict[tuple[str, int], str] = {}
        for prompt, each in predictions.items() if isinstance(predictions, dict) else ():
            problem = known.get(hashlib.sha256(prompt.encode()).hexdigest())
            texts = each[0] if isinstance(each, list) and each and isinstance(each[0], list) else ()
            for number, text in enumerate(texts if problem is not None else ()):
                if problem is not None and isinstance(text, str):
                    found[problem.id, number] = _code(text, problem.data["entry_point"])
        if not found:
            raise UsageError(f"{file} holds no predictions for these problems: prompt -> [[text], true]")
        return found

    def imported(self, file: Path) -> Score | None:
        """See `Suite.imported`: the suite publishes predictions, and no counts."""
        return None


def _read_set(folder: Path, name: str, faults: list[str]) -> list[Problem]:
    best, tests, stress = (
        json_of(folder / f"{kind}.json") for kind in ("best_solutions", "testcases", "stressful_testcases")
    )
    if not all(isinstance(one, dict) for one in (best, tests, stress)):
        raise UsageError(f"{folder} is no version of COFFE that is known here: its files are no objects by prompt")
    listed = json_of(folder / "prompts.json") if (folder / "prompts.json").exists() else list(best)
    rows = json_of(folder / "data.json") if (folder / "data.json").exists() else []
    names = {
        row["final_prompt"]: row.get("entry_point")
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, dict) and isinstance(row.get("final_prompt"), str)
    }
    problems: list[Problem] = []
    seen: set[str] = set()
    for number, prompt in enumerate(listed if isinstance(listed, list) else ()):
        try:
            if not isinstance(prompt, str) or prompt in seen:
                raise RowFault(f"the prompt {shown(prompt)} is no text, or was there before")
            seen.add(prompt)
            problems.append(_problem(f"{name}/{number}", name, prompt, best, tests, stress, names.get(prompt)))
        except RowFault as why:
            faults.append(f"{name}, problem {number}: {why}")
    return problems


def _problem(
    number: str,
    group: str,
    prompt: str,
    best: Mapping[str, Any],
    tests: Mapping[str, Any],
    stress: Mapping[str, Any],
    entry_point: Any,
) -> Problem:
    missing = [
        kind
        for kind, one in (("best solution", best), ("tests", tests), ("stress cases", stress))
        if not isinstance(one.get(prompt), list) or not one[prompt]
    ]
    if missing:
        raise RowFault(f"no {', '.join(missing)}")
    source, program = best[prompt][0], best[prompt][-1]
    if not isinstance(source, str) or program is not SETS[group]:
        raise RowFault("its best solution is no text, or not of the set's kind")
    try:
        pairs = [(test["input"][0] if program else list(test["input"]), test["output"][0]) for test in tests[prompt]]
        cases = [one if isinstance(one, str) else one["input"] for one in stress[prompt]]
    except (KeyError, TypeError, IndexError):
        raise RowFault("its tests or stress cases have another form than input and output") from None
    if not all(isinstance(one, str) for one in cases) or (program and not all(isinstance(t, str) for t, _ in pairs)):
        raise RowFault("an input is no text")
    data = {
        "prompt": hashlib.sha256(prompt.encode()).hexdigest(),
        "program": program,
        "tests": pairs,
        "stress": cases,
        "entry_point": entry_point if isinstance(entry_point, str) and entry_point.isidentifier() else "",
    }
    return Problem(
        number,
        f"{number} {data['entry_point']}".strip(),
        "python",
        source,
        None,
        data,
        digest([prompt, source, data]),
        group,
    )


def _code(text: str, entry_point: str) -> str:
    block = FENCE.search(text)
    code = block[1] if block else text
    renamed = entry_point and not re.search(r"^def solution\b", code, re.MULTILINE)
    return f"{code}\n\nsolution = {entry_point}\n" if renamed else code


def _side(data: Mapping[str, Any], text: str, lab: Lab) -> Submission:
    builder = program_builder(lab, text, LIMITS) if data["program"] else function_builder(lab, text, "solution", LIMITS)
    return Submission(builder, text)


def _wrong(data: Mapping[str, Any], side: Submission, check: Helper) -> str:
    """Returns why an answer fails the original tests; empty where it passes."""
    payloads = [test.encode() if data["program"] else write(tuple(test)) for test, _ in data["tests"]]
    for number, came in enumerate(side.calls(payloads, TEST_SECONDS)):
        if came.kind != "value":
            return f"test {number}: {came.detail or came.kind}"
        if not _same(check, came.value, data["tests"][number][1]):
            return f"test {number}: wrong output"
    return ""


def _same(check: Helper, output: Any, expected: Any) -> bool:
    try:
        return check(output, expected) is True
    except Unusable:  # what cannot even be compared is another value
        return False


def _counted(
    data: Mapping[str, Any], best: Submission, theirs: Submission, payloads: Sequence[bytes], check: Helper, lab: Lab
) -> Own:
    """Returns what a right answer's instructions on the stress cases come to."""
    counting = open_counting(function_builder(lab, "", "solution"))
    base = _empty(counting, lab) if data["program"] else None
    ours: list[float] = []
    mine: list[float] = []
    apart = 0
    for number, payload in enumerate(payloads):
        reference = best.call(payload, LIMITS.seconds)
        if reference.kind != "value":
            raise Unusable(f"the best solution fails on stress case {number}: {reference.detail or reference.kind}")
        needed = _count(best, counting, payload, reference, base)
        if isinstance(needed, Fault):
            raise Unusable(f"the best solution fails on stress case {number}: {needed.detail}")
        ours.append(needed)
        limit = max(LEAST_SECONDS, TIMES_BEST * reference.inside)
        came = theirs.call(payload, limit + reference.handover)
        found: float | Fault = needed  # two counts of one text differ by a little, and a tie is not efficient
        if theirs is not best:
            found = _count(theirs, counting, payload, came, base) if came.kind == "value" else math.inf
        if isinstance(found, Fault):
            return Own(False, f"stress case {number}: {found.detail}", {}, "instructions", counting.name)
        if found < math.inf and not theirs.believed(payload, LIMITS.seconds, (found, needed), came, reference):
            why = f"stress case {number}: the clock outside does not agree with its count of instructions"
            return Own(False, why, {}, "instructions", counting.name)
        mine.append(found)
        apart += came.kind == "value" and not _same(check, came.value, reference.value)
    done = math.inf not in mine
    figures = {
        "best": math.fsum(ours),
        "count": math.fsum(mine) if done else None,
        "efficient": int(is_efficient(ours, mine)),
        "apart": apart,
        "cases": [[one, other if other < math.inf else None] for one, other in zip(ours, mine, strict=True)],
    }
    return Own(True, "" if done else "a stress case failed or took too long", figures, "instructions", counting.name)


def _count(
    side: Submission, counting: Counting, payload: bytes, came: AnswerOutcome, base: float | None
) -> float | Fault:
    counts: list[float] = []
    for _ in range(RUNS[counting.name]):
        found = side.count(counting, payload, came, base)
        if isinstance(found, Fault):
            return found
        counts.append(found)
    return trimmed_mean(counts) if len(counts) > 2 else counts[0]


def _empty(counting: Counting, lab: Lab) -> float:
    """Returns the instructions of a program that does nothing."""
    nothing = _side({"program": True}, "", lab)
    found = nothing.count(counting, b"", nothing.call(b"", LIMITS.seconds), 0.0)
    if isinstance(found, Fault):
        raise Unusable(f"an empty program cannot be counted: {found.detail}")
    return found


SUITE = Coffe()
