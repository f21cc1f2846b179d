"""EffiBench-X: problems in six languages, judged by their own evaluators, scored by clipped ratios."""

from __future__ import annotations

import json
import shutil

import pytest
from suite_rows import row, wrong

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.results import Own
from whet.benchmarks.suites.base import Unusable
from whet.benchmarks.suites.effibench_x import SUITE
from whet.benchmarks.suites.effibench_x.rule import tidied
from whet.core.errors import UsageError
from whet.core.options import Options
from whet.evaluators.targets import read_task

PYTHON = "n = int(input())\nprint(sum(i * i for i in range(n)) + 0.0)\n"
BETTER = "n = int(input())\nprint((n - 1) * n * (2 * n - 1) // 6)\n"
CPP = '#include <cstdio>\nint main() { long n, t = 0; scanf("%ld", &n); for (long i = 0; i < n; i++) t += i * i; printf("%ld\\n", t); }\n'  # noqa: E501
JAVA = """
import java.util.Scanner;
public class Squares {
    public static void main(String[] args) {
        long n = new Scanner(System.in).nextLong(), t = 0;
        for (long i = 0; i < n; i++) t += i * i;
        System.out.println(t);
    }
}
"""
EVALUATOR = "def evaluate(output, expected):\n    return abs(float(output) - float(expected)) < 1e-6\n"
TESTS = [{"input": "10\n", "output": "285\n"}, {"input": "3\n", "output": "5\n"}]
RUNNER = {
    "python3": "import sys\n\n# ==Code Submission==\n\nprint(Solution().squares(int(sys.stdin.readline())))\n",
    "cpp": "==Code Submission==\nint main() { long n; cin >> n; cout << Solution().squares(n) << endl; }\n",
    "java": "import java.util.Scanner;\n// ==Code Submission==\npublic class Main {\n"
    " public static void main(String[] a) {\n"
    " System.out.println(new Solution().squares(new Scanner(System.in).nextLong())); } }\n",
}
FUNCTION = {
    "python3": "class Solution:\n    def squares(self, n: int) -> List[int]:\n"
    "        return sum(i * i for i in range(n))\n",
    "cpp": "class Solution { public: long squares(long n) { long t = 0; for (long i = 0; i < n; i++) t += i * i; return t; } };\n",  # noqa: E501
    "java": "import java.util.ArrayList;\npublic class Solution { long squares(long n) { long t = 0; for (long i = 0; i < n; i++) t += i * i; return t; } }\n",  # noqa: E501
}


def problem(**changes):
    """A problem as the suite's files have it, but for its text."""
    return {
        "id": "1",
        "title": "Squares",
        "title_slug": "squares",
        "description_md": "Add up squares.",
        "source": "aizu",
        "starter_code": {"python3": "", "cpp": ""},
        "solutions": {"python3": {"code": PYTHON, "memory": 1}, "cpp": {"code": CPP}},
        "test_case_generator": "raise SystemExit('is not run')",
        "evaluator": EVALUATOR,
        "generated_tests": json.dumps(TESTS),
        "test_runners": None,
        **changes,
    }


@pytest.fixture
def root(tmp_path):
    def write(**problems):
        folder = tmp_path / "dataset"
        folder.mkdir(exist_ok=True)
        for name, one in problems.items():
            (folder / f"{name}.json").write_text(one if isinstance(one, str) else json.dumps(one))
        return folder

    return write


@pytest.fixture(scope="module")
def lab():
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    made = Lab(Options(sandbox="bubblewrap"))
    yield made
    made.close()


def only(root, word):
    return next(one for one in SUITE.read(root).problems if one.group == word)


# reading


def test_each_language_of_a_problem_is_one_of_ours(root):
    reading = SUITE.read(root(aizu_1_squares=problem()))

    assert [(one.id, one.language, one.group) for one in reading.problems] == [
        ("aizu_1_squares:python3", "python", "python3"),
        ("aizu_1_squares:cpp", "cpp", "cpp"),
    ]
    assert reading.problems[0].unchanged == PYTHON


def test_packed_problems_and_rows_are_read_too(root, tmp_path):
    (tmp_path / "packed.json").write_text(json.dumps({"aizu_1_squares": problem(), "aizu_2_b": problem()}))
    (tmp_path / "rows.jsonl").write_text(json.dumps(problem(generated_tests=TESTS)) + "\n")

    assert len(SUITE.read(tmp_path / "packed.json").problems) == 4
    assert SUITE.read(tmp_path / "rows.jsonl").problems[0].id == "aizu_1_squares:python3"


def test_problems_that_cannot_be_used_are_told(root):
    reading = SUITE.read(
        root(
            a_good=problem(),
            b_cut=json.dumps(problem())[:-40],
            c_tests=problem(generated_tests="[]"),
            d_test=problem(generated_tests=[{"input": 1}]),
            e_solutions=problem(solutions={"cobol": {"code": "x"}}),
            f_runner=problem(test_runners={"cpp": "no slot"}),
            g_evaluator=problem(evaluator=None),
        )
    )

    assert {one.id.partition(":")[0] for one in reading.problems} == {"a_good"}
    assert len(reading.faults) == 6
    for said, fault in zip(
        ("cut off", "no generated", "a test", "no canonical", "no line", "evaluator"), reading.faults, strict=True
    ):
        assert said in fault


def test_what_holds_no_problem_is_refused(tmp_path, root):
    with pytest.raises(UsageError, match="neither"):
        SUITE.read(tmp_path)
    (tmp_path / "rows.jsonl").write_text(json.dumps(problem()) + "\n" + json.dumps(problem()) + "\n")
    assert "row 1 too" in SUITE.read(tmp_path).faults[0]


def test_a_language_without_its_tool_says_what_it_needs(root, lab):
    given = {"solutions": {"golang": {"code": "package main"}, "ruby": {"code": "puts 1"}}}
    for one in SUITE.read(root(a=problem(**given))).problems:
        if shutil.which({"golang": "go", "ruby": "ruby"}[one.group]) is None:
            assert one.needs in ("go", "ruby")
            with pytest.raises(Unusable, match="not run"):
                SUITE.judge(one, one.unchanged, lab)


# its own rule


@pytest.mark.corpus
def test_the_problems_own_evaluator_decides_in_a_sandbox(root, lab):
    one = only(root(a=problem()), "python3")

    own = SUITE.judge(one, BETTER, lab)
    assert own.passed, own.reason
    assert own.figures["source"]["runtime_sum"] > 0 < own.figures["answer"]["memory"]
    assert "test 1: wrong" in SUITE.judge(one, "print(1)\n", lab).reason
    assert "exit code 1" in SUITE.judge(one, "raise SystemExit(1)\n", lab).reason
    assert not SUITE.judge(one, "", lab).passed  # the published statistics pass a run that prints nothing


def test_a_problem_whose_canonical_solution_or_evaluator_fails_does_not_count(root, lab):
    wrong_tests = problem(generated_tests=[{"input": "10\n", "output": "286\n"}])
    with pytest.raises(Unusable, match="canonical solution fails"):
        SUITE.judge(only(root(a=wrong_tests), "python3"), BETTER, lab)
    hostile = problem(evaluator="import os\ndef evaluate(output, expected):\n    os._exit(0)\n")
    with pytest.raises(Unusable, match="its evaluator fails"):
        SUITE.judge(only(root(a=hostile), "python3"), BETTER, lab)


@pytest.mark.corpus
@pytest.mark.parametrize("word", ["python3", "cpp", "java"])
def test_functions_are_put_into_their_runners(root, lab, word):
    if word == "java" and shutil.which("javac") is None:
        pytest.skip("no javac: apt-get install default-jdk-headless")
    one = only(root(a=problem(solutions={word: {"code": FUNCTION[word]}}, test_runners=RUNNER)), word)

    own = SUITE.judge(one, FUNCTION[word].replace("t += i * i", "t += i * i * 1"), lab)
    assert own.passed, own.reason
    if word == "python3":
        assert not SUITE.judge(one, FUNCTION[word].replace("i * i", "i"), lab).passed


@pytest.mark.corpus
def test_programs_in_java_are_run_by_commands(root, lab):
    if shutil.which("javac") is None:
        pytest.skip("no javac: apt-get install default-jdk-headless")
    one = only(root(a=problem(solutions={"java": {"code": JAVA}})), "java")

    assert (one.language, SUITE.judge(one, JAVA.replace("Squares", "Other"), lab).passed) == ("command", True)


@pytest.mark.parametrize("runners", [None, RUNNER])
def test_a_problem_is_a_target_of_whet(root, tmp_path, runners):
    solutions = {"cpp": {"code": FUNCTION["cpp"] if runners else CPP}}
    one = only(root(a=problem(solutions=solutions, test_runners=runners)), "cpp")
    folder = tmp_path / "target"
    folder.mkdir()
    task = read_task(SUITE.write_target(one, folder), Options())

    assert task.source == one.unchanged
    assert task.language == ("command" if runners else "cpp")
    assert [case.expected for case in task.workload.cases] == [b"285\n", b"5\n"]


def test_output_is_tidied_before_it_is_judged():
    assert tidied("\x1b[31m7\x1b[0m\r\r\n8\r\n\n") == "7\n8"


# scores


def right(source, answer):
    sides = {"source": source, "answer": answer}
    return Own(
        True,
        "",
        {side: dict.fromkeys(("runtime_sum", "runtime_max", "memory"), value) for side, value in sides.items()},
        "s",
        "clock",
    )


def figures(score):
    return {figure.name: figure for figure in score.figures}


def test_the_worked_checks():
    two = [row("effibench-x", "a:cpp", own=right(10, 20)), row("effibench-x", "b:cpp", own=right(20, 10))]
    assert figures(SUITE.score(two))["runtime"].value == 75
    three = SUITE.score([*two, row("effibench-x", "c:cpp", own=wrong())])
    assert (figures(three)["runtime"].value, figures(three)["runtime"].n, three.failed) == (50, 3, 1)
    assert [figure.name for figure in three.figures if figure.headline] == ["runtime"]


def test_languages_count_alike_and_what_was_not_run_does_not():
    rows = [
        row("effibench-x", "a:cpp", own=right(10, 10)),
        row("effibench-x", "b:cpp", own=right(10, 10)),
        row("effibench-x", "a:java", own=right(10, 20)),
        row("effibench-x", "a:ruby", excluded="not run: it needs ruby"),
    ]
    score = SUITE.score(rows)

    assert figures(score)["runtime"].value == 75
    assert figures(score)["runtime, java"].value == 50
    assert score.excluded == {"a:ruby": "not run: it needs ruby"}


def test_answers_are_written_and_read_in_the_suites_format(tmp_path):
    file = SUITE.export([row("effibench-x", "a:cpp", answer="x"), row("effibench-x", "a:java", answer="y")], tmp_path)

    assert json.loads(file.read_text()) == {"a": {"cpp": "x", "java": "y"}}
    assert SUITE.answers(file, ()) == {("a:cpp", 0): "x", ("a:java", 0): "y"}
    assert SUITE.imported(file) is None
