"""Whet's own tasks as a suite: its own rule is whet's verdict."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from paths import ROOT
from test_bench_rows import RESULT, row

from whet.benchmarks import audits
from whet.benchmarks.lab.base import Lab
from whet.benchmarks.results import Own
from whet.benchmarks.suites.base import ByVerdict, Unusable
from whet.benchmarks.suites.whetbench import SUITE
from whet.core.errors import UsageError
from whet.core.options import Options
from whet.evaluators.targets import read_task

PROBLEMS = {problem.id: problem for problem in SUITE.read(Path()).problems}


def result(ratio=None, status="improved", **words):
    speedup = None if ratio is None else {"ratio": ratio, "metric": "time"}
    return {**RESULT, "status": status, "speedup": speedup, **words}


def test_every_task_is_there_with_its_best_version():
    assert len(PROBLEMS) >= 100
    assert PROBLEMS["kernels/norm-gelu-backward"].needs == PROBLEMS["kernels/cg"].needs == "torch"
    assert PROBLEMS["ptx/saxpy"].needs == "cuda"
    assert set(Counter(one.group for one in PROBLEMS.values())) == {"python", "cpp", "asm", "kernels", "command"}
    assert all(one.known_best and one.known_best != one.unchanged for one in PROBLEMS.values())
    assert {id.partition("/")[0] for id in PROBLEMS if "/" in id} == {
        "asm",
        "kernels",
        "ptx",
        "command",
        "hpc",
        "held-out",
    }
    assert all(one.unchanged for one in PROBLEMS.values() if one.group != "asm")
    assert len({one.digest for one in PROBLEMS.values()}) == len(PROBLEMS)
    assert isinstance(SUITE, ByVerdict)


def test_the_demonstration_of_the_leaderboard_names_tasks_that_there_are():
    (line,) = re.findall(r"^BOARD_TASKS \?= (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert len(line.split(",")) >= 3
    assert set(line.split(",")) <= set(PROBLEMS)


def test_workloads_from_the_literature_are_tasks_whose_oracles_let_no_fault_through():
    assert set(audits.LITERATURE) <= set(PROBLEMS)
    known = audits.records()
    assert set(known) <= set(audits.LITERATURE)
    for id, record in known.items():
        assert (id, record.accepted, audits.unexcused(id, record)) == (id, (), ())
        assert record.nulls >= 5
        assert record.ran >= 5


@pytest.mark.parametrize("id", ["dedup-events", "word-counts", "kernels/column-energy-native", "held-out/error-bursts"])
def test_a_target_holds_none_of_the_known_answers(id, tmp_path):
    task = read_task(SUITE.write_target(PROBLEMS[id], tmp_path), Options())
    assert task.source == PROBLEMS[id].unchanged
    names = {path.name for path in tmp_path.rglob("*")}
    assert not any(name.startswith(("best", "answers", "task.md", "cuda", "triton")) for name in names)
    best = PROBLEMS[id].known_best
    assert not any(best in path.read_text() for path in tmp_path.rglob("*") if path.is_file())


def test_an_unknown_task_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"no task '\.\./\.\./etc'"):
        SUITE.write_target(replace(PROBLEMS["dedup-events"], id="../../etc"), tmp_path)


def test_the_own_rule_is_the_verdict():
    assert SUITE.own_of(result(3.0)) == Own(True, "", {"speedup": 3.0, "improved": True}, "x", "clock")
    unshown = SUITE.own_of(result(1.2, "no_improvement"))
    assert (unshown.passed, unshown.figures["speedup"]) == (True, 1.0)
    wrong = SUITE.own_of(result(None, "rejected", message="differential: wrong_output"))
    assert (wrong.passed, wrong.reason, wrong.figures["speedup"]) == (False, "differential: wrong_output", 1.0)
    assert not SUITE.own_of(result(None, "no_improvement", candidate=None)).passed
    with pytest.raises(Unusable, match="too short"):
        SUITE.own_of(result(None, "baseline_invalid", message="too short to time"))


def test_failures_and_what_is_not_confirmed_count_as_one():
    def judged(problem, found, sample=0, **words):
        own = None if found is None or words else SUITE.own_of(found)
        return row(problem, sample, own=own, result=found, **words)

    rows = [
        judged("a", result(4.0)),
        judged("b", result(9.0, "no_improvement")),
        judged("c", result(None, "rejected", message="wrong")),
        judged("d", None),
        judged("e", result(5.0), excluded="too short to time"),
    ]
    score = SUITE.score(rows)
    figures = {figure.name: figure for figure in score.figures}
    assert figures["speedup"].headline
    assert figures["speedup"].value == pytest.approx(4.0**0.25)
    assert figures["speedup"].n == 4
    assert figures["speedup"].low <= figures["speedup"].value <= figures["speedup"].high
    assert (figures["improved"].value, figures["right"].value) == (25.0, 50.0)
    assert (score.failed, score.excluded) == (2, {"e": "too short to time"})
    assert score.spread == (1.0, 1.0, 1.0, 1.75, 4.0)
    twice = SUITE.score([*rows[:4], *(judged(id, result(4.0), 1) for id in "abcd")])
    figures = {figure.name: figure for figure in twice.figures}
    assert figures["speedup"].value == pytest.approx((4 * 2 * 2 * 2) ** 0.25)
    assert figures["speedup, best of 2"].value == pytest.approx(4.0)
    empty = SUITE.score([])
    assert empty.figures[0].value != empty.figures[0].value


@pytest.mark.corpus
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_an_answer_can_be_judged_without_the_runner():
    problem = PROBLEMS["dedup-events"]
    with closing(Lab(Options(until="differential", seed=7))) as lab:
        assert SUITE.judge(problem, problem.known_best, lab).passed
        wrong = SUITE.judge(problem, problem.unchanged.replace("return", "return not"), lab)
        assert not wrong.passed
