"""ENAMEL: rows, its own rule with censoring, eff@k, its files of answers and results."""

from __future__ import annotations

import csv
import json
import shutil

import pytest
from suite_rows import row, wrong

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.results import Own
from whet.benchmarks.suites.base import Unusable
from whet.benchmarks.suites.enamel import COLUMNS, SUITE
from whet.core.errors import UsageError
from whet.core.options import Options
from whet.evaluators.targets import read_task

PROMPT = '''def largest_gap(numbers: list) -> int:
    """Returns the largest difference between two neighbours of the sorted numbers.
    >>> largest_gap([4, 1, 9])
    5
    """
'''
GENERATOR = """def generate_input(size: int, lid: int, cid: int):
    numbers = list(range(size + 2))
    random.shuffle(numbers)
    return (numbers,)
"""
CHECKER = """def __check(input, answer, output):
    return type(output) == type(answer) and output == answer
"""
BODY = "    ordered = sorted(numbers)\n    return max(b - a for a, b in zip(ordered, ordered[1:]))\n"
LATE = f"{PROMPT}    if len(numbers) > 3000:\n        while True:\n            try:\n                pass\n" + (
    f"            except BaseException:\n                pass\n{BODY}"
)
HUGE = f"{PROMPT}    if len(numbers) > 3000:\n        raise OverflowError\n{BODY}"


def problem(number=0, **changes):
    """A row of the table."""
    return {
        "task_id": f"HumanEval/{number}", "prompt": PROMPT, "input_generator": GENERATOR,
        "input_levels": "5 1000 4000 8000",
        "reference_solution": BODY, "checker": CHECKER, "entry_point": "largest_gap", **changes,
    }  # fmt: skip


@pytest.fixture
def root(tmp_path):
    def write(*rows, columns=COLUMNS, end=""):
        folder = tmp_path / "dataset"
        folder.mkdir(exist_ok=True)
        with (folder / "enamel.csv").open("w", newline="") as file:
            table = csv.DictWriter(file, columns, extrasaction="ignore")
            table.writeheader()
            table.writerows(rows)
            file.write(end)
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
    (found,) = SUITE.read(root(problem(**changes))).problems
    return found


def test_problems_are_read_and_unofficial_ones_marked(root):
    reading = SUITE.read(root(problem(0), problem(2)))
    assert [(one.id, one.group) for one in reading.problems] == [
        ("HumanEval/0", "official"),
        ("HumanEval/2", "unofficial"),
    ]
    assert reading.problems[0].unchanged == f"{PROMPT}\n{BODY}\n"
    assert reading.faults == ()


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (problem(0), "was there before|that of row 1"),
        (problem(1, entry_point="f(); import os"), "entry_point"),
        (problem(1, task_id="HumanEval/../../x"), "task_id"),
        (problem(1, input_levels="5 10"), "four sizes"),
        (problem(1, input_levels="5 10 x 20"), "four sizes"),
    ],
)
def test_a_bad_row_is_told_and_the_others_are_kept(root, bad, says):
    reading = SUITE.read(root(problem(0), bad))
    assert len(reading.problems) == 1
    with pytest.raises(AssertionError, match=says):
        assert not reading.faults, reading.faults


def test_a_truncated_file_keeps_what_came_before(root):
    reading = SUITE.read(root(problem(0), end='HumanEval/1,"def f('))
    assert len(reading.problems) == 1
    assert "cut off" in reading.faults[0]


def test_missing_files_and_unknown_versions_are_refused(root, tmp_path):
    with pytest.raises(UsageError, match=r"no enamel\.csv"):
        SUITE.read(tmp_path)
    with pytest.raises(UsageError, match="no column checker"):
        SUITE.read(root(problem(), columns=[name for name in COLUMNS if name != "checker"]))


@pytest.mark.corpus
def test_the_reference_is_worth_about_one(root, lab):
    own = SUITE.judge(only(root), f"{PROMPT}{BODY}", lab)
    assert own.passed, own.reason
    assert [len(level) for level in own.figures["reference"]] == [8, 4, 4, 4]
    assert 0.0 < own.figures["e"] <= 2.0  # T is twice the reference's time: nothing can be worth more
    assert (own.unit, own.counter) == ("s", "clock")


@pytest.mark.corpus
@pytest.mark.parametrize("text", [LATE, HUGE])
def test_levels_before_a_timeout_or_an_overflow_keep_their_scores(root, lab, text):
    own = SUITE.judge(only(root), text, lab)
    assert own.passed, own.reason
    zero, first, second, third = own.figures["f"]
    assert zero == second == third == 0.0 < first
    assert own.figures["e"] == pytest.approx(0.3 * first)
    assert "level 2" in own.figures["ended"]


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"{PROMPT}    return 1.0\n", "wrong output"),
        (f"{PROMPT}    print(numbers)\n{BODY}", "TypeError"),
        (f"{PROMPT}    raise ValueError('no')\n", "ValueError"),
        ("def largest_gap(:\n", "SyntaxError"),
        (f"{PROMPT}    import os\n    os._exit(0)\n", "exit code 0"),
    ],
)
def test_a_wrong_answer_is_worth_nothing(root, lab, text, says):
    own = SUITE.judge(only(root), text, lab)
    assert not own.passed
    assert says in own.reason
    assert own.figures["e"] == 0.0


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"reference_solution": "    raise KeyError(1)\n"}, "reference fails"),
        ({"input_generator": "def generate_input(size, lid, cid):\n    return rand_parens(size)\n"}, "rand_parens"),
        ({"checker": "def __check(input, answer, output):\n    return False\n"}, "own check"),
    ],
)
def test_a_problem_that_fails_here_is_excluded(root, lab, changes, says):
    with pytest.raises(Unusable, match=says):
        SUITE.judge(only(root, **changes), f"{PROMPT}{BODY}", lab)


def test_the_target_is_a_task_of_whet(root, tmp_path):
    folder = tmp_path / "target"
    folder.mkdir()
    task = read_task(SUITE.write_target(only(root), folder), Options())
    assert task.symbol == "largest_gap"
    assert task.workload.generator is not None


def efficient(value, levels=(0.0, 1.0, 1.0, 1.0)):
    return Own(True, "", {"e": value, "f": list(levels)}, "s", "clock")


def test_score_keeps_failures_and_leaves_unofficial_and_excluded_problems_out():
    rows = [
        *(row("enamel", "HumanEval/0", n, efficient(e)) for n, e in enumerate((0.3, 0.9))),
        row("enamel", "HumanEval/1", 0, wrong(e=5.0)),
        row("enamel", "HumanEval/1", 1, None),
        row("enamel", "HumanEval/2", 0, efficient(1.0)),
        row("enamel", "HumanEval/3", 0, None, "the reference fails"),
    ]
    score = SUITE.score(rows)
    figures = {figure.name: figure for figure in score.figures}
    assert figures["eff@1"].value == pytest.approx(0.3)
    assert figures["eff@1"].n == 2
    assert figures["pass@1"].value == pytest.approx(0.5)
    assert [figure.name for figure in score.figures if figure.headline] == ["eff@1"]
    assert score.failed == 1
    assert score.excluded == {"HumanEval/3": "the reference fails"}


def test_results_go_out_and_come_in_again(tmp_path):
    rows = [row("enamel", "HumanEval/0", n, efficient(1.0), answer=f"text {n}") for n in range(2)]
    rows.append(row("enamel", "HumanEval/7", 0, wrong(), answer="bad"))
    codes = SUITE.export(rows, tmp_path)
    assert json.loads(codes.read_text()) == {"0": ["text 0", "text 1"], "7": ["bad"]}
    assert SUITE.answers(codes, ())["HumanEval/0", 1] == "text 1"
    figures = {figure.name: figure.value for figure in SUITE.imported(tmp_path / "codes~effs.json").figures}
    assert figures == {"eff@1": 0.5, "pass@1": 0.5}
    assert SUITE.imported(codes) is None


@pytest.mark.parametrize("text", ["{", "[]", '{"x": [[1,2,3,4]]}', '{"1": [[1,2]]}', '{"1": [["a",0,0,0]]}'])
def test_results_that_are_none_are_refused(tmp_path, text):
    file = tmp_path / "m~effs.json"
    file.write_text(text)
    with pytest.raises(UsageError):
        SUITE.imported(file)
