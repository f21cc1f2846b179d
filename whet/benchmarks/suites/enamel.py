"""ENAMEL: how efficiently a Python function of HumanEval is completed, against an expert's solution.

Its rule. Each problem has four levels of input sizes with 8, 4, 4 and 4 cases; the first is for correctness only. An
answer is run after the problem's prompt, with ``print`` and ``input`` removed. Each case of a weighted level is run
six times and takes the Hodges-Lehmann estimate of the six. T is twice the reference's slowest case; a level's score is
``max(0, T - slowest) / (T - reference's slowest)``, not capped, so that an answer faster than the expert's is worth
more than 1; the levels weigh 3, 3 and 4. A wrong output, or another exception than one of time, memory or overflow,
makes the whole answer worth 0. Time, memory or overflow end the run: the levels before keep their scores, and on the
first level the answer has failed.

Where this differs from the suite's own scorer: each of the runs is in a fresh process that is ended from outside (an
answer that catches the suite's alarm cannot be stopped there); its time is its process's, believed where the clock
outside agrees; the checker runs in a process that holds no answer; and the inputs are made by the suite's generators
inside the sandbox from its published seed, since the published ones are a pickle, which is never loaded.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.lab.functions import AnswerOutcome, Helper, Submission, agreed, function_builder
from whet.benchmarks.results import Own, Row
from whet.benchmarks.suites.base import Figure, Origin, Problem, Reading, Score, Unusable
from whet.benchmarks.suites.files import find, json_of, text_of
from whet.benchmarks.suites.function_folder import is_name, write_function
from whet.benchmarks.suites.grouping import grouped, passed
from whet.benchmarks.suites.jsonl import Ids, RowFault, digest, fault, shown
from whet.benchmarks.suites.samples import draws, mean_figure, told
from whet.core.errors import UsageError
from whet.core.task import MIB, Limits
from whet.evaluators.inputs.plain_data import write
from whet.evaluators.scores.common import best_of_k, hodges_lehmann, pass_at_k, spread
from whet.evaluators.scores.enamel import HARDNESS, efficiency, time_limit

COLUMNS = ("task_id", "prompt", "input_generator", "input_levels", "reference_solution", "checker", "entry_point")
PREFIX = "HumanEval/"
UNOFFICIAL = frozenset(
    (2, 23, 41, 45, 53, 60, 71, 92, 97, 99, 102, 123, 124, 135, 137, 138, 144, 148, 156, 157, 159, 160)
)
"""Problems that are in the file and do not count."""
CASES = (8, 4, 4, 4)
"""Cases of each level, as the suite has them. Other numbers give other inputs, since seeds count all cases before."""
REPEATS = 6  # runs of a case of a weighted level, by the suite's rule; more steady the estimate and take longer
TOLERANCE_SECONDS = 0.01
"""Seconds that a run may take beyond the time limit, the suite's default. With fewer, noise ends an answer whose time
lies at the limit; with more, further levels are tried after a run that is worth nothing."""
SEED = 998244353
LIMITS = Limits(seconds=60.0, memory=4096 * MIB)
REFERENCE_SECONDS = 20.0
"""That one call of the reference may take; the slowest published one takes far less."""
KILL_SECONDS = 0.5
"""Beyond the time limit and the hand-over, when a process is ended from outside."""
CENSORED = frozenset({"timeout", "memory"})
CENSORED_ERRORS = frozenset({"builtins:OverflowError", "builtins:MemoryError"})
DRAWS = (1, 10, 100)  # k of eff@k and pass@k, as in the suite; one is shown where each problem has as many samples
BARE = "import random\nimport string\nimport time\n"


class Enamel:
    """The suite."""

    name = "enamel"
    title = "ENAMEL: HumanEval functions against expert solutions, eff@k"
    status = "real data read"
    origin = Origin(
        "github.com/q-rz/enamel (the paper: arXiv 2406.06647)",
        "Apache-2.0",
        {"**/enamel.csv": "all 164 problems, 142 of them official", "**/datautils.py": "helpers of some generators"},
        ("a checkout of the repository holds both; the pickle of generated tests is not needed, and never loaded",),
    )

    def read(self, root: Path) -> Reading:
        """See `Suite.read`."""
        file = find(root, "enamel.csv", self.name)
        helpers = next(iter(sorted(root.rglob("datautils.py"))), None) if root.is_dir() else None
        utilities = text_of(helpers) if helpers is not None else ""
        faults: list[str] = []
        problems: list[Problem] = []
        ids = Ids()
        try:
            rows = csv.DictReader(text_of(file).splitlines(keepends=True), strict=True)
            if missing := [name for name in COLUMNS if name not in (rows.fieldnames or ())]:
                raise UsageError(f"{file} is no version of ENAMEL that is known here: no column {', '.join(missing)}")
            for number, row in enumerate(rows, 1):
                try:
                    problem = _problem(row, utilities)
                    ids.take(problem.id, number)
                    problems.append(problem)
                except RowFault as why:
                    faults.append(fault(file, number, why))
        except csv.Error as error:
            faults.append(f"{file.name}: the rest cannot be read ({error}); was the file cut off?")
        if not problems:
            raise UsageError(f"{file} holds no problem that can be read{': ' + faults[0] if faults else ''}")
        return Reading(tuple(problems), tuple(faults))

    def write_target(self, problem: Problem, folder: Path) -> str:
        """See `Suite.write_target`."""
        data = problem.data
        levels = sorted(set(data["levels"]))
        workload = WORKLOAD.format(levels=levels, source=_making(data), first=data["levels"][0])
        return write_function(folder, problem.name, problem.unchanged, data["entry_point"], workload)

    def judge(self, problem: Problem, answer: str, lab: Lab) -> Own:
        """See `Suite.judge`."""
        data = problem.data
        reference = Submission(
            function_builder(lab, _running(data, data["reference"]), data["entry_point"], LIMITS),
            _running(data, data["reference"]),
        )
        with (
            Helper(lab, _making(data), "whet_make", LIMITS) as make,
            Helper(lab, _checking(data), "whet_check", LIMITS) as check,
        ):
            tests = _tests(data, make)
            reference_runs = [[_reference(reference, test, level) for test in tests[level]] for level in range(4)]
            for level, row in enumerate(tests):
                for test, runs in zip(row, reference_runs[level], strict=True):
                    if check(test, runs[0].value, runs[0].value) is not True:
                        raise Unusable(f"the reference fails the suite's own check on level {level}")
            theirs = Submission(
                function_builder(lab, _running(data, answer), data["entry_point"], LIMITS), _running(data, answer)
            )
            return _judged(theirs, tests, reference_runs, check)

    def score(self, rows: Sequence[Row]) -> Score:
        """See `Suite.score`: the 142 official problems; others are left out."""
        found = grouped([row for row in rows if _number(row.problem) not in UNOFFICIAL])
        kept = found.rows
        figures: list[Figure] = []
        for k in draws(found.fewest, DRAWS):
            effs = [best_of_k([told(row, "e", 0.0) for row in each], k) for each in kept.values()]
            passes = [pass_at_k(len(each), sum(map(passed, each)), k) for each in kept.values()]
            figures += [mean_figure(f"eff@{k}", effs, headline=k == 1), mean_figure(f"pass@{k}", passes)]
        if not figures:
            figures = [mean_figure("eff@1", [], headline=True)]
        best = [max(told(row, "e", 0.0) for row in each) for each in kept.values()]
        return Score(tuple(figures), spread(best), found.failed, found.excluded)

    def export(self, rows: Sequence[Row], folder: Path) -> Path | None:
        """See `Suite.export`: ``codes.json``, with ``codes[i][j]`` answer j to problem i, and the results beside it."""
        kept = grouped(rows).rows
        by_number = {str(_number(problem)): each for problem, each in kept.items()}
        effs = {n: [_levels(row) for row in each] for n, each in by_number.items()}
        passes = {n: [passed(row) for row in each] for n, each in by_number.items()}
        codes = {n: [row.answer for row in each] for n, each in by_number.items()}
        for name, content in (("codes~effs", effs), ("codes~passes", passes), ("codes", codes)):
            (folder / f"{name}.json").write_text(json.dumps(content))
        return folder / "codes.json"

    def answers(self, file: Path, problems: Sequence[Problem]) -> dict[tuple[str, int], str]:
        """Returns (problem, sample) -> answer of a file of the suite's own: ``codes[i][j]``, a list or an object.

        Raises:
            UsageError: it is none.
        """
        codes = json_of(file)
        pairs = enumerate(codes) if isinstance(codes, list) else codes.items() if isinstance(codes, dict) else ()
        found = {
            (f"{PREFIX}{number}", sample): text
            for number, texts in pairs
            for sample, text in enumerate(texts if isinstance(texts, list) else ())
            if isinstance(text, str)
        }
        if not found:
            raise UsageError(f"{file} holds no answers as codes[i][j]")
        return found

    def imported(self, file: Path) -> Score | None:
        """See `Suite.imported`: a file ``NAME~effs.json``, with ``NAME~passes.json`` beside it where there is one."""
        if not file.name.endswith("~effs.json"):
            return None
        effs = _numbers(file)
        beside = file.with_name(file.name.replace("~effs.json", "~passes.json"))
        kept = {n: [_weighted(levels) for levels in each] for n, each in effs.items() if int(n) not in UNOFFICIAL}
        figures = [mean_figure("eff@1", [best_of_k(each, 1) for each in kept.values()], headline=True)]
        if beside.exists():
            passes = _numbers(beside)
            shares = [sum(map(bool, passes[n])) / len(passes[n]) for n in kept if passes.get(n)]
            figures.append(mean_figure("pass@1", shares))
        values = [max(each) for each in kept.values()]
        return Score(tuple(figures), spread(values), sum(value == 0.0 for value in values))


WORKLOAD = '''"""Inputs of the suite's own generator; unlisted sizes are drawn as those of a weighted level."""

SOURCE = {source!r}
scope = {{"__name__": "inputs"}}
exec(SOURCE, scope)

sizes = {levels!r}


def make_input(size, rng):
    level = 0 if size <= {first!r} else 1
    made = scope["whet_make"](rng.getrandbits(30), size, level, rng.randrange(8 if level == 0 else 4))
    return tuple(made)
'''


def _problem(row: Mapping[Any, Any], utilities: str) -> Problem:
    if None in row or any(not isinstance(row[name], str) for name in COLUMNS):
        raise RowFault("too many or too few columns; was it cut off?")
    number = _number(row["task_id"])
    if number is None:
        raise RowFault(f"its task_id is {shown(row['task_id'])}, not {PREFIX}N")
    if not is_name(row["entry_point"]) or "." in row["entry_point"]:
        raise RowFault(f"its entry_point is {shown(row['entry_point'])}")
    sizes = row["input_levels"].split()
    if len(sizes) != len(CASES) or not all(size.isdecimal() and len(size) < 25 for size in sizes):
        raise RowFault(f"its input_levels are {shown(row['input_levels'])}, not four sizes")
    source = f"{row['prompt']}\n{row['reference_solution']}\n"
    data = {
        "number": number,
        "prompt": row["prompt"],
        "generator": row["input_generator"],
        "levels": list(map(int, sizes)),
        "reference": row["reference_solution"],
        "checker": row["checker"],
        "entry_point": row["entry_point"],
        "utilities": utilities,
    }
    group = "unofficial" if number in UNOFFICIAL else "official"
    name = f"{number} {row['entry_point']}"
    return Problem(row["task_id"], name, "python", source, source, data, digest(data), group)


def _number(task_id: str) -> int | None:
    tail = task_id.removeprefix(PREFIX)
    return int(tail) if tail != task_id and tail.isascii() and tail.isdecimal() and len(tail) < 6 else None


def _making(data: Mapping[str, Any]) -> str:
    return (
        f"{data['utilities']}\n{BARE}{data['prompt']}\n    pass\n{data['generator']}\n\n"
        "def whet_make(seed, size, lid, cid):\n"
        "    random.seed(seed)\n"
        "    return generate_input(size=size, lid=lid, cid=cid)\n"
    )


def _running(data: Mapping[str, Any], answer: str) -> str:
    return f"import time\ninput = print = None\n{data['prompt']}\n{answer}\n"


def _checking(data: Mapping[str, Any]) -> str:
    return (
        f"import time\n{data['prompt']}\n    pass\n{data['checker']}\n\n"
        "def whet_check(given, answer, output):\n"
        "    return bool(__check(given, answer, output))\n"
    )


def _tests(data: Mapping[str, Any], make: Helper) -> list[list[Any]]:
    """Returns the inputs of each level, by the suite's published seed."""
    tests: list[list[Any]] = []
    before = 0
    for level, (size, cases) in enumerate(zip(data["levels"], CASES, strict=True)):
        seeds = [SEED ^ data["number"] ^ (before + case) for case in range(cases)]
        tests.append([make(seed, size, level, case) for case, seed in enumerate(seeds)])
        before += cases
    if not all(isinstance(test, list | tuple) for level in tests for test in level):
        raise Unusable("the generator's input is no sequence of arguments")
    return tests


def _repeats(level: int) -> int:
    return REPEATS if level else 1


def _reference(reference: Submission, test: Any, level: int) -> list[AnswerOutcome]:
    runs = [reference.call(write(tuple(test)), REFERENCE_SECONDS) for _ in range(_repeats(level))]
    if bad := next((run for run in runs if run.kind != "value"), None):
        raise Unusable(f"the reference fails on level {level}: {bad.detail or bad.kind}")
    return runs


def _seconds(runs: Sequence[AnswerOutcome]) -> float:
    return hodges_lehmann([run.inside for run in runs])


def _judged(
    answer: Submission, tests: list[list[Any]], reference: list[list[list[AnswerOutcome]]], check: Helper
) -> Own:
    """Returns what the rule says of an answer."""
    times = [[_seconds(runs) for runs in level] for level in reference]
    limit = time_limit(times[1:])
    figures: dict[str, Any] = {"limit": limit, "reference": times}
    theirs: list[list[float]] = []
    ended = ""
    for level, row in enumerate(tests):
        found: list[float] = []
        level_runs: list[AnswerOutcome] = []
        for case, test in enumerate(row):
            runs, why, failed = _runs(answer, test, reference[level][case], limit, level, check)
            where = f"level {level}, case {case}: {why}"
            if failed:
                return _failed(where, figures)
            if why:
                ended = where
                break
            found.append(_seconds(runs))
            level_runs += runs
        if ended:
            break
        if level and not agreed(level_runs, [run for runs in reference[level] for run in runs]):
            return _failed(f"level {level}: the clock outside does not agree with its process's", figures)
        theirs.append(found)
    if not theirs:
        return _failed(ended, figures)
    scores = [0.0, *(efficiency(theirs[1:], times[1:], one) for one in ((1, 0, 0), (0, 1, 0), (0, 0, 1)))]
    figures |= {"times": theirs, "f": scores, "e": efficiency(theirs[1:], times[1:]), "ended": ended}
    return Own(True, "", figures, "s", "clock")


def _failed(why: str, figures: Mapping[str, Any]) -> Own:
    return Own(False, why, {**figures, "e": 0.0, "f": [0.0] * len(CASES)}, "s", "clock")


def _runs(
    answer: Submission, test: Any, reference: Sequence[AnswerOutcome], limit: float, level: int, check: Helper
) -> tuple[list[AnswerOutcome], str, bool]:
    """Returns the runs of a case, why there are not all (empty where there are), and whether that fails the answer."""
    runs: list[AnswerOutcome] = []
    arguments = write(tuple(test))
    patience = limit + KILL_SECONDS + 2 * max(one.handover for one in reference)
    for _ in range(_repeats(level)):
        run = answer.call(arguments, patience)
        if run.kind in CENSORED or run.error in CENSORED_ERRORS:
            return runs, run.detail, False
        if run.kind != "value":
            return runs, run.detail or run.kind, True
        if run.inside > limit + TOLERANCE_SECONDS:
            return runs, f"over the time limit of {limit:.3g} s", False
        try:
            held = check(test, reference[0].value, run.value)
        except Unusable as error:  # a checker that raises rejects the output
            return runs, str(error), True
        if held is not True:
            return runs, "wrong output", True
        runs.append(run)
    return runs, "", False


def _weighted(levels: Sequence[float]) -> float:
    return sum(weight * score for weight, score in zip(HARDNESS, levels[1:], strict=True)) / sum(HARDNESS)


def _levels(row: Row) -> list[float]:
    found = row.own.figures.get("f") if passed(row) and row.own is not None else None
    return list(found) if isinstance(found, list | tuple) else [0.0] * len(CASES)


def _numbers(file: Path) -> dict[str, list[Any]]:
    """Returns problem -> a list, one item a sample."""
    found = json_of(file)
    if not isinstance(found, dict) or not all(
        n.isascii() and n.isdecimal() and isinstance(each, list) and each for n, each in found.items()
    ):
        raise UsageError(f"{file} is no file of ENAMEL's results: problem -> a list of samples")
    for each in found.values():
        for levels in each:
            plain = isinstance(levels, bool) or (
                isinstance(levels, list)
                and len(levels) == len(CASES)
                and all(isinstance(one, int | float) for one in levels)
            )
            if not plain:
                raise UsageError(f"{file}: {shown(levels)} is no sample's result")
    return found


SUITE = Enamel()
