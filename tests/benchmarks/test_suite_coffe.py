"""COFFE: its sets, the loose comparison, efficient@k from counts, predictions by prompt."""

from __future__ import annotations

import json
import shutil

import pytest
from suite_rows import row, wrong

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.lab.functions import Helper
from whet.benchmarks.results import Own
from whet.benchmarks.suites.base import Unusable
from whet.benchmarks.suites.coffe import CHECKING, MAKING, SUITE
from whet.core.errors import UsageError
from whet.core.options import Options
from whet.core.task import Kind
from whet.evaluators.targets import read_task

BEST = "def solution(values):\n    return sum(values)"
SLOW = "def solution(values):\n    found = 0\n    for value in values:\n        found += value\n    return found"
PROGRAM = "n = int(input())\nprint(n * (n + 1) // 2)\n"
GENERATOR = "import random\n\ndef generate_input():\n    return str(random.randint(1000, 2000)) + '\\n'\n"


@pytest.fixture
def root(tmp_path):
    """Writes a set as the suite has it."""

    def write(name="function", prompt="Add up.", best=BEST, tests=None, stress=None, **files):
        program = name != "function"
        folder = tmp_path / "datasets" / name
        folder.mkdir(parents=True, exist_ok=True)
        plain = [{"input": ["4\n"], "output": ["10\n"]}] if program else [{"input": [[1, 2]], "output": [3]}]
        cases = [GENERATOR] if program else [{"input": "[[7] * 3000]", "output": None}]
        contents = {
            "best_solutions": {prompt: [best, program]},
            "testcases": {prompt: plain if tests is None else tests},
            "stressful_testcases": {prompt: cases if stress is None else stress},
            "prompts": [prompt],
            "data": [{"final_prompt": prompt, "entry_point": "add_up"}],
            **files,
        }
        for kind, content in contents.items():
            if content is not None:
                text = content if isinstance(content, str) else json.dumps(content)
                (folder / f"{kind}.json").write_text(text)
        return tmp_path

    return write


@pytest.fixture(scope="module")
def lab():
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    made = Lab(Options(sandbox="bubblewrap"))
    yield made
    made.close()


def only(root, **changes):
    (found,) = SUITE.read(root(**changes)).problems
    return found


def test_sets_are_read_by_their_folders(root):
    root()
    reading = SUITE.read(root("file", best=PROGRAM, prompts=None))
    assert [(one.id, one.group, one.unchanged) for one in reading.problems] == [
        ("function/0", "function", BEST), ("file/0", "file", PROGRAM),
    ]  # fmt: skip
    assert reading.faults == ()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"testcases": '{"Add'}, "cut off"),
        ({"testcases": "[]"}, "no version"),
        ({"tests": []}, "no tests"),
        ({"tests": [{"in": 1}]}, "another form"),
        ({"stress": [{"input": 1}]}, "no text"),
        ({"best": 1}, "no text"),
        ({"best_solutions": {"Add up.": [BEST, True]}}, "not of the set's kind"),
    ],
)
def test_a_set_without_a_problem_is_refused(root, changes, says):
    with pytest.raises(UsageError, match=says):
        SUITE.read(root(**changes))


def test_bad_problems_are_told_and_the_others_kept(root):
    reading = SUITE.read(root(prompts=["Add up.", "Add up.", "<script>", 3]))
    assert len(reading.problems) == 1
    assert [fault.split(":")[0] for fault in reading.faults] == [f"function, problem {n}" for n in (1, 2, 3)]


def test_a_path_without_a_set_is_refused(tmp_path):
    with pytest.raises(UsageError, match="fetch-help coffe"):
        SUITE.read(tmp_path)


@pytest.mark.parametrize(
    ("output", "expected", "right"),
    [
        (3, 3, True),
        ("[1, 2]\n", "1,2", True),
        ((1, (2,)), [1, [2]], True),
        (0.1 + 0.2, 0.3, True),
        ([0.1], (0.1 + 1e-8,), True),
        (0.1, 0.2, False),
        ([1], [2], False),
        ("ab", "a c", False),
        (None, 3, False),
    ],
)
def test_the_comparison_is_loose_as_published(lab, output, expected, right):
    with Helper(lab, CHECKING, "whet_check") as check:
        assert check(output, expected) is right


def test_inputs_are_made_from_expressions_and_generators_with_the_suites_seed(lab):
    with Helper(lab, MAKING, "whet_make") as make:
        assert make("['a' * 3, 2]") == ("aaa", 2)
        assert make(GENERATOR) == make(GENERATOR)
        with pytest.raises(Unusable, match="ZeroDivisionError"):
            make("[1 / 0]")


def counted(root, lab, text, **changes):
    if shutil.which("valgrind") is None:
        pytest.skip("nothing counts instructions here")
    return SUITE.judge(only(root, **changes), text, lab)


@pytest.mark.corpus
def test_a_slower_function_is_right_and_not_efficient(root, lab):
    own = counted(root, lab, SLOW)
    assert own.passed, own.reason
    assert own.figures["efficient"] == 0
    assert own.figures["count"] > own.figures["best"] > 0


@pytest.mark.corpus
def test_the_best_program_itself_ties_and_is_not_efficient(root, lab):
    own = counted(root, lab, PROGRAM, name="file", best=PROGRAM)
    assert own.passed, own.reason
    assert (own.figures["efficient"], own.figures["count"]) == (0, own.figures["best"])


@pytest.mark.corpus
def test_a_sample_that_is_wrong_on_stress_inputs_alone_is_right_by_the_suite_and_shown(root, lab):
    own = counted(root, lab, "def solution(values):\n    return 3 if len(values) > 2 else sum(values)")
    assert own.passed
    assert (own.figures["efficient"], own.figures["apart"]) == (1, 1)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("def solution(values):\n    return 4", "test 0: wrong output"),
        ("def solution(values):\n    raise KeyError(1)", "KeyError"),
        ("def other(values):\n    return 4", "solution"),
    ],
)
def test_a_wrong_answer_is_not_counted(root, lab, text, says):
    own = SUITE.judge(only(root), text, lab)
    assert not own.passed
    assert says in own.reason


def test_a_best_solution_that_fails_excludes_its_problem(root, lab):
    with pytest.raises(Unusable, match="best solution fails the tests"):
        SUITE.judge(only(root, best="def solution(values):\n    return 0"), BEST, lab)


@pytest.mark.parametrize(("name", "best", "kind"), [("function", BEST, Kind.FUNCTION), ("file", PROGRAM, Kind.PROGRAM)])
def test_the_target_is_a_task_of_whet(root, tmp_path, name, best, kind):
    folder = tmp_path / "target"
    folder.mkdir()
    assert read_task(SUITE.write_target(only(root, name=name, best=best), folder), Options()).kind is kind


def told(best, count, efficient, apart=0):
    own = {"best": best, "count": count, "efficient": efficient, "apart": apart}
    return Own(True, "", own, "instructions", "cachegrind")


def test_the_worked_example_of_the_score():
    owns = [told(100, 90, 1), wrong(best=200.0), told(300, 300, 0), told(400, 350, 1, 2)]
    score = SUITE.score([row("coffe", str(n), 0, own) for n, own in enumerate(owns)])
    figures = {figure.name: figure for figure in score.figures}
    assert (figures["efficient@1"].value, figures["efficient@1"].n) == (0.5, 4)
    assert figures["speedup, pooled"].value == pytest.approx(800 / 740)
    assert figures["pass@1"].value == 0.75
    assert figures["right samples that differ on stress inputs"].value == 1
    assert score.failed == 1
    assert [figure.name for figure in score.figures if figure.headline] == ["efficient@1"]


def test_predictions_are_found_by_prompt(root, tmp_path):
    file = tmp_path / "model.json"
    fenced = "Here:\n```python\ndef add_up(values):\n    return sum(values)\n```\nThat is all."
    file.write_text(json.dumps({"Add up.": [[fenced, BEST], True], "Another": [["x"], True]}))
    found = SUITE.answers(file, [only(root)])
    assert found["function/0", 0].endswith("solution = add_up\n")
    assert found["function/0", 1] == BEST
    assert set(found) == {("function/0", 0), ("function/0", 1)}
