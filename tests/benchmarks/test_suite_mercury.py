"""Mercury: rows, its own rule on one instance of Solution, Beyond both ways, its files of samples and results."""

from __future__ import annotations

import json
import shutil

import pytest
from suite_rows import row, wrong

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.results import Own
from whet.benchmarks.suites.base import Unusable
from whet.benchmarks.suites.mercury import SUITE
from whet.core.errors import UsageError
from whet.core.options import Options
from whet.evaluators.targets import read_task

FAST = """class Solution:
    def lastOf(self, head):
        while head.next:
            head = head.next
        return head.val
"""
SLOW = FAST.replace("        return", "        time = sum(range(200000))\n        return")
WRONG = FAST.replace("return head.val", "return head.val + 1")
CONVERT = """def convert_offline(case):
    inputs, expected = case
    head = None
    for value in reversed(json_list(inputs)):
        head = ListNode(value, head)
    return [head], expected

def json_list(text):
    return [int(one) for one in text.split()]
"""
EVALUATE = "def evaluate_offline(inputs, outputs, expected):\n    return outputs == expected\n"
IN_PLACE = "class Solution:\n    def flip(self, values):\n        values.reverse()\n"


def task(slug="last-of-list", **changes):
    """A row of the split eval."""
    cases = [{"input": "1 2 3", "expected": 3}, {"input": "5", "expected": 5}]
    return {
        "slug_name": slug, "difficulty": "Easy", "pretty_content": ["text"], "prompt": "class Solution:",
        "entry_point": "lastOf", "test_cases": json.dumps(cases), "convert_offline": CONVERT,
        "evaluate_offline": EVALUATE, **changes,
        "solutions": changes.get("solutions", [{"hash": 1, "runtime": "40ms", "solution": SLOW},
                                               {"hash": 2, "runtime": "9ms", "solution": FAST}]),
    }  # fmt: skip


def flipping(**changes):
    """A task whose answer is in its argument."""
    return task(
        "flip", entry_point="flip", solutions=[{"runtime": "1ms", "solution": IN_PLACE}],
        test_cases=json.dumps([{"input": [1, 2, 3], "expected": [3, 2, 1]}]),
        convert_offline="def convert_offline(case):\n    return [case[0]], case[1]\n",
        evaluate_offline="def evaluate_offline(inputs, outputs, expected):\n    return inputs[0] == expected\n",
        **changes,
    )  # fmt: skip


@pytest.fixture
def root(tmp_path):
    def write(*rows):
        lines = [one if isinstance(one, str) else json.dumps(one) for one in rows]
        (tmp_path / "mercury_eval.jsonl").write_text("\n".join(lines) + "\n")
        return tmp_path

    return write


@pytest.fixture(scope="module")
def lab():
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    made = Lab(Options(sandbox="bubblewrap"))
    yield made
    made.close()


def test_the_slowest_stated_solution_is_replaced_and_the_fastest_known(root):
    (found,) = SUITE.read(root(task())).problems
    assert (found.id, found.group) == ("last-of-list", "Easy")
    assert found.unchanged.endswith(SLOW)
    assert found.known_best.endswith(FAST)


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (task(), "that of row 1"),
        ('{"slug_name": "x", "entr', "cut off"),
        (task("b", entry_point="__class__.x"), "entry_point"),
        (task("b", entry_point="f(os)"), "entry_point"),
        (task("b", solutions=[]), "no solutions"),
        (task("b", test_cases="[1"), "not JSON"),
        (task("b", test_cases="[1]"), "input and expected"),
        ({"slug_name": "b"}, "no field"),
    ],
)
def test_a_bad_row_is_told(root, bad, says):
    reading = SUITE.read(root(task(), bad))
    assert len(reading.problems) == 1
    assert says in reading.faults[0]


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"no \*mercury"):
        SUITE.read(tmp_path)


def test_a_right_answer_lies_in_the_range_of_the_solutions(root, lab):
    (found,) = SUITE.read(root(task())).problems
    own = SUITE.judge(found, FAST, lab)
    assert own.passed, own.reason
    assert len(own.figures["runtimes"]) == 2
    assert own.figures["beyond"] > 0.5  # the slow one adds 200,000 numbers up
    assert own.figures["runtime"] < max(own.figures["runtimes"])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (WRONG, "wrong output"),
        ("class Solution:\n    pass\n", "AttributeError"),
        ("x = 1\n", "Solution"),
        (FAST.replace("return head.val", "return type('E', (), {'__eq__': lambda s, o: True})()"), "no plain data"),
    ],
)
def test_a_wrong_answer_is_told(root, lab, text, says):
    (found,) = SUITE.read(root(task())).problems
    own = SUITE.judge(found, text, lab)
    assert not own.passed
    assert says in own.reason


def test_an_argument_changed_in_place_is_evaluated(root, lab):
    (found,) = SUITE.read(root(flipping())).problems
    assert SUITE.judge(found, IN_PLACE, lab).passed
    assert SUITE.judge(found, IN_PLACE.replace("values.reverse()", "return values[::-1]"), lab).reason == (
        "case 0: wrong output"
    )


def test_a_task_none_of_whose_solutions_passes_is_excluded(root, lab):
    (found,) = SUITE.read(root(task(solutions=[{"solution": WRONG}]))).problems
    with pytest.raises(Unusable, match="none of the task's own 1 solutions"):
        SUITE.judge(found, FAST, lab)


def test_the_target_is_a_task_of_whet(root, tmp_path):
    (found,) = SUITE.read(root(task())).problems
    folder = tmp_path / "target"
    folder.mkdir()
    assert read_task(SUITE.write_target(found, folder), Options()).symbol == "Solution.lastOf"


def told(beyond, coded=0.0):
    return Own(True, "", {"runtime": 0.1, "runtimes": [0.1, 0.2], "beyond": beyond, "coded": coded}, "s", "clock")


def test_score_is_the_mean_over_tasks_of_the_mean_over_samples():
    rows = [row("mercury", "a", 0, told(1.0, 1.125)), row("mercury", "a", 1, wrong()), row("mercury", "b", 0, None)]
    score = SUITE.score([*rows, row("mercury", "c", 0, None, "none passes")])
    figures = {figure.name: figure.value for figure in score.figures}
    assert figures == {"Beyond": 0.25, "Beyond as coded": pytest.approx(0.28125), "pass@1": 0.25}
    assert score.failed == 1
    assert score.excluded == {"c": "none passes"}
    assert sum(figure.headline for figure in score.figures) == 1


def published(runtime, status="passed", key="result"):
    result = {"result": status, "runtime": runtime, "index": 0}
    return [{"slug_name": "s", key: result, "solution": "text", "runtimes": [0.2, 0.3, 0.5, 1.0], "beyond_p": 9.0}]


def test_published_results_are_scored_by_the_papers_formula(tmp_path):
    file = tmp_path / "model_eval.json"
    samples = {
        "a": published(0.1),
        "b": published(0.4, key="status"),
        "c": published(1.5),
        "d": published(0.2, "timeout"),
    }
    file.write_text(json.dumps(samples))
    score = SUITE.imported(file)
    figures = {figure.name: figure for figure in score.figures}
    assert figures["Beyond"].value == pytest.approx((1.0 + 0.75 + 0 + 0) / 4)
    assert figures["Beyond as coded"].value == pytest.approx((1.125 + 0.75 + 0 + 0) / 4)
    assert figures["pass@1"].value == 0.75
    assert score.failed == 1


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"a": []}', '{"a": [{"result": {"result": "passed"}}]}'])
def test_results_that_are_none_are_refused(tmp_path, text):
    file = tmp_path / "model_eval.json"
    file.write_text(text)
    with pytest.raises(UsageError):
        SUITE.imported(file)


def test_results_go_out_in_the_suites_form_and_come_in_again(tmp_path):
    file = SUITE.export([row("mercury", "a", 0, told(1.0)), row("mercury", "b", 0, wrong(), answer="x")], tmp_path)
    assert [figure.value for figure in SUITE.imported(file).figures] == pytest.approx([0.5] * 3)
    samples = tmp_path / "s.json"
    samples.write_text(json.dumps({"a": [{"task_id": "a", "completion": "one"}, {"completion": "two"}]}))
    assert SUITE.answers(samples, ()) == {("a", 0): "one", ("a", 1): "two"}
