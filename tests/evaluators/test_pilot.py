"""Pilots of rewrites that are confirmed at once: what they may decide, and what they may not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from whet.core.candidate import Candidate
from whet.core.measurement import Measurement
from whet.core.options import Options
from whet.core.task import Kind, Task
from whet.core.verdict import Reason, RungStatus, Verdict
from whet.evaluators.climbing.timing import Timing
from whet.evaluators.finding import Fault, RungEndedError, found_by
from whet.evaluators.meters.time import TIME
from whet.evaluators.processes import Pass
from whet.evaluators.rungs import Timed
from whet.evaluators.timing.decision import Rule
from whet.evaluators.timing.measuring import shown_at_once
from whet.evaluators.timing.plan import LARGE, TimingPlan, pilot
from whet.evaluators.timing.statistics import NOISY
from whet.evaluators.timing.turns import Turn
from whet.evaluators.timing.workloads import TimedWorkload

HANDOVER = 0.0002
TOUCHED = Fault(Reason.CHEATING, "its process says 8 ms in the calls, the clock outside 24 ms")
WRONG = Fault(Reason.WRONG_OUTPUT, "wrong")


def at_once(gain: float, waited: float = 0.0, beside: float = 0.0) -> Measurement | None:
    """Returns the gain that a turn shows by itself, where it is enough."""
    seconds = {"baseline": 0.025, "candidate": 0.025 / gain + beside, "again": 0.025}
    told = {
        side: Pass(each + HANDOVER, each, each, (), ran=each + HANDOVER - waited, waited=waited)
        for side, each in seconds.items()
    }
    told["candidate"] = replace(told["candidate"], inside=0.025 / gain)
    works = (TimedWorkload("a", 8, lambda seed, count: [], repeats=1),)
    plan = TimingPlan(pilot(0.99), provisional=True)
    return shown_at_once(Turn((), 0.0, {"a": told}), works, plan, Rule(1.0, 0.99, "", TIME))


def test_a_large_gain_is_seen_in_the_turn_that_shows_the_rounds_and_a_small_one_is_not() -> None:
    for gain in (4.0, 1.01 * LARGE):
        found = at_once(gain)
        assert found is not None
        assert found.speedup.ratio == pytest.approx(gain)
        assert found.speedup.processes == 1
    assert at_once(0.99 * LARGE) is None
    assert at_once(0.5) is None


def test_nothing_is_seen_in_a_turn_that_the_machine_disturbed() -> None:
    assert at_once(4.0, waited=0.01) is None
    assert at_once(4.0, waited=0.01, beside=0.02) is None


def test_no_gain_is_seen_in_a_turn_whose_clocks_disagree() -> None:
    found = found_by(lambda: at_once(4.0, beside=0.02))
    assert isinstance(found, Fault)
    assert found.reason is Reason.CHEATING


class Scripted:
    """Finds what a script says: in the pilot, then with all looks."""

    names = ("time",)

    def __init__(self, *script: Fault | Measurement) -> None:
        self.script = list(script)
        self.plans: list[TimingPlan] = []

    def timed(self, name: str, candidate: Candidate, baseline: Any, plan: TimingPlan, seed: int) -> Timed:
        self.plans.append(plan)
        found = self.script.pop(0)
        if isinstance(found, Fault):
            raise RungEndedError(found)
        return Timed(found)


def measured(metrics: Any) -> Verdict:
    task = Task("f", "python", Kind.FUNCTION, Path("f.py"), "", "f", Path())
    none: Any = None
    timing = Timing(task, Options(), 1, metrics, None, lambda: none, lambda: none)
    candidate = Candidate("def f(): pass\n")
    return timing.measure_alone(candidate, Verdict(candidate.id, ()), NOISY.verdict)


def test_a_pilot_accuses_nobody_of_cheating_and_all_looks_are_taken() -> None:
    faster = at_once(4.0)
    assert faster is not None
    metrics = Scripted(TOUCHED, faster)
    verdict = measured(metrics)
    assert verdict.measurement is faster
    (rung,) = verdict.rungs
    assert (rung.name, rung.status) == ("measure", RungStatus.PASSED)
    assert [(plan.provisional, plan.stages) for plan in metrics.plans] == [(True, pilot(0.99)), (False, NOISY.verdict)]


def test_what_cheats_in_all_looks_too_is_cheating() -> None:
    fallen = measured(Scripted(TOUCHED, TOUCHED)).failed
    assert fallen is not None
    assert (fallen.name, fallen.reason, fallen.detail) == ("measure", Reason.CHEATING, TOUCHED.detail)


def test_what_is_wrong_in_a_pilot_is_wrong() -> None:
    metrics = Scripted(WRONG)
    fallen = measured(metrics).failed
    assert fallen is not None
    assert fallen.reason is Reason.WRONG_OUTPUT
    assert len(metrics.plans) == 1
