"""PIE: rows of both releases, its own rule with its traps, its scores."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import replace

import pytest
from suite_rows import row, wrong

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.results import Own
from whet.benchmarks.suites.base import Unusable
from whet.benchmarks.suites.pie import SUITE
from whet.benchmarks.suites.pie.rule import accuracy
from whet.benchmarks.suites.pie.scoring import MOST_SAMPLES
from whet.core.errors import UsageError
from whet.core.options import Options
from whet.evaluators.targets import read_task

SLOW = "n = int(input())\ntotal = 0\nfor i in range(n + 1):\n    total += i\nprint(total)\n"
FAST = "n = int(input())\nprint(n * (n + 1) // 2)\n"
MORE = "n = int(input())\nprint(n * (n + 1) // 2)\nprint('and a word more')\n"
OFF = "n = int(input())\nprint(n * (n - 1) // 2)\n"
SLOW_CPP = (
    '#include <cstdio>\nint main() { long n, t = 0; scanf("%ld", &n);'
    ' for (volatile long i = 0; i <= n; i++) t += i; printf("%ld\\n", t); }\n'
)
FAST_CPP = '#include <cstdio>\nint main() { long n; scanf("%ld", &n); printf("%ld\\n", n * (n + 1) / 2); }\n'


def first(**changes):
    """A row of v1, as it was published but for its text."""
    return {
        "user_id": "u1", "problem_id": "p00001", "language": "Python", "submission_id_v0": "s1",
        "submission_id_v1": "s2", "cpu_time_v0": 90, "cpu_time_v1": 10, "memory_v0": 1, "memory_v1": 1,
        "status_v0": "Accepted", "status_v1": "Accepted", "improvement_frac": 88.9, "input": SLOW, "target": FAST,
        "code_v0_loc": 5, "code_v1_loc": 2, "code_same": False, "diff": [], "measured_runtime_v0": 0.1,
        "measured_runtime_v1": 0.02, "runtime_lift": 5.0, **changes,
    }  # fmt: skip


def second(**changes):
    """A row of v2."""
    return {
        "src_id": "c1", "tgt_id": "c2", "problem_id": "p00001", "src_code": SLOW_CPP, "tgt_code": FAST_CPP,
        "src_agg_runtime": 0.1, "tgt_agg_runtime": 0.02, "n_tests": 1, "tests": [1], **changes,
    }  # fmt: skip


@pytest.fixture
def root(tmp_path):
    """Writes rows with the cases of one problem; the first case is wrong, as some of the real ones are."""

    def write(*rows):
        folder = tmp_path / "pie"
        cases = folder / "merged_test_cases" / "p00001"
        cases.mkdir(parents=True, exist_ok=True)
        for number, (stdin, stdout) in enumerate([("10\n", "wrong\n"), ("20000\n", "200010000\n"), ("3\n", "6\n")]):
            (cases / f"input.{number}.txt").write_text(stdin)
            (cases / f"output.{number}.txt").write_text(stdout)
        lines = [one if isinstance(one, str) else json.dumps(one) for one in rows]
        (folder / "test.jsonl").write_text("\n".join(lines) + "\n")
        return folder

    return write


@pytest.fixture(scope="module")
def lab():
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    made = Lab(Options(sandbox="bubblewrap"))
    yield made
    made.close()


# reading


def test_rows_of_both_releases_are_read(root):
    reading = SUITE.read(root(first(tests=[1, 2]), second(tests="[1, 2]")))
    one, two = reading.problems

    assert (one.id, one.language, one.group, one.unchanged, one.known_best) == ("s1-s2", "python", "v1", SLOW, FAST)
    assert (two.id, two.language, two.group, two.data["tests"]) == ("c1-c2", "cpp", "v2", [1, 2])
    assert one.digest != two.digest
    assert not reading.faults


def test_the_file_of_rows_may_be_given_itself(root):
    assert SUITE.read(root(second()) / "test.jsonl").problems[0].id == "c1-c2"


def test_rows_that_cannot_be_used_are_told_and_the_rest_is_read(root):
    reading = SUITE.read(
        root(
            first(),
            second(problem_id="../../etc"),
            second(problem_id="p99999"),
            second(tests=[7]),
            second(tests=[]),
            first(language="COBOL\x1b[2J"),
            {"id": "of a version to come"},
            first(),
            second(src_code=None),
            json.dumps(second())[:-30],
        )
    )

    assert [problem.id for problem in reading.problems] == ["s1-s2"]
    assert [fault.split(":")[0] for fault in reading.faults] == [f"test.jsonl, row {n}" for n in range(2, 11)]
    for said, line in zip(
        (
            "no name of a folder",
            "no cases",
            "no case 7",
            "no list of indices",
            r"'COBOL\x1b[2J'",
            "neither a row",
            "row 1 too",
            "src_code",
            "cut off",
        ),
        reading.faults,
        strict=True,
    ):
        assert said in line


def test_paths_that_hold_no_rows_are_refused(tmp_path, root):
    with pytest.raises(UsageError, match="no file"):
        SUITE.read(tmp_path)
    with pytest.raises(UsageError, match=r"no problem that can be used: .* neither a row of PIE"):
        SUITE.read(root({"id": 1}))


# its own rule


def test_a_line_counts_as_in_the_published_scorer():
    assert accuracy("1\n2\n3\nmore\n", "1\n2\n3\n") == 1.0  # trap: lines beyond the end count nowhere
    assert accuracy("0.0005", "0") == 1.0
    assert accuracy("0.0011", "0") == 0.0
    assert accuracy("1\n2\n", "1\n2\n3\n4\n") == 0.5
    assert accuracy("a", "b") == accuracy("", "x") == accuracy("", "") == 0.0
    assert accuracy("nan", "nan") == 1.0


def test_a_right_answer_is_timed_beside_its_slow_program(root, lab):
    problem = SUITE.read(root(first(tests=[1, 2]))).problems[0]
    own = replace(SUITE, trials=3).judge(problem, FAST, lab)

    assert own.passed, own.reason
    assert (own.unit, own.counter) == ("s", "clock")
    assert own.figures["source"] > 0 < own.figures["answer"]
    assert own.figures["problem_id"] == "p00001"


def test_wrong_answers_are_told_with_their_accuracy(root, lab):
    problem = SUITE.read(root(first(tests=[1, 2]))).problems[0]
    suite = replace(SUITE, trials=2)

    assert suite.judge(problem, MORE, lab).passed  # the trap
    off = suite.judge(problem, OFF, lab)
    assert (off.passed, off.figures["accuracy"]) == (False, 0.0)
    assert "case 1" in off.reason
    crashed = suite.judge(problem, "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n", lab)
    assert "signal 11" in crashed.reason


def test_a_slow_program_that_fails_excludes_its_row(root, lab):
    problem = SUITE.read(root(first())).problems[0]  # all cases, that with the wrong output among them

    with pytest.raises(Unusable, match="case 0"):
        SUITE.judge(problem, FAST, lab)


@pytest.mark.corpus
def test_rows_of_v2_are_counted_in_place_of_the_simulator(root, lab):
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed")
    problem = SUITE.read(root(second())).problems[0]
    own = SUITE.judge(problem, FAST_CPP, lab)

    assert own.passed, own.reason
    assert own.unit == "instructions"
    assert own.counter in ("perf", "cachegrind")
    assert own.figures["source"] > own.figures["answer"] + 40_000
    assert "build_error" in SUITE.judge(problem, "int main() { return }", lab).reason


def test_a_row_is_a_target_of_whet(root, tmp_path):
    problem = SUITE.read(root(second(tests=[1, 2]))).problems[0]
    folder = tmp_path / "target"
    folder.mkdir()
    task = read_task(SUITE.write_target(problem, folder), Options())

    assert task.source == SLOW_CPP
    assert [case.expected for case in task.workload.cases] == [b"200010000\n", b"6\n"]
    assert (task.oracle.stdout, task.oracle.tolerance.atol) == ("floats", 1e-3)
    assert task.flags == ("-O3", "--std=c++17")


# scores


def right(source, answer, problem="p1"):
    return Own(True, "", {"problem_id": problem, "accuracy": 1.0, "source": source, "answer": answer}, "s", "clock")


def worked(samples):
    """The note's worked check: four rows with two samples each."""
    times = {"a-x": (10, [5, None]), "b-x": (8, [7.5, 4]), "c-x": (6, [None, None]), "d-x": (4, [4.2, 3.8])}
    return [
        row("pie", name, sample, wrong(problem_id="p1", accuracy=0.5) if time is None else right(source, time))
        for name, (source, answers) in times.items()
        for sample, time in enumerate(answers[:samples])
    ]


def figures(score):
    return {figure.name: figure for figure in score.figures}


def test_the_worked_check_of_best_at_1_and_2():
    found = figures(SUITE.score(worked(2)))

    assert found["%OPT@1"].value == 25
    assert found["SPEEDUP@1"].value == pytest.approx(1.2666667)
    assert found["%CORRECT@1"].value == 75
    assert found["%OPT@2"].value == 50
    assert found["SPEEDUP@2"].value == pytest.approx(1.5131579)
    assert found["%CORRECT@2"].value == 75
    assert found["%OPT@1"].n == 4
    assert [figure.name for figure in found.values() if figure.headline] == ["%OPT@1"]


def test_sbllm_asks_for_more_than_pie():
    found = figures(SUITE.score([row("pie", "a-b", own=right(10, 9.05))]))

    assert (found["%OPT@1"].value, found["SBLLM OPT"].value) == (100, 0)
    assert found["SBLLM SP"].value == pytest.approx(100 * (10 / 9.05 - 1))


def test_each_answer_is_compared_with_the_slow_program_measured_beside_it():
    found = figures(SUITE.score([row("pie", "a-b", 0, right(10, 5)), row("pie", "a-b", 1, right(20, 5))]))

    assert (found["SPEEDUP@1"].value, found["SPEEDUP@2"].value) == (2, 4)


def test_failures_stay_in_and_what_fails_here_is_left_out():
    rows = [
        row("pie", "a-b", own=right(10, 5)), row("pie", "c-d"), row("pie", "e-f", excluded="the slow program fails"),
    ]  # fmt: skip
    score = SUITE.score(rows)

    assert (score.failed, score.excluded) == (1, {"e-f": "the slow program fails"})
    assert figures(score)["SPEEDUP@1"].value == 1.5
    assert math.isnan(figures(SUITE.score([]))["%OPT@1"].value)


def test_results_are_written_and_read_in_pies_own_format(tmp_path):
    rows = worked(2)
    file = SUITE.export(rows, tmp_path)

    again, before = figures(SUITE.imported(file)), figures(SUITE.score(rows))
    assert {name: figure.value for name, figure in again.items()} == pytest.approx(
        {name: figure.value for name, figure in before.items()}
    )
    assert SUITE.answers(file, ())["b-x", 1] == "text"


def test_other_files_are_no_results_and_broken_ones_are_told(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"other": 1}\n')
    (tmp_path / "b.jsonl").write_text(
        '{"src_id": "a", "problem_id": "p", "src_code_agg_runtime": 1.0}\n{"src_id": 1, "src_code_agg_runtime": 0}\n'
    )

    assert SUITE.imported(tmp_path / "a.jsonl") is None
    assert SUITE.imported(tmp_path / "a.csv") is None
    with pytest.raises(UsageError, match="row 2"):
        SUITE.imported(tmp_path / "b.jsonl")


def test_a_row_with_more_samples_than_are_read_is_refused(tmp_path):
    plain = {"src_id": "a", "tgt_id": "b", "problem_id": "p", "src_code_agg_runtime": 1.0}
    samples = {f"generated_answers_{number}_accuracy": 1.0 for number in range(MOST_SAMPLES)}
    file = tmp_path / "results.jsonl"
    file.write_text(json.dumps(plain | samples))
    assert SUITE.imported(file) is not None
    more = plain | samples | {f"generated_answers_{MOST_SAMPLES}_accuracy": 1.0}
    file.write_text(json.dumps(plain | samples) + "\n" + json.dumps(more))
    with pytest.raises(UsageError, match="more than 1000 samples"):
        SUITE.imported(file)


def test_predictions_are_lists_or_single_texts(tmp_path):
    file = tmp_path / "predictions.jsonl"
    file.write_text(json.dumps(first(generated_answers=["a", "b"])) + "\n" + json.dumps(second(generated_answers="c")))
    assert SUITE.answers(file, ()) == {("s1-s2", 0): "a", ("s1-s2", 1): "b", ("c1-c2", 0): "c"}
    file.write_text(json.dumps(first(generated_answers=[1])))
    with pytest.raises(UsageError, match="no list of texts"):
        SUITE.answers(file, ())
