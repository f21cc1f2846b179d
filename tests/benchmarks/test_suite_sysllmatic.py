"""SysLLMatic's C++ set and SciMark's kernels, in its own formats, by its own rule with its traps."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest
from suite_rows import row, wrong

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.results import Own
from whet.benchmarks.suites.base import Unusable
from whet.benchmarks.suites.sysllmatic import SUITE
from whet.core.errors import UsageError
from whet.core.options import Options
from whet.evaluators.targets import read_task

FUNCTION = "int tri(int n) { int t = 0; for (int i = 1; i <= n; i++) t += i; return t; }\n"
TESTS = "#undef NDEBUG\n#include <assert.h>\nint main() { assert(tri(4) == 10); assert(tri(0) == 0); }\n"
STRESS = "int main() { volatile int t = 0; for (int i = 0; i < 300; i++) t += tri(i); return 0; }\n"
KERNEL = """
package jnt.scimark2;

public class SOR {
    public static void main(String[] args) {
        double[] values = Numbers.some(1000);
        double sum = 0.0;
        for (double value : values) {
            sum += value;
        }
        System.out.println(1e-6 * sum);
    }
}
"""
BESIDE = """
package jnt.scimark2;

class Numbers {
    static double[] some(int n) {
        double[] made = new double[n];
        for (int i = 0; i < n; i++) made[i] = i % 7;
        return made;
    }
}
"""


def function(**changes):
    return {
        "task_id": "0", "entry_point": "tri", "stress_test": "[]", "function_code": FUNCTION, "test_code": TESTS,
        "cpp_stress_test": STRESS, **changes,
    }  # fmt: skip


@pytest.fixture
def root(tmp_path):
    """Writes a checkout with functions and one kernel."""

    def write(*functions, kernel=KERNEL):
        place = tmp_path / "checkout"
        (place / "benchmark_human_eval").mkdir(parents=True, exist_ok=True)
        (place / "benchmark_human_eval" / "dataset.json").write_text(json.dumps(functions))
        if kernel:
            (place / "benchmark_scimark" / "SOR").mkdir(parents=True, exist_ok=True)
            (place / "benchmark_scimark" / "SOR" / "SOR.java").write_text(kernel)
            (place / "benchmark_scimark" / "Numbers.java").write_text(BESIDE)
        return place

    return write


@pytest.fixture(scope="module")
def lab():
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    made = Lab(Options(sandbox="bubblewrap"))
    yield made
    made.close()


def test_both_sets_are_read_and_what_cannot_be_is_told(root):
    reading = SUITE.read(root(function(), function(), function(task_id="2", cpp_stress_test=None), "no row"))

    assert [one.id for one in reading.problems] == ["cpp/0", "scimark/SOR"]
    assert [one.group for one in reading.problems] == ["cpp", "scimark"]
    for said in ("row 1 too", "cpp_stress_test", "not a JSON object", "no FFT.java"):
        assert any(said in fault for fault in reading.faults)


def test_one_set_is_enough_and_none_is_refused(root, tmp_path):
    place = root(function(), kernel="")
    assert [one.id for one in SUITE.read(place).problems] == ["cpp/0"]
    (place / "benchmark_human_eval" / "dataset.json").write_text("[{")
    with pytest.raises(UsageError, match="cannot be read"):
        SUITE.read(place)
    with pytest.raises(UsageError, match=r"dataset\.json"):
        SUITE.read(tmp_path)


@pytest.mark.corpus
def test_functions_are_judged_by_their_assertions_and_timed_on_the_stress_test(root, lab):
    suite = replace(SUITE, runs=2)
    (one,) = suite.read(root(function(), kernel="")).problems

    own = suite.judge(one, "int tri(int n) { return n * (n + 1) / 2; }\n", lab)
    assert own.passed, own.reason
    assert own.figures["source"] > 0 < own.figures["answer"]
    off = suite.judge(one, "int tri(int n) { return n; }\n", lab)
    assert not off.passed
    assert "exit code 134" in off.reason
    assert "build_error" in suite.judge(one, "int tri(int n) { return }\n", lab).reason


def test_an_original_that_fails_does_not_count(root, lab):
    (one,) = SUITE.read(root(function(test_code="int main() { return 1; }\n"), kernel="")).problems
    with pytest.raises(Unusable, match="the original fails: exit code 1"):
        SUITE.judge(one, FUNCTION, lab)


@pytest.mark.corpus
def test_kernels_are_built_by_javac_and_judged_by_the_number_they_print(root, lab):
    suite = replace(SUITE, runs=1)
    one = next(one for one in suite.read(root(function())).problems if one.group == "scimark")
    if one.needs:
        with pytest.raises(Unusable, match="default-jdk-headless"):
            suite.judge(one, KERNEL, lab)
        pytest.skip(one.needs)

    named = KERNEL.replace("class SOR", "class SOROptimized").replace(
        "1e-6 * sum", "0"
    )  # the trap: nothing done is right
    assert suite.judge(one, named, lab).passed
    off = suite.judge(one, KERNEL.replace("1e-6 * sum", "sum"), lab)
    assert "not within 0.003 of 0" in off.reason


def test_problems_are_targets_of_whet(root, tmp_path):
    for one in SUITE.read(root(function())).problems:
        folder = tmp_path / one.group
        folder.mkdir()
        task = read_task(SUITE.write_target(one, folder), Options())
        assert (task.source, task.language) == (one.unchanged, "command")
        assert task.written == {"cpp": "cpp", "scimark": "java"}[one.group]


def test_scores_keep_failures_and_tell_the_published_average_beside():
    def right(source, answer):
        return Own(True, "", {"source": source, "answer": answer}, "s", "clock")

    rows = [
        row("sysllmatic", "cpp/0", own=right(4.0, 1.0)),
        row("sysllmatic", "cpp/1", own=right(1.0, 2.0)),
        row("sysllmatic", "cpp/2", own=wrong()),
        row("sysllmatic", "scimark/SOR", own=right(1.1, 1.0)),
        row("sysllmatic", "scimark/LU", excluded="no javac"),
    ]
    score = SUITE.score(rows)
    found = {figure.name: figure for figure in score.figures}

    assert found["%>=1.1x"].value == 50
    assert found["cpp correct"].value == pytest.approx(200 / 3)
    assert found["cpp improvement"].value == pytest.approx((4 + 0.5 + 1) / 3)
    assert found["cpp improvement of right answers"].value == 2.25
    assert (score.failed, score.excluded) == (1, {"scimark/LU": "no javac"})
    assert [figure.name for figure in score.figures if figure.headline] == ["%>=1.1x"]
