"""SWE-fficiency, GSO and SWE-Perf on a git repository of our own: rows, patches in the sandbox, scores, reports."""

from __future__ import annotations

import json
import math
import shutil

import pytest
from suite_repository import FAST, ID, SCRIPT, SLOW, WORKLOAD, WRONG, Repository
from suite_rows import row, wrong

from whet.benchmarks.lab.base import Lab
from whet.benchmarks.results import Own
from whet.benchmarks.suites.base import NoTarget, Unusable
from whet.benchmarks.suites.gso import SUITE as GSO
from whet.benchmarks.suites.gso import Gso
from whet.benchmarks.suites.repositories.trees import added, outcomes, trees, usable
from whet.benchmarks.suites.swe_fficiency import ASKS, SweFficiency
from whet.benchmarks.suites.swe_fficiency import SUITE as FFICIENCY
from whet.benchmarks.suites.swe_perf import SUITE as PERF
from whet.benchmarks.suites.swe_perf import SwePerf
from whet.core.errors import UsageError
from whet.core.options import Options
from whet.sandbox.cores import measuring_cores

SUITES = [FFICIENCY, GSO, PERF]
QUICK = [SweFficiency(rounds=1), Gso(rounds=1), SwePerf(rounds=3)]
by_suite = pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)
by_quick_suite = pytest.mark.parametrize("suite", QUICK, ids=lambda suite: suite.name)


@pytest.fixture
def repository(tmp_path):
    return Repository(tmp_path / "root")


@pytest.fixture(scope="module")
def lab():
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    made = Lab(Options(sandbox="bubblewrap"))
    yield made
    made.close()


def figures(score):
    return {figure.name: figure.value for figure in score.figures}


# rows


@by_suite
def test_rows_are_read_beside_their_checkouts(suite, repository):
    (problem,) = suite.read(repository.write(repository.row())).problems

    assert (problem.id, problem.language, problem.unchanged, problem.group) == (ID, "diff", "", "toy/toylib")
    assert problem.known_best == (None if suite is GSO else repository.patch(FAST))
    with pytest.raises(NoTarget):
        suite.write_target(problem, repository.root)


@by_suite
def test_rows_that_cannot_be_used_are_told(suite, repository):
    bad = {"workload": 1, "tests": "no list", "efficiency_test": '["x"]'}
    root = repository.write(
        repository.row(),
        repository.row(instance_id="../../etc"),
        repository.row(instance_id="toy__toylib-2"),
        repository.row(**bad),
        repository.row(),
        {"instance_id": "of a version to come"},
        json.dumps(repository.row())[:-40],
    )
    reading = suite.read(root)

    assert [problem.id for problem in reading.problems] == [ID]
    assert [one.partition(":")[0] for one in sorted(reading.faults)] == [f"rows.jsonl, row {n}" for n in range(2, 8)]
    said = "\n".join(reading.faults)
    for words in (
        "no name of a folder",
        "prepare it at the base commit",
        "field '",
        "that of row 1 too",
        "no field 'repo'",
    ):
        assert words in said


@by_suite
def test_no_rows_and_a_checkout_that_is_a_link_elsewhere(suite, repository, tmp_path):
    with pytest.raises(UsageError, match="no rows"):
        suite.read(tmp_path)
    repository.checkout.rename(tmp_path / "elsewhere")
    repository.checkout.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="leads out"):
        suite.read(repository.write({**Repository(tmp_path / "other").row()}))


def test_tests_of_other_runners_are_told(repository):
    with pytest.raises(UsageError, match="not pytest's"):
        FFICIENCY.read(repository.write(repository.row(PASS_TO_PASS=["test_total"])))


@by_suite
def test_predictions_come_in_and_go_out(suite, tmp_path):
    rows = [row(suite.name, ID, 0, answer="a patch"), row(suite.name, ID, 1, answer="another")]
    rows.append(row(suite.name, "other", excluded="not here"))

    file = suite.export(rows, tmp_path)

    assert suite.answers(file, []) == {(ID, 0): "a patch", (ID, 1): "another"}
    file.write_text('{"instance_id": "x", "model_patch": null}\n{"instance_id": 3}\n')
    with pytest.raises(UsageError, match="row 2"):
        suite.answers(file, [])


# judging


@pytest.mark.corpus
@by_quick_suite
def test_a_faster_patch_is_applied_tested_timed_and_scored(suite, repository, lab):
    (problem,) = suite.read(repository.write(repository.row())).problems

    own = suite.judge(problem, repository.patch(FAST), lab)
    score = suite.score([row(suite.name, ID, 0, own), row(suite.name, "y", 0, None)])

    assert own.passed, own.reason
    (headline,) = [figure for figure in score.figures if figure.headline]
    assert headline.n == 2
    assert score.failed == 1
    # The expert takes no time at all here, so whether the patch reaches it is chance.
    assert own.figures["opt_base"] if suite.name == "gso" else headline.value > 0.0
    assert (repository.checkout / "toylib" / "__init__.py").read_text() == SLOW


@pytest.mark.corpus
@by_quick_suite
@pytest.mark.parametrize(
    ("text", "said"),
    [(None, "does not apply"), (WRONG, "fail"), ("raise SystemExit(3)\n", "")],
    ids=["no patch of this file", "wrong", "does not load"],
)
def test_patches_that_do_not_count_are_told_why(suite, repository, lab, text, said):
    (problem,) = suite.read(repository.write(repository.row())).problems
    patch = repository.patch(FAST).replace("result", "other") if text is None else repository.patch(text)

    own = suite.judge(problem, patch, lab)

    assert not own.passed
    assert own.reason
    assert said in own.reason


@pytest.mark.corpus
@by_quick_suite
def test_a_patch_cannot_leave_its_copy(suite, repository, lab, tmp_path):
    (problem,) = suite.read(repository.write(repository.row())).problems
    patch = "--- /dev/null\n+++ b/../../../../../../../../tmp/escaped\n@@ -0,0 +1 @@\n+here\n"

    own = suite.judge(problem, patch, lab)

    assert "does not apply" in own.reason


@pytest.mark.corpus
def test_a_patch_that_asks_who_called_it_is_refused(repository, lab):
    (problem,) = FFICIENCY.read(repository.write(repository.row())).problems
    own = QUICK[0].judge(problem, repository.patch(f"import sys\n\nsys._getframe(0)\n{FAST}"), lab)
    assert "asks who called it: sys._getframe" in own.reason


@pytest.mark.parametrize("line", ["inspect.stack()", "from inspect import stack", "frame.f_back", "gc.get_objects()"])
def test_what_asks_who_called(line):
    assert ASKS.search(line)
    assert not ASKS.search(line.replace("inspect", "inspected").replace("f_back", "back").replace("gc.", "gcd."))


@pytest.mark.corpus
@by_quick_suite
def test_a_row_whose_own_base_fails_is_excluded(suite, repository, lab):
    failing = {"PASS_TO_PASS": ["tests/test_total.py::test_none"], "tests": [f"{SCRIPT}\nraise SystemExit(2)\n"]}
    changed = repository.row(**failing, efficiency_test=["tests/test_total.py::test_none"])
    (problem,) = suite.read(repository.write(changed)).problems

    with pytest.raises(Unusable):
        suite.judge(problem, "", lab)


def test_an_expert_who_does_not_apply_or_is_not_there_excludes_the_row(repository, lab):
    changed = repository.row(patch="no patch\n", opt_commit="0" * 40)
    for suite, said in ((QUICK[0], "expert: the patch does not apply"), (QUICK[1], "cannot be checked out")):
        (problem,) = suite.read(repository.write(changed)).problems
        with pytest.raises(Unusable, match=said):
            suite.judge(problem, "", lab)


def test_copies_are_made_while_others_measure_and_what_is_timed_keeps_to_its_core(repository, lab):
    (problem,) = FFICIENCY.read(repository.write(repository.row())).problems
    asked = ["-c", "import os; print(*sorted(os.sched_getaffinity(0)))"]
    with measuring_cores(1) as cores, trees(lab, problem, {"base": ""}, {}) as made:
        (core,) = cores
        assert usable(made, "base").python(asked, 60.0, cores).stdout.split() == [str(core)]


@pytest.mark.corpus
def test_the_users_own_script_rebuilds_each_copy(repository, lab):
    (repository.checkout.parent / f"{ID}.sh").write_text("test -f toylib/__init__.py && touch rebuilt\n")
    workload = f"import pathlib\nassert pathlib.Path('rebuilt').exists()\n{WORKLOAD}"
    (problem,) = FFICIENCY.read(repository.write(repository.row(workload=workload))).problems

    assert QUICK[0].judge(problem, repository.patch(FAST), lab).passed


@pytest.mark.corpus
def test_a_mean_that_no_clock_out_here_saw_is_none(repository, lab):
    (problem,) = FFICIENCY.read(repository.write(repository.row())).problems
    forged = f"print('Mean: 1e9')\n{FAST}"
    assert "no mean, or several" in QUICK[0].judge(problem, repository.patch(forged), lab).reason


def test_lines_that_no_plugin_wrote_are_no_outcomes():
    good = '{"test": "a", "when": "call", "outcome": "passed", "duration": 0.5}'
    found = outcomes(f"{good}\nnot JSON\n[]\n{{}}\n{good.replace('call', 'teardown').replace('passed', 'failed')}\n")
    assert not found["a"].passed
    assert found["a"].seconds == 0.5
    assert len(found) == 1


def test_added_lines_of_a_patch():
    assert list(added("--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-old\n+new\n")) == [("x.py", "new")]


# scores


def test_swe_fficiency_counts_failures_as_no_change():
    rows = [
        row("s", name, 0, Own(True, "", {"before": 2.0, "after": 2.0 / ratio, "gold_speedup": 1.0}))
        for name, ratio in (("a", 2.0), ("b", 0.5))
    ]
    rows.append(row("s", "c", 0, wrong(before=3.0, gold_speedup=10.0)))

    found = figures(FFICIENCY.score(rows))

    assert found["SR"] == pytest.approx(3 / (0.5 + 2 + 10))
    assert found["correct"] == pytest.approx(200 / 3)


def test_gso_counts_runs_that_reach_the_commit():
    def own(reached):
        return Own(True, "", {"base": [2.0], "patch": [1.0], "commit": [1.0], "opt_base": True, "opt_commit": reached})

    rows = [row("g", "a", n, own(n < 3)) for n in range(10)]
    found = figures(GSO.score(rows))

    assert found["Opt@1"] == pytest.approx(30.0)
    assert found["Opt@3"] == pytest.approx(100 * (1 - 35 / 120))
    assert figures(GSO.score([*rows, row("g", "b", 0, wrong())]))["Opt@1"] == pytest.approx(15.0)


def test_swe_perf_counts_failures_as_zero():
    rows = [
        row("p", "a", 0, Own(True, "", {"applied": True, "gains": [0.2, 0.4]})),
        row("p", "b", 0, wrong(applied=True)),
    ]
    found = figures(PERF.score(rows))
    assert found == pytest.approx({"Performance": 0.15, "Apply": 1.0, "Correctness": 0.5})


# reports of others


def test_reports_of_swe_fficiency(tmp_path):
    file = tmp_path / "eval_report_x.csv"
    head = "instance_id,pred_speedup_ratio,gold_speedup_ratio,human_speedup_ratio,correctness\n"
    file.write_text(f"{head}a,2,1,2,1.0\nb,1,2,.5,0.0\nc,1,10,.1,1.0\n")

    score = FFICIENCY.imported(file)

    assert figures(score)["SR"] == pytest.approx(0.24)
    assert (score.failed, score.figures[0].n) == (1, 3)
    file.write_text(f"{head}a,2,1,2,1.0\nb,1,2,")
    with pytest.raises(UsageError, match="line 3"):
        FFICIENCY.imported(file)
    file.write_text("x,y\n1,2\n")
    assert FFICIENCY.imported(file) is None


def gso_report(**changes):
    means = {"base": [2.0, 4.0], "patch": [1.0, 1.0], "commit": [1.0, 1.0], "main": []}
    report = {
        "summary": {"total_instances": 4, "score": 25.0},
        "instance_sets": {"opt_commit_ids": ["a"], "opt_base_ids": ["a", "b"], "passed_ids": ["a", "b", "c"]},
        "opt_stats": {"a": {"per_test_means": means}},
    }
    return json.dumps({**report, **changes})


def test_reports_of_gso(tmp_path):
    file = tmp_path / "report.json"
    file.write_text(gso_report())
    score = GSO.imported(file)

    assert figures(score)["Opt@1"] == 25.0
    assert (score.failed, score.figures[0].note) == (1, "1 judged anew from their times")
    sets = {"opt_commit_ids": ["a"], "opt_base_ids": [], "passed_ids": ["a"], "hacked_ids": ["a"]}
    file.write_text(gso_report(instance_sets=sets))
    assert figures(GSO.imported(file))["Opt@1 without hacks"] == 0.0


def test_a_gso_report_that_its_own_times_contradict_is_told(tmp_path):
    slow = {"base": [2.0], "patch": [2.0], "commit": [1.0]}
    (tmp_path / "r.json").write_text(gso_report(opt_stats={"a": {"per_test_means": slow}}))
    assert "a otherwise" in GSO.imported(tmp_path / "r.json").figures[0].note


@pytest.mark.parametrize(
    "changes",
    [
        {"summary": {}},
        {"summary": {"total_instances": 1}},
        {"instance_sets": {}},
        {"opt_stats": {"a": {"per_test_means": {"base": [0.0], "patch": [1.0], "commit": [1.0]}}}},
    ],
)
def test_broken_reports_of_gso(tmp_path, changes):
    (tmp_path / "r.json").write_text(gso_report(**changes))
    with pytest.raises(UsageError):
        GSO.imported(tmp_path / "r.json")


def test_reports_of_swe_perf(tmp_path):
    file = tmp_path / "result.csv"
    head = "model,total,apply,correctness,performance,repo\n"
    file.write_text(f"{head}x,140,0.9,0.8,0.0225,total\nx,3,1,1,0.1,some/repo\n")

    score = PERF.imported(file)

    assert figures(score) == {"Performance": 0.0225, "Apply": 0.9, "Correctness": 0.8}
    assert score.failed == 28
    file.write_text(f"{head}x,140,0.9\n")
    with pytest.raises(UsageError, match="no single row"):
        PERF.imported(file)


@by_suite
def test_files_of_others_are_left_to_others(suite, tmp_path):
    for name, text in {"a.csv": "x,y\n1,2\n", "b.json": "{}", "c.json": "[", "d.txt": ""}.items():
        (tmp_path / name).write_text(text)
        assert suite.imported(tmp_path / name) is None


@by_suite
def test_nothing_counts_without_rows(suite):
    score = suite.score([])
    assert math.isnan(next(figure.value for figure in score.figures if figure.headline))
