"""robust-kbench's task folders and its own rule, on a task of our own making."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from kernel_problems import IMPORTS, written
from test_bench_rows import row
from test_robust_kbench import CONFIGS, PASSES, SHIFT

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.results import Own
from whet.benchmarks.suites.base import Unusable
from whet.benchmarks.suites.robust_kbench import SUITE
from whet.core.errors import UsageError
from whet.core.options import Options
from whet.evaluators.targets import read_task

sandboxed = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
FEW = {name: configs for name, configs in CONFIGS.items() if name.startswith("single_")}
RIGHT = "import torch\n\n\ndef forward_fn(x, weight):\n    return torch.mm(x, weight).tanh_()\n"


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "root" / "tasks" / "shift"
    written(folder, IMPORTS + SHIFT, "func_forward.py")
    written(folder, IMPORTS + PASSES + SHIFT, "func_backward.py")
    for name in ("config_forward.json", "config_backward.json"):
        written(folder, json.dumps(FEW), name)
    return tmp_path / "root"


def test_a_folder_is_a_problem_for_each_pass(root, tmp_path):
    reading = SUITE.read(root)
    assert [(one.id, one.group) for one in reading.problems] == [
        ("shift:backward", "backward"),
        ("shift:forward", "forward"),
    ]
    assert reading.faults == ()
    assert SUITE.read(root / "tasks") == reading
    target = SUITE.write_target(reading.problems[1], tmp_path)
    task = read_task(target, Options())
    assert (task.name, task.source) == ("shift", reading.problems[1].unchanged)


def test_what_is_no_task_is_a_fault_by_its_file(root, tmp_path):
    tasks = root / "tasks"
    written(tasks / "bare", IMPORTS + SHIFT, "func_forward.py")
    for name, table in (("torn", json.dumps(FEW)[:20]), ("list", "[]"), ("bad name", json.dumps(FEW))):
        written(tasks / name, IMPORTS + SHIFT, "func_forward.py")
        written(tasks / name, table, "config_forward.json")
    reading = SUITE.read(root)
    assert len(reading.problems) == 2
    assert [fault.partition(": ")[0] for fault in reading.faults] == [
        f"{name}/func_forward.py" for name in ("bad name", "bare", "list", "torn")
    ]
    with pytest.raises(UsageError, match="holds no task of robust-kbench"):
        SUITE.read(tmp_path / "root" / "tasks" / "bare")


@pytest.mark.corpus
@sandboxed
def test_the_own_rule_runs_the_answer_before_and_after_the_reference(root):
    pytest.importorskip("torch", reason="torch is not installed: pip install whet[torch]")
    problem = SUITE.read(root).problems[1]
    with closing(Lab(Options(device="cpu"))) as lab:
        wrong = SUITE.judge(problem, RIGHT.replace("tanh_", "sin_"), lab)
        assert (wrong.passed, wrong.reason) == (False, "setting 1, seed 42, first call: values differ")
        shape = SUITE.judge(problem, RIGHT.replace(".tanh_()", ".tanh_()[:1]"), lab)
        assert "instead of float32 (4, 8)" in shape.reason
        right = SUITE.judge(problem, RIGHT, lab)
        assert (right.passed, right.unit, right.figures["settings"]) == (True, "ms", 1)
        assert right.figures["speedup"] > 0
        broken = replace(problem, unchanged=problem.unchanged.replace("torch.tanh(x @ weight)", "x @ x @ x"))
        with pytest.raises(Unusable, match="the reference fails in setting 1"):
            SUITE.judge(broken, RIGHT, lab)


def test_tasks_without_a_right_answer_stay_in_the_mean():
    def judged(problem, speedup, sample=0):
        own = Own(bool(speedup), "", {"speedup": speedup} if speedup else {})
        return row(problem, sample, suite="robust-kbench", own=own)

    score = SUITE.score([judged("a", 1.0), judged("a", 3.0, 1), judged("b", 0.0), judged("c", 0.5), judged("d", 1.0)])
    figures = {figure.name: figure for figure in score.figures}
    assert figures["mean speedup"].headline
    assert figures["mean speedup"].value == pytest.approx(4.5 / 4)
    assert (figures["fast_0"].value, figures["fast_1"].value) == (0.75, 0.25)
    assert score.failed == 1


def test_it_has_no_format_of_results(tmp_path):
    assert SUITE.export([], tmp_path) is None
    assert SUITE.imported(Path("eval_results.json")) is None
