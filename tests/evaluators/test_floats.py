"""Floats are judged by the baseline's own error: honest rewrites pass, fewer bits, shortcuts and zeros do not."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from whet.benchmarks.self.floats import RewriteResult, judge, row, summary
from whet.benchmarks.self.rewrites import HONEST, WRONG, FloatRewrite
from whet.core.options import Options
from whet.evaluators.floats.judge import FloatJudge
from whet.evaluators.floats.leaves import FloatGroup, Groups, leaves, wide
from whet.evaluators.floats.reference import BITS, PythonReference
from whet.evaluators.floats.rules import Allowance, beyond
from whet.evaluators.ladder import open_ladder
from whet.evaluators.targets import read_task
from whet.sandbox.backends import open_sandbox
from whet.sandbox.protocol import Sandbox

isolated = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    opened = open_sandbox("bubblewrap", False)
    yield opened
    opened.close()


def test_an_error_beyond_all_numbers_is_told_without_a_warning() -> None:
    single = [np.array([1.0, one], np.float32) for one in (2.0, 3.0)]
    ours, theirs = ({"result": FloatGroup("float32", [values], [("result", (2,))])} for values in single)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        said = beyond(ours, theirs, lambda _, group: Allowance(wide(group.values()), np.zeros(2), np.zeros(2)))
    assert said == "result: element 1 of (2,): expected 2.0, got 3.0 (off by 1, allowed 0)"


def judged(sandbox: Sandbox, pair: FloatRewrite, inputs: int) -> RewriteResult:
    if pair.lacking:
        pytest.skip(f"torch is not installed: {pair.lacking}")
    return judge(sandbox, pair, inputs)


@pytest.mark.corpus
@isolated
@pytest.mark.parametrize("name", HONEST)
def test_an_honest_rewrite_passes(sandbox: Sandbox, name: str) -> None:
    found = judged(sandbox, HONEST[name], 3 if "torch" in name else 6)
    assert (found.rejected, found.rejected_in_a_run, found.said) == (0, 0, "")
    assert found.differed > 0, "it is no test if the bits never differ"
    assert found.share <= 1


@pytest.mark.corpus
@isolated
@pytest.mark.parametrize("name", WRONG)
def test_what_has_fewer_right_digits_does_not_pass(sandbox: Sandbox, name: str) -> None:
    found = judged(sandbox, WRONG[name], 3 if "bfloat16" in name else 1)  # its own error is large at many an input
    assert found.rejected
    assert found.rejected_in_a_run
    assert "expected" in found.said


@pytest.mark.corpus
@isolated
def test_a_judge_of_a_whole_run_rejects_as_one_that_knows_of_no_other_input(sandbox: Sandbox) -> None:
    found = judge(sandbox, WRONG["`float32` within a sum"], 8)
    assert (found.differed, found.full, found.rejected, found.rejected_in_a_run) == (8, 8, 8, 8)
    assert found.share > 1


HARMLESS = RewriteResult(1000, 950, 500, 0, 0, 5.6, 0.83)
REJECTED = RewriteResult(100, 100, 100, 100, 100, 42.0, 4.5, "expected 1.0")


METHOD = """\
class Scale:
    def __init__(self, factor):
        self.factor = factor

    def total(self, values):
        sum = 0.0
        for value in values:
            sum += value / 3 * self.factor
        return sum * 0.1
"""
METHOD_WORKLOAD = """\
sizes = [10]


def make_input(size, rng):
    return {"init": (rng.random(),), "args": ([rng.random() for _ in range(size)],)}
"""


@isolated
def test_what_stands_in_a_class_has_a_reference_too(tmp_path: Path) -> None:
    (tmp_path / "target.py").write_text(METHOD)
    (tmp_path / "workload.py").write_text(METHOD_WORKLOAD)
    options = Options(sandbox="bubblewrap", until="differential", workload=tmp_path / "workload.py")
    task = read_task(f"{tmp_path / 'target.py'}::Scale.total", options)
    with closing(open_ladder(task, options, seed=7)) as ladder, closing(PythonReference(ladder.builder)) as reference:
        (item,) = ladder.source.draw(10, [1])
        truth = reference.truth(item.payload)
        assert truth is not None
        assert truth.keys() >= {"result"}


class ExactOne:
    """A reference that says that the baseline's 1.0 is exact, on inputs of some size."""

    def truth(self, payload: bytes, bits: int = BITS, arguments: bool = True) -> Groups | None:
        return leaves(1.0, "result")

    def near(self, payload: bytes, seed: int) -> tuple[bytes, float] | None:
        return payload, 100.0

    def plain(self, payload: bytes) -> Groups | None:
        return leaves(1.0, "result")

    def spent(self) -> float:
        return 0.0

    def close(self) -> None:
        pass


def test_what_is_far_wrong_excuses_no_later_candidate() -> None:
    judge = FloatJudge(4.0, ExactOne())
    for wrong in (3.0, -1.0, 2.0, 1.5, 1.0 + 1e-9):
        assert judge.where(b"input", leaves(1.0, "result"), leaves(wrong, "result")), wrong
    assert judge.evidence()["judged_by_earlier_inputs"] == 0


def test_the_report_says_which_goal_is_missed() -> None:
    assert list(summary({"a": HARMLESS}, {"b": REJECTED})) == [
        "false rejections: 0 of 1000 inputs",
        "wrong rewrites accepted: 0 of 1",
        "goals met: no false rejection, every wrong rewrite rejected",
    ]
    assert list(summary({"a": HARMLESS, "b": REJECTED}, {"c": HARMLESS, "d": REJECTED})) == [
        "false rejections: 100 of 1100 inputs",
        "wrong rewrites accepted: 1 of 2",
        "goals MISSED: b was rejected; c was accepted",
    ]


def test_what_passes_in_a_run_is_accepted_whatever_a_closer_look_finds() -> None:
    glanced = RewriteResult(100, 100, 100, 100, 0, 42.0, 4.5, "expected 1.0")
    assert list(summary({}, {"a": glanced}))[-1] == "goals MISSED: a was accepted"


def test_a_row_has_no_ratio_where_nothing_was_judged_in_full() -> None:
    assert row("a", HARMLESS) == "| a | 1000 | 950 | 500 | 0 | 0 | 5.6 | 0.83 |"
    assert row("a", RewriteResult(3, 3, 0, 3, 3, 0.0, 0.0)) == "| a | 3 | 3 | 0 | 3 | 3 | | |"
