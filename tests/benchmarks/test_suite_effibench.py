"""EffiBench: tasks, runs of whole processes beside the canonical solution, NET both ways."""

from __future__ import annotations

import json
import math
import shutil

import pytest
from suite_rows import row, wrong

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.results import Own
from whet.benchmarks.suites.base import Unusable
from whet.benchmarks.suites.effibench import PRELUDE, SUITE
from whet.core.errors import UsageError
from whet.core.options import Options
from whet.evaluators.targets import read_task

CANONICAL = "class Solution:\n    def addUp(self, values: List[int]) -> int:\n        return sum(values)\n"
TEST = (
    "assert solution.addUp([1, 2]) == 3\nassert solution.addUp(values=[]) == 0\nassert solution.addUp([7] * 9) == 63\n"
)
GREEDY = CANONICAL.replace("return", "kept = [0] * 12_000_000\n        return")


def task(number=7, **changes):
    return {
        "problem_idx": number, "markdown_description": "Add up.", "canonical_solution": f"```python\n{CANONICAL}```",
        "test_case": TEST, "small_test_cases": TEST, **changes,
    }  # fmt: skip


@pytest.fixture
def root(tmp_path):
    def write(*rows):
        (tmp_path / "dataset.json").write_text(json.dumps(rows))
        return tmp_path

    return write


@pytest.fixture(scope="module")
def lab():
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    made = Lab(Options(sandbox="bubblewrap"))
    yield made
    made.close()


def test_a_task_is_read_with_the_method_that_its_test_calls(root):
    (found,) = SUITE.read(root(task())).problems
    assert (found.id, found.name) == ("7", "7 addUp")
    assert found.unchanged == f"{PRELUDE}\n{CANONICAL}"


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (task(), "that of row 1"),
        (task(8, test_case="assert True"), "calls no method"),
        (task(8, test_case="assert solution.x(("), "calls no method"),
        (task(8, canonical_solution="x = 1"), "no class Solution"),
        (task("../8"), "problem_idx"),
        ({"problem_idx": 8}, "no field"),
        (3, "not a JSON object"),
    ],
)
def test_a_bad_row_is_told(root, bad, says):
    reading = SUITE.read(root(task(), bad))
    assert len(reading.problems) == 1
    assert says in reading.faults[0]


def test_pointers_and_missing_files_are_refused(tmp_path):
    with pytest.raises(UsageError, match=r"no dataset"):
        SUITE.read(tmp_path)
    (tmp_path / "dataset.json").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:00\n")
    with pytest.raises(UsageError, match="not JSON"):
        SUITE.read(tmp_path)


@pytest.mark.corpus(one_in=8)
def test_a_right_answer_has_its_costs_beside_the_canonical_solutions(root, lab):
    (found,) = SUITE.read(root(task())).problems
    own = SUITE.judge(found, GREEDY, lab)
    assert own.passed, own.reason
    theirs, canonical = own.figures["answer"], own.figures["canonical"]
    assert theirs["peak"] > canonical["peak"] + 50  # twelve million references are 96 MB
    assert all(value > 0 for side in (theirs, canonical) for value in side.values())


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("text", "says"),
    [
        (CANONICAL.replace("sum(values)", "1"), "AssertionError"),
        ("class Solution:\n    pass\n", "AttributeError"),
        (CANONICAL.replace("return sum(values)", "import time\n        time.sleep(60)"), "no answer within 5 s"),
    ],
)
def test_a_wrong_answer_is_told(root, lab, text, says):
    (found,) = SUITE.read(root(task())).problems
    own = SUITE.judge(found, text, lab)
    assert not own.passed
    assert says in own.reason


def test_a_canonical_solution_that_fails_excludes_its_task(root, lab):
    (found,) = SUITE.read(root(task(test_case="assert solution.addUp([1]) == 2\n"))).problems
    with pytest.raises(Unusable, match="canonical solution fails"):
        SUITE.judge(found, CANONICAL, lab)


def test_the_target_is_a_task_of_whet(root, tmp_path):
    (found,) = SUITE.read(root(task())).problems
    folder = tmp_path / "target"
    folder.mkdir()
    assert read_task(SUITE.write_target(found, folder), Options()).symbol == "Solution.addUp"


def told(seconds, canonical):
    sides = {"answer": seconds, "canonical": canonical}
    figures = {side: dict.fromkeys(("seconds", "peak", "integral"), value) for side, value in sides.items()}
    return Own(True, "", figures, "s, MB, MB*s", "clock")


def test_the_worked_example_of_net_both_ways():
    rows = [row("effibench", str(n), 0, told(*pair)) for n, pair in enumerate([(1.0, 1.0), (2.0, 1.0), (30.0, 10.0)])]
    rows += [row("effibench", "3", 0, wrong()), row("effibench", "4", 0, None, "the canonical solution fails")]
    score = SUITE.score(rows)
    figures = {figure.name: figure for figure in score.figures}
    assert (figures["NET"].value, figures["NET"].n, figures["NET"].better) == (2.0, 3, "lower")
    assert figures["NET as coded"].value == 2.75
    assert (figures["pass@1"].value, figures["pass@1"].n) == (0.75, 4)
    assert [figure.name for figure in score.figures if figure.headline] == ["NET"]
    assert score.failed == 1


def test_nothing_right_is_no_figure():
    figures = {figure.name: figure for figure in SUITE.score([row("effibench", "1", 0, wrong())]).figures}
    assert math.isnan(figures["NET"].value)
    assert figures["NET"].n == 0


def test_completions_go_out_and_come_in_again(tmp_path):
    file = SUITE.export([row("effibench", "7", 0, wrong(), answer="text")], tmp_path)
    assert SUITE.answers(file, ()) == {("7", 0): "text"}
