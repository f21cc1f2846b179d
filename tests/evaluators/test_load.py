"""The oracle on a busy machine: it tries the same inputs as on an idle one, and finds the same."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import whet.evaluators
from whet.core.verdict import Reason
from whet.evaluators.finding import Fault, RungEndedError
from whet.evaluators.floats.judge import FEWEST_SAMPLES, FULL, SAMPLES, FloatJudge
from whet.evaluators.floats.leaves import Groups, leaves
from whet.evaluators.floats.reference import BITS
from whet.evaluators.patience import Patience
from whet.sandbox.protocol import CpuLimit
from whet.sandbox.session import UNCOUNTED_SECONDS, CpuDeadline

WITHOUT_A_CLOCK = (
    "costs.py",
    "differential.py",
    "examination.py",
    "examiner.py",
    "hazard.py",
    "hidden_state.py",
    "nulls.py",
    "oracle.py",
    "floats/error_scale.py",
    "floats/judge.py",
    "floats/native_reference.py",
    "floats/reference.py",
    "floats/rules.py",
    "inputs/counterexample.py",
    "inputs/edges.py",
    "inputs/plan.py",
    "inputs/rearranged.py",
    "inputs/shrink.py",
    "inputs/source.py",
    "needs/attack.py",
    "needs/breaking.py",
    "needs/vocabulary.py",
)
"""Modules that decide which inputs are tried and how strictly they are judged."""
CLOCKS = {"time", "datetime", "timeit", "signal", "sched"}

LIST = """\
sizes = [10, 40]
def make_input(size, rng):
    return ([rng.randrange(100) for _ in range(size)],)
"""
CHEAP = "def f(a):\n    return [x + 1 for x in a]\n"
# About 0.2 s of lists that no edit of a short one makes: three times more or less would be another class.
SLOW = """\
def f(a):
    total = 0
    for i in range(6_500_000 if len(a) >= 200 else 10):
        total += i & 3
    return sum(a) + total
"""
FLOATS = LIST.replace("rng.randrange(100)", "rng.gauss(0, 1)")
SUM = "def f(a):\n    total = 0.0\n    for x in a:\n        total += x * 0.1\n    return total\n"
BACKWARDS = SUM.replace("in a", "in reversed(a)")
LINES = """\
sizes = [3]
def make_input(size, rng):
    return " ".join(str(rng.randrange(100)) for _ in range(size)) + "\\n"
"""
PROGRAM = "import sys\nprint(sum(map(int, sys.stdin.read().split())))\n"

PAIRS = {
    "a cheap function": (CHEAP, LIST, "def f(a):\n    return [1 + x for x in a]\n", "f"),
    "a wrong cheap function": (CHEAP, LIST, "def f(a):\n    return [x + 1 for x in a if x != 7]\n", "f"),
    "a float function": (SUM, FLOATS, BACKWARDS, "f"),
    "a slow function": (SLOW, LIST.replace("40", "200"), SLOW + "\n", "f"),
    "a program": (PROGRAM, LINES, PROGRAM + "\n", None),
}


@contextmanager
def busy_cores() -> Iterator[None]:
    """Two processes on each core that never wait."""
    spin = "import os,sys\nos.sched_setaffinity(0,{int(sys.argv[1])})\nprint(flush=True)\nwhile True: pass"
    cores = sorted(os.sched_getaffinity(0)) * 2
    spinning = [subprocess.Popen([sys.executable, "-c", spin, str(core)], stdout=subprocess.PIPE) for core in cores]
    try:
        for one in spinning:
            assert one.stdout is not None
            assert one.stdout.readline()
        yield
    finally:
        for one in spinning:
            one.kill()
            one.communicate()


LONG = ("a slow function", "a program")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.corpus if name in LONG else ()) for name in PAIRS]
)
def test_the_same_inputs_and_the_same_verdict_on_a_busy_machine(rung, name: str) -> None:
    baseline, workload, candidate, symbol = PAIRS[name]
    ask = {"symbol": symbol, "seed": 20, "refined": symbol is not None}
    idle = rung(baseline, workload, candidate, **ask)
    with busy_cores():
        busy = rung(baseline, workload, candidate, **ask)
    assert busy.evidence["cut"] == idle.evidence["cut"]
    assert busy == idle
    assert (idle.fault is not None) == ("wrong" in name)
    assert len(idle.evidence["hashes"]) == idle.evidence["inputs"] > 0
    if "float" in name:
        assert idle.evidence["floats"]["inputs_with_other_bits"], "it is no test if the bits never differ"
    if "slow" in name:
        assert idle.evidence["cut"]["drawn"]["tried"] < idle.evidence["cut"]["drawn"]["planned"]


@pytest.mark.parametrize("module", WITHOUT_A_CLOCK)
def test_what_decides_about_inputs_reads_no_clock(module: str) -> None:
    text = (Path(whet.evaluators.__file__).parent / module).read_text(encoding="utf-8")
    imported = {
        name.name.partition(".")[0]
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([ast.alias(node.module or "")] if isinstance(node, ast.ImportFrom) else node.names)
    }
    assert not imported & CLOCKS


class Slow:
    """A reference that says that the baseline's 1.0 is off by some units of its last place."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.used = 0.0
        self.runs = 0

    def truth(self, payload: bytes, bits: int = BITS, arguments: bool = True) -> Groups | None:
        self.used += self.seconds
        self.runs += 1
        return leaves(1.0 + 2.0**-49, "result")

    def near(self, payload: bytes, seed: int) -> tuple[bytes, float] | None:
        return payload, 1.0

    def plain(self, payload: bytes) -> Groups | None:
        return leaves(1.0, "result")

    def spent(self) -> float:
        return self.used

    def close(self) -> None:
        pass


def accepted(judge: FloatJudge, ulps: float) -> bool:
    return not judge.where(b"input", leaves(1.0, "result"), leaves(1.0 + ulps * 2.0**-52, "result"))


@pytest.mark.parametrize("seconds", [0.0, 0.03, 0.5, 100.0])
def test_the_bound_of_floats_does_not_move_with_the_time_that_judging_takes(seconds: float) -> None:
    # Off by 8 ulp itself, the baseline allows 4 * 8 + 4 beyond the truth: 44 ulp above its own outcome.
    judge = FloatJudge(4.0, Slow(seconds))
    for _ in range(FULL + 2):
        assert accepted(judge, 40)
        assert not accepted(judge, 50)
    seen = judge.evidence()
    assert seen["worst_share_of_allowed"] > 1


def test_a_slow_reference_is_asked_less_often_and_never_less_than_the_floor() -> None:
    runs = {}
    for seconds in (0.01, 1.0):
        reference = Slow(seconds)
        judge = FloatJudge(4.0, reference)
        for _ in range(FULL + 2):
            assert accepted(judge, 20)  # within the share of what was allowed that needs no closer look
        runs[seconds] = (reference.runs, judge.evidence()["judged_by_earlier_inputs"])
    assert runs == {0.01: (FULL * (1 + SAMPLES), 2), 1.0: (1 + FEWEST_SAMPLES, FULL + 1)}


def test_after_the_first_inputs_no_more_samples_are_taken_than_show_that_a_float_is_right() -> None:
    reference = Slow(0.01)
    judge = FloatJudge(4.0, reference)
    for _ in range(FULL):
        assert accepted(judge, 40)
    assert reference.runs == FULL * (1 + SAMPLES)
    assert accepted(judge, 40)  # too far off for a glance; right by the truth alone
    assert reference.runs == FULL * (1 + SAMPLES) + 1
    assert not accepted(judge, 50)  # what is wrong is so by all samples
    assert reference.runs == (FULL + 1) * (1 + SAMPLES) + 1
    assert judge.evidence()["judged_by_few_samples"] == 1


def test_patience_ends_a_candidate_that_takes_too_long_for_all_inputs_together() -> None:
    assert list(Patience(60.0).over(iter(range(5)))) == list(range(5))
    with pytest.raises(RungEndedError) as ended:
        list(Patience(0.0).over(iter(range(5))))
    assert isinstance(ended.value.finding, Fault)
    assert ended.value.finding.reason is Reason.TIMEOUT


def test_a_candidate_that_takes_too_long_is_late_and_not_tried_on_fewer_inputs(rung, monkeypatch) -> None:
    monkeypatch.setattr("whet.evaluators.patience.CALLS", 0.0)
    found = rung(CHEAP, LIST, CHEAP)
    assert found.fault is not None
    assert found.fault.reason is Reason.TIMEOUT
    assert "all inputs together" in found.fault.detail


class Child:
    """A process that has used so many CPU seconds each time that somebody looks."""

    def __init__(self, *used: float | None) -> None:
        self.used = iter(used)

    def cpu(self) -> float | None:
        return next(self.used)


def test_a_limit_of_cpu_time_comes_no_nearer_while_a_process_waits_for_a_core(monkeypatch) -> None:
    monkeypatch.setattr("whet.sandbox.session.UNCOUNTED_SECONDS", 0.0)
    deadline = CpuDeadline(Child(10.0, 10.0, 10.5, 11.0), CpuLimit(1.0))  # type: ignore[arg-type]
    assert [deadline.left() for _ in range(4)] == [1.0, 1.0, 0.5, 0.0]


def test_an_answer_that_comes_at_once_asks_for_no_cpu_time() -> None:
    deadline = CpuDeadline(Child(), CpuLimit(1.0))  # type: ignore[arg-type]
    assert 0 < deadline.left() <= UNCOUNTED_SECONDS


def test_where_no_cpu_time_is_told_the_clock_ends_the_wait(monkeypatch) -> None:
    monkeypatch.setattr("whet.sandbox.session.UNCOUNTED_SECONDS", 0.0)
    deadline = CpuDeadline(Child(None, None), CpuLimit(0.0))  # type: ignore[arg-type]
    assert deadline.left() <= 0
    assert CpuLimit(2.0).wall > 2.0
