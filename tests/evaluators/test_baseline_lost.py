"""A baseline that fails, or differs from itself, after it was validated: no candidate is rejected for that."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import whet
from whet.agents.learning.rewards import UNJUDGED, outcome_of, reward_of
from whet.core.candidate import Candidate
from whet.core.events import Event
from whet.core.options import Options
from whet.core.result import Status, status_of
from whet.core.store import Store
from whet.core.verdict import Reason, Rung, RungStatus, Verdict
from whet.evaluators.artifacts import Builder
from whet.evaluators.evidence.consistency import contradictions
from whet.evaluators.evidence.record import bundle_of
from whet.evaluators.finding import BaselineLost, Fault, RungEndedError
from whet.evaluators.judged import climb as judged_climb
from whet.evaluators.ladder import Ladder, open_ladder
from whet.evaluators.meters.base import Meter
from whet.evaluators.processes import Pass
from whet.evaluators.rungs import ended, with_the_baseline
from whet.evaluators.targets import read_task
from whet.testing.scripted_meter import Script, ScriptedInstruments, ScriptedMeter

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

WORKLOAD = """\
sizes = [4, 20]
def make_input(size, rng):
    return ([rng.randrange(100) for _ in range(size)],)
"""
GOOD = "def f(values):\n    return [value + 1 for value in values]\n"
WRONG = "def f(values):\n    return [value + 2 for value in values]\n"
LOST = BaselineLost(Reason.NONDETERMINISTIC, "the baseline: no answer within 10 s")


def hash_under(seed: int) -> int:
    """Returns the hash of a text under a PYTHONHASHSEED: what a process can tell its hash seed by."""
    command = [sys.executable, "-c", "print(hash('whet'))"]
    return int(subprocess.run(command, env={"PYTHONHASHSEED": str(seed)}, capture_output=True, check=True).stdout)


def odd(found: str, *seeds: int) -> str:
    """Returns a baseline that does something else in processes that have none of these hash seeds."""
    usual = {hash_under(seed) for seed in seeds}
    return (
        f"import os\nODD = hash('whet') not in {usual}\n{GOOD.replace('return', f'if ODD: {found}{chr(10)}    return')}"
    )


# The differential rung


@pytest.mark.parametrize(
    ("found", "said"), [("values = [1]", "two processes of the baseline differ"), ("os._exit(3)", "the baseline: ")]
)
@pytest.mark.corpus(one_in=8)
def test_a_baseline_that_is_odd_in_one_process_is_not_held_against_a_candidate(
    rung: Callable[..., Any], found: str, said: str
) -> None:
    for candidate in (GOOD, WRONG):
        # The rung's processes have hash seed 7; the fresh ones that it asks have 1.
        compared = rung(odd(found, 1, 2), WORKLOAD, candidate, seed=5)
        assert isinstance(compared.fault, BaselineLost)
        assert compared.fault.reason is Reason.NONDETERMINISTIC
        assert said in compared.fault.detail


def test_where_the_baseline_agrees_with_itself_the_candidate_is_wrong(rung: Callable[..., Any]) -> None:
    found = rung(GOOD, WORKLOAD, WRONG, seed=5).fault
    assert not isinstance(found, BaselineLost)
    assert found.reason is Reason.WRONG_OUTPUT


def test_a_check_that_loses_the_baseline_is_made_once_more() -> None:
    wrong = Fault(Reason.WRONG_OUTPUT, "3, not 4")
    for found in ([wrong], [LOST, wrong], [LOST, LOST]):
        left, asked = list(found), []

        def check(seed: int, left: list[Fault] = left, asked: list[int] = asked) -> None:
            asked.append(seed)
            raise RungEndedError(left.pop(0))

        with pytest.raises(RungEndedError) as raised:
            with_the_baseline(7, check)
        assert raised.value.finding is found[-1]
        assert (asked[0], len(asked), len(set(asked))) == (7, len(found), len(found))


def verdict_of(**rungs: Rung) -> Verdict:
    return Verdict("id", tuple(rungs.values()))


def test_what_the_baseline_left_undecided_is_neither_right_nor_rejected() -> None:
    at_differential = verdict_of(differential=ended("differential", LOST, 0.1))
    assert not at_differential.correct
    assert not at_differential.rejected
    assert (reward_of(at_differential), outcome_of(at_differential)) == (UNJUDGED, "untimed")
    assert status_of(at_differential) is Status.NO_IMPROVEMENT
    at_measure = verdict_of(differential=Rung("differential", RungStatus.PASSED), measure=ended("measure", LOST, 0.1))
    assert at_measure.correct
    assert status_of(at_measure) is Status.NO_IMPROVEMENT
    proof = Rung("prove", RungStatus.INCONCLUSIVE, detail="too many paths")
    assert verdict_of(prove=proof).undecided is None
    assert verdict_of(prove=proof).correct


@pytest.mark.corpus(one_in=8)
def test_verify_says_that_nothing_was_decided(tmp_path: Path, scripted: Callable[..., None]) -> None:
    scripted(ratio=2.0)
    (tmp_path / "target.py").write_text(odd("values = [1]", 1, 2))
    (tmp_path / "workload.py").write_text(WORKLOAD)
    (tmp_path / "candidate.py").write_text(GOOD)
    home = tmp_path / "home"
    result = whet.verify(f"{tmp_path}/target.py::f", candidate=tmp_path / "candidate.py", home=home, seed=1)
    assert (result.status, result.speedup) == (Status.NO_IMPROVEMENT, None)
    assert result.message.startswith("not decided at differential: two processes of the baseline differ")
    last = result.rungs[-1]
    assert (last.name, last.status, last.reason) == ("differential", RungStatus.INCONCLUSIVE, Reason.NONDETERMINISTIC)
    with closing(Store(home)) as store:
        assert contradictions(bundle_of(store, result.run)) == []


# The timed rungs


class Planted(ScriptedInstruments):
    """Scripted figures, and real processes of which a test may replace what they gave.

    Attributes:
        plant: takes how many processes it had fail, a side and its passes; returns what is taken for them.
    """

    def __init__(self, script: Script) -> None:
        super().__init__(script)
        self.begin(nothing)

    def begin(self, plant: Callable[[int, str, Mapping[str, Pass]], Mapping[str, Pass] | Fault]) -> None:
        self.plant, self.failed = plant, 0

    def meter(self, name: str, builder: Builder) -> Meter:
        return PlantedMeter(super().meter(name, builder), self._script, self)


class PlantedMeter(ScriptedMeter):
    def __init__(self, real: Meter, script: Script, planted: Planted) -> None:
        super().__init__(real, script)
        self.planted = planted

    def take(self, *given: Any) -> Mapping[str, Pass] | Fault:
        found = super().take(*given)
        assert not isinstance(found, Fault)
        planted = self.planted.plant(self.planted.failed, given[-1].side, found)
        self.planted.failed += isinstance(planted, Fault)
        return planted


@pytest.fixture(scope="module")
def planted() -> Planted:
    return Planted(Script(ratio=2.0))


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory, planted: Planted) -> Iterator[tuple[Ladder, Candidate, Verdict]]:
    folder = tmp_path_factory.mktemp("task")
    (folder / "target.py").write_text(GOOD)
    (folder / "workload.py").write_text(WORKLOAD)
    task = read_task(f"{folder}/target.py::f", Options())
    with closing(open_ladder(task, Options(), 1, instruments=planted)) as ladder:
        ladder.validate()
        candidate = Candidate(GOOD.replace("value + 1", "1 + value"), None, "test")
        yield ladder, candidate, ladder.check(candidate)


def nothing(failed: int, side: str, found: Mapping[str, Pass]) -> Mapping[str, Pass]:
    return found


def once(failed: int, side: str, found: Mapping[str, Pass]) -> Mapping[str, Pass] | Fault:
    return found if failed else late(failed, side, found)


def late(failed: int, side: str, found: Mapping[str, Pass]) -> Mapping[str, Pass] | Fault:
    return found if side == "candidate" else Fault(Reason.TIMEOUT, "no answer within 10 s")


def mixed(failed: int, side: str, found: Mapping[str, Pass]) -> Mapping[str, Pass]:
    """Gives the baseline the outcomes of other inputs; its second process in the turn has its own."""
    if side != "baseline":
        return found
    return {name: replace(one, outcomes=one.outcomes[::-1]) for name, one in found.items()}


def wrong(failed: int, side: str, found: Mapping[str, Pass]) -> Mapping[str, Pass]:
    return mixed(failed, "baseline" if side == "candidate" else "", found)


@pytest.mark.parametrize(
    ("name", "plant", "status", "reason"),
    [
        ("measure", once, RungStatus.PASSED, None),
        ("measure", late, RungStatus.INCONCLUSIVE, Reason.NONDETERMINISTIC),
        ("measure", mixed, RungStatus.INCONCLUSIVE, Reason.NONDETERMINISTIC),
        ("measure", wrong, RungStatus.FAILED, Reason.WRONG_OUTPUT),
        ("confirm", late, RungStatus.INCONCLUSIVE, Reason.NONDETERMINISTIC),
    ],
)
def test_a_timed_rung_that_loses_the_baseline_is_repeated_and_then_left_undecided(
    checked: tuple[Ladder, Candidate, Verdict],
    planted: Planted,
    name: str,
    plant: Callable[..., Any],
    status: RungStatus,
    reason: Reason | None,
) -> None:
    ladder, candidate, verdict = checked
    planted.begin(plant)
    climb = {"measure": ladder.measure_alone, "confirm": ladder.confirm}[name]
    found = climb(candidate, verdict)
    last = found.rungs[-1]
    assert (last.name, last.status, last.reason) == (name, status, reason)
    assert (status_of(found) is Status.REJECTED) == (plant is wrong)


@pytest.mark.parametrize("planting", [late, nothing])
def test_what_is_not_decided_where_it_is_confirmed_has_no_figure(
    checked: tuple[Ladder, Candidate, Verdict], planted: Planted, planting: Callable[..., Any]
) -> None:
    ladder, candidate, _ = checked

    planted.begin(nothing)

    def hear(event: Event) -> None:
        if event.data.get("state") == "confirming":
            planted.begin(planting)

    found = judged_climb(ladder, candidate, hear)
    assert (found.undecided is None) == (planting is nothing)
    assert (found.measurement is None) == (planting is late)
