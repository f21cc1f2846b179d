"""EvalPerf: tasks with their tests, its special cases, DPS from counts, published files of results."""

from __future__ import annotations

import json
import shutil

import pytest
from suite_rows import row, wrong

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.lab.functions import Helper
from whet.benchmarks.results import Own
from whet.benchmarks.suites.base import Unusable
from whet.benchmarks.suites.evalperf import SUITE
from whet.benchmarks.suites.evalperf.tests import CHECKER, arguments
from whet.core.errors import UsageError
from whet.core.options import Options
from whet.evaluators.targets import read_task

PROMPT = "def total(values):\n    '''Adds up.'''\n"
SLOW = f"{PROMPT}    found = 0\n    for value in values:\n        found = found + value * 1\n    return found\n"
FAST = f"{PROMPT}    return sum(values)\n"
MIDDLE = f"{PROMPT}    found = 0\n    for value in values:\n        found += value\n    return found\n"


def task(name="HumanEval/900", **changes):
    return {
        "task_id": name, "entry_point": "total", "reference": [SLOW, FAST], "scores": [40.0, 100.0],
        "pe_input": json.dumps([[list(range(3000))]]), **changes,
    }  # fmt: skip


def plus(name="HumanEval/900", **changes):
    return {
        "task_id": name, "prompt": PROMPT, "entry_point": "total", "canonical_solution": "    return sum(values)\n",
        "base_input": [[[1, 2]]], "plus_input": [[[]], [[0.5, 7]]], "atol": 0, "contract": "", **changes,
    }  # fmt: skip


@pytest.fixture
def root(tmp_path):
    def write(*tasks, tests=None):
        for name, rows in (("evalperf", tasks), ("HumanEvalPlus", [plus()] if tests is None else tests)):
            lines = [one if isinstance(one, str) else json.dumps(one) for one in rows]
            (tmp_path / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
        return tmp_path

    return write


@pytest.fixture(scope="module")
def lab():
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    made = Lab(Options(sandbox="bubblewrap"))
    yield made
    made.close()


def test_the_slowest_reference_is_replaced(root):
    (found,) = SUITE.read(root(task())).problems
    assert (found.unchanged, found.known_best) == (SLOW, FAST)
    assert found.data["tests"] == [([1, 2],), ([],), ([0.5, 7],)]


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (task(), "that of row 1"),
        (task("HumanEval/901"), "no tests for"),
        (task("Other/1"), "neither"),
        (task("HumanEval/900", scores=[1.0]), "as many texts"),
        (task("HumanEval/900", scores=[1.0, float("nan")]), "no numbers"),
        (task("HumanEval/900", pe_input="["), "cannot be read"),
        (task("HumanEval/900", pe_input=[]), "cannot be read"),
        (task("HumanEval/900", entry_point="a.b"), "entry_point"),
        ('{"task_id": "Hum', "cut off"),
    ],
)
def test_a_bad_row_is_told(root, bad, says):
    reading = SUITE.read(root(task(), bad))
    assert len(reading.problems) == 1
    assert says in reading.faults[0]


def test_missing_files_are_refused(root, tmp_path):
    with pytest.raises(UsageError, match=r"no \*evalperf"):
        SUITE.read(tmp_path)
    with pytest.raises(UsageError, match="no tests for"):
        SUITE.read(root(task(), tests=()))


@pytest.mark.parametrize(
    ("name", "stored", "given"),
    [
        ("HumanEval/2", [[1]], ([1],)),
        ("Mbpp/2", [[1], [2]], ((1,), (2,))),
        ("Mbpp/63", [[[1, 2]]], ([(1, 2)],)),
        ("Mbpp/115", [[[1], []]], ([{1}, {}],)),
        ("Mbpp/124", ["1", "2j"], (1.0, 2j)),
        ("Mbpp/750", [[1], [2]], ([1], (2,))),
        ("Mbpp/580", [[1, [2]]], ((1, (2,)),)),
        ("Mbpp/722", [{"a": [1]}, 2], ({"a": (1,)}, 2)),
    ],
)
def test_inputs_come_out_of_json_as_their_functions_take_them(name, stored, given):
    assert arguments(name, stored) == given


def test_an_input_of_another_form_is_refused():
    with pytest.raises(ValueError, match="another form"):
        arguments("Mbpp/2", [1])


@pytest.mark.parametrize(
    ("kind", "name", "given", "expected", "output", "right"),
    [
        ("HumanEval", "f", (), 1, 1, True),
        ("HumanEval", "f", (), [0.1], [0.1 + 1e-8], True),
        ("HumanEval", "f", (), 0.1, 0.2, False),
        ("HumanEval", "f", (), [0.1], (0.1,), False),
        ("HumanEval", "find_zero", ([-6, 1],), 5.0, 6.0, True),
        ("Mbpp", "are_equivalent", (1, 2), True, "anything", True),
        ("Mbpp", "sum_div", (1,), 5, 0, True),
        ("Mbpp", "Diff", (), [1, 2], [2, 1, 1], True),
        ("Mbpp", "check_str", (), True, "found", True),
        ("Mbpp", "check_str", (), False, "found", False),
        ("Mbpp", "surface_Area", (3, 4), 0, 35, True),
        ("Mbpp", "digit_distance_nums", (23, 56), 0, 6, True),
    ],
)
def test_outputs_are_compared_as_the_suite_does(lab, kind, name, given, expected, output, right):
    with Helper(lab, CHECKER, "whet_check") as check:
        assert check(kind, name, given, expected, output, 1e-9 if name == "find_zero" else 0.0) is right


@pytest.mark.corpus
def test_a_right_sample_gets_the_score_of_its_cluster(root, lab):
    if shutil.which("valgrind") is None:
        pytest.skip("nothing counts instructions here")
    (found,) = SUITE.read(root(task())).problems
    own = SUITE.judge(found, MIDDLE, lab)
    assert own.passed, own.reason
    assert [own.figures[name] for name in ("cluster", "dps", "dps_norm")] == [0, 40.0, 50.0]
    assert own.figures["references"]["1"] < own.figures["count"] < own.figures["references"]["0"]
    assert own.counter in ("perf", "cachegrind")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"{PROMPT}    return 3\n", "test 1: wrong output"),
        (f"{PROMPT}    raise KeyError(values)\n", "test 0: KeyError"),
        ("def other():\n    pass\n", "total"),
    ],
)
def test_a_wrong_sample_is_not_counted(root, lab, text, says):
    (found,) = SUITE.read(root(task())).problems
    own = SUITE.judge(found, text, lab)
    assert not own.passed
    assert says in own.reason
    assert own.figures == {}


def test_a_canonical_solution_that_fails_excludes_its_task(root, lab):
    (found,) = SUITE.read(root(task(), tests=[plus(canonical_solution="    return missing\n")])).problems
    with pytest.raises(Unusable, match="canonical solution fails"):
        SUITE.judge(found, FAST, lab)


def test_the_target_is_a_task_of_whet(root, tmp_path):
    (found,) = SUITE.read(root(task())).problems
    folder = tmp_path / "target"
    folder.mkdir()
    assert read_task(SUITE.write_target(found, folder), Options()).symbol == "total"


def told(dps, norm=50.0):
    return Own(True, "", {"dps": dps, "dps_norm": norm, "cluster": 0}, "instructions", "cachegrind")


def test_tasks_with_few_right_samples_drop_out_of_dps_and_not_of_pass():
    rows = [row("evalperf", "a", n, told(60.0 if n < 20 else 0.0)) for n in range(30)]
    rows += [row("evalperf", "b", n, told(10.0) if n < 9 else wrong()) for n in range(30)]
    figures = {figure.name: figure for figure in SUITE.score(rows).figures}
    assert (figures["DPS"].value, figures["DPS"].n) == (60.0, 1)  # the first twenty right samples count
    assert figures["pass@1"].value == pytest.approx(65.0)
    assert figures["pass@1"].n == 2


def test_with_few_samples_every_task_with_a_right_one_counts():
    score = SUITE.score([row("evalperf", "a", 0, told(60.0)), row("evalperf", "b", 0, wrong())])
    figures = {figure.name: figure for figure in score.figures}
    assert (figures["DPS"].value, figures["DPS"].n) == (60.0, 1)
    assert "fewer than 10" in figures["DPS"].note
    assert score.failed == 1


def test_published_results_are_scored(tmp_path):
    file = tmp_path / "model_evalperf_results.brief.json"
    one = {"dps": 80.0, "dps_norm": 70.0, "pass@1": 90.0, "profiled": []}
    found = {
        "summary": {},
        "config": {},
        "eval": {"a": one, "b": {**one, "dps": None, "dps_norm": None, "pass@1": 0.0}},
    }
    file.write_text(json.dumps(found))
    assert {figure.name: figure.value for figure in SUITE.imported(file).figures} == {
        "DPS": 80.0, "DPS_norm": 70.0, "pass@1": 45.0,
    }  # fmt: skip
    assert SUITE.imported(tmp_path / "other.json") is None
    file.write_text('{"eval": [1]}')
    with pytest.raises(UsageError, match="no file of EvalPerf"):
        SUITE.imported(file)


def test_results_go_out_in_the_suites_form_and_come_in_again(tmp_path):
    rows = [row("evalperf", "a", n, told(60.0), answer="text") for n in range(10)]
    file = SUITE.export(rows, tmp_path)
    assert len(json.loads(file.read_text())["eval"]["a"]["profiled"]) == 10
    assert SUITE.imported(file).figures[0].value == 60.0
    samples = tmp_path / "samples.jsonl"
    samples.write_text('{"task_id": "Mbpp_3", "solution": "x"}\n{"task_id": "Mbpp/3", "solution": "y"}\n')
    assert SUITE.answers(samples, ()) == {("Mbpp/3", 0): "x", ("Mbpp/3", 1): "y"}
