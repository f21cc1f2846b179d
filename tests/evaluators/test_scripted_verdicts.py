"""From a right candidate to its verdict, evidence and report, with figures that a script wrote down."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from unique import GOOD, SLOW, workload
from work import answer

import whet
from whet.agents.optimize import replay
from whet.cli.render import result_lines
from whet.cli.report.page import page
from whet.core.candidate import Candidate
from whet.core.errors import UsageError
from whet.core.measurement import Outcome
from whet.core.options import Options
from whet.core.plain import to_plain
from whet.core.result import Result, Status
from whet.core.store import Store
from whet.core.verdict import Reason, Rung, RungStatus, Verdict
from whet.evaluators.evidence.consistency import contradictions
from whet.evaluators.evidence.record import bundle_of
from whet.evaluators.finding import Fault
from whet.evaluators.ladder import Ladder, open_ladder
from whet.evaluators.targets import read_task
from whet.evaluators.timing.plan import PILOT_TURNS, pilot
from whet.testing.scripted import ScriptedModel
from whet.testing.scripted_meter import BRIEF, Script, ScriptedInstruments

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

WORKLOAD = workload(4, 20, 40)
Scripted = Callable[..., None]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("task")
    (folder / "slow.py").write_text(SLOW)
    (folder / "workload.py").write_text(WORKLOAD)
    return folder


def judge(folder: Path, home: Path, candidate: str = GOOD, **options: Any) -> Result:
    path = home.with_name("candidate.py")
    path.write_text(candidate)
    return whet.verify(f"{folder}/slow.py::unique", candidate=path, home=home, **{"seed": 1, **options})


def rung_of(result: Result, name: str) -> Rung:
    (rung,) = (rung for rung in result.rungs if rung.name == name)
    return rung


def reason(result: Result) -> Reason | None:
    return next((rung.reason for rung in result.rungs if rung.status is RungStatus.FAILED), None)


def scripted_ladder(folder: Path, script: Script, **options: Any) -> Ladder:
    settings = Options(**options)
    task = read_task(f"{folder}/slow.py::unique", settings)
    return open_ladder(task, settings, 1, instruments=ScriptedInstruments(script))


# One ladder, whose script tells candidates apart by a comment in their text.


def as_told(source: str, workload: str) -> float:
    told = source.rpartition("# ")[2].split()
    return float(told[workload == "size 40"] if len(told) > 1 else told[0])


@pytest.fixture(scope="module")
def ladder(written: Path) -> Iterator[Ladder]:
    with closing(scripted_ladder(written, Script(as_told), min_speedup=1.05)) as opened:
        opened.validate()
        yield opened


def measured(ladder: Ladder, source: str) -> Verdict:
    candidate = Candidate(source)
    return ladder.measure(candidate, Verdict(candidate.id, ()), ladder.looks.verdict)


@pytest.mark.parametrize(
    ("told", "outcome", "expected", "said"),
    [
        ("2.0", Outcome.FASTER, None, "p = 0.0039"),
        ("1.0", Outcome.NOT_SHOWN, Reason.NOT_FASTER, "not below"),
        ("0.5", Outcome.SLOWER, Reason.SLOWER, "0.5"),
        ("1.03", Outcome.NOT_SHOWN, Reason.NOT_FASTER, "below the 1.05x asked for"),
        ("3.0 0.8", Outcome.NOT_SHOWN, Reason.NOT_FASTER, "slower on size 40: 0.8"),
    ],
)
def test_the_verdict_follows_from_the_figures(
    ladder: Ladder, told: str, outcome: Outcome, expected: Reason | None, said: str
) -> None:
    verdict = measured(ladder, f"{GOOD}# {told}\n")
    assert verdict.measurement is not None
    assert verdict.measurement.outcome is outcome
    assert said in verdict.measurement.note
    assert verdict.rungs[-1].reason is expected
    if outcome is Outcome.FASTER:
        assert verdict.improved
        assert verdict.measurement.speedup.low <= 2.0 <= verdict.measurement.speedup.high
        assert [work.name for work in verdict.measurement.speedup.workloads] == ["size 20", "size 40"]


@pytest.mark.corpus(one_in=8)
def test_a_loser_is_dropped_at_the_first_look_of_a_search(ladder: Ladder) -> None:
    for told, looks in (("0.9", 1), ("2.0", 2)):
        candidate = Candidate(f"{GOOD}# {told}\n")
        verdict = ladder.measure(candidate, Verdict(candidate.id, ()))
        assert verdict.measurement is not None
        assert verdict.measurement.speedup.processes == BRIEF.search[looks - 1].turns


@pytest.mark.corpus(one_in=8)
def test_a_search_goes_on_with_the_turns_that_it_has(ladder: Ladder) -> None:
    candidate = Candidate(f"{GOOD}# 2.0\n")
    begun = ladder.measure(candidate, Verdict(candidate.id, ()), looks=1)
    assert begun.measurement is not None
    assert begun.measurement.undecided == 1
    whole = ladder.measure(candidate, begun)
    assert whole.improved
    assert whole.measurement is not None
    assert whole.measurement.raw["turns"][: BRIEF.search[0].turns] == begun.measurement.raw["turns"]


WRONG_WHEN_TIMED = """\
import sys
def unique(items):
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        if frame.f_code.co_name == "timed_pass":
            return []
    return list(dict.fromkeys(items))
"""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (WRONG_WHEN_TIMED, Reason.WRONG_OUTPUT),
        ("def unique(items):\n    return sorted(set(items))\n", Reason.WRONG_OUTPUT),
        ("import os\ndef unique(items):\n    os._exit(0)\n", Reason.CRASH),
    ],
)
def test_a_wrong_outcome_is_found_while_it_is_measured(ladder: Ladder, source: str, expected: Reason) -> None:
    fallen = measured(ladder, f"{source}# 9.0\n").failed
    assert fallen is not None
    assert (fallen.name, fallen.reason) == ("measure", expected), fallen.detail


def test_a_winner_that_is_wrong_on_sizes_that_nobody_listed_is_not_confirmed(ladder: Ladder) -> None:
    source = "def unique(items):\n    return list(dict.fromkeys(items))[: 4 if 20 < len(items) < 40 else None]\n"
    candidate = Candidate(f"{source}# 2.0\n")
    verdict = ladder.measure_alone(candidate, Verdict(candidate.id, ()))
    assert verdict.improved
    fallen = ladder.confirm(candidate, verdict).failed
    assert fallen is not None
    assert (fallen.name, fallen.reason) == ("confirm", Reason.WRONG_OUTPUT)


# Scripts of their own.


def test_a_faster_candidate_is_confirmed_on_sizes_that_nobody_listed(
    written: Path, tmp_path: Path, scripted: Scripted
) -> None:
    scripted(ratio=4.0)
    result = judge(written, tmp_path / "home")
    assert result.status is Status.IMPROVED, result.message
    assert result.exit_code == 0
    assert result.speedup is not None
    assert 3.9 < result.speedup.low <= result.speedup.ratio <= result.speedup.high < 4.1
    assert [rung.name for rung in result.rungs] == [
        "screen", "build", "test", "differential", "hazard", "prove", "measure", "profile", "confirm",
    ]  # fmt: skip
    (row,) = result.rungs[-1].evidence["measurements"]
    unlisted = {int(one["name"].removeprefix("size ")) for one in row["untimed"]}
    assert any(20 < size < 40 for size in unlisted), unlisted
    assert result.candidate is not None
    assert result.candidate.labels == ("data structure",)
    assert result.rungs[-1].evidence["labels"] == [{"label": "data structure", "why": "uses dict", "share": None}]
    store = Store(tmp_path / "home")
    assert store.run(result.run).result == result.to_json()
    store.close()


@pytest.mark.corpus(one_in=8)
def test_what_was_measured_faster_and_is_not_confirmed_is_no_gain(
    written: Path, tmp_path: Path, scripted: Scripted
) -> None:
    scripted()
    asked_for_less = judge(written, tmp_path / "home", until="measure")
    assert asked_for_less.status is Status.NO_IMPROVEMENT
    assert "not confirmed" in asked_for_less.message


@pytest.mark.corpus(one_in=8)
def test_a_baseline_that_differs_from_itself_widens_what_is_claimed(written: Path) -> None:
    with closing(scripted_ladder(written, Script(2.0, again=1.5))) as opened:
        opened.validate()
        found = measured(opened, GOOD).measurement
    assert found is not None
    assert found.outcome is Outcome.FASTER
    assert not found.disturbed
    assert found.widened == pytest.approx(1.5, rel=0.01)
    assert found.speedup.low == pytest.approx(2.0 / 1.5, rel=0.02)
    assert "the baseline against itself gave 0.6" in found.note


SHOWN = Fault(Reason.CHEATING, "its process still works after its answer")


@pytest.mark.parametrize("where", ["hidden", "repeats"])
def test_what_a_candidate_does_outside_its_calls_is_charged_or_rejected(written: Path, where: str) -> None:
    with closing(scripted_ladder(written, Script(2.0, **{where: 0.025}))) as opened:
        opened.validate()
        charged = measured(opened, GOOD)
        assert charged.rungs[-1].reason is Reason.SLOWER  # half of a pass is gained, and a whole one charged
        assert charged.measurement is not None
        assert "25 ms of work outside its calls are added to each pass" in charged.measurement.note
    with closing(scripted_ladder(written, Script(2.0, **{where: SHOWN}))) as opened:
        opened.validate()
        fallen = measured(opened, GOOD).failed
    assert fallen is not None
    assert (fallen.name, fallen.reason) == ("measure", Reason.CHEATING)


@pytest.mark.corpus
def test_each_metric_is_measured_and_held_to_its_limit(written: Path, tmp_path: Path, scripted: Scripted) -> None:
    scripted(metrics={"time": 2.0, "cpu": 3.0})
    found = judge(written, tmp_path / "home", metric="time,cpu")
    assert found.status is Status.IMPROVED, found.message
    (row,) = found.front
    assert row.confirmed
    assert {name: round(one.ratio) for name, one in row.metrics.items()} == {"time": 2, "cpu": 3}
    scripted(metrics={"time": 2.0, "cpu": 3.0})
    limited = judge(written, tmp_path / "home", metric="cpu", max_time="0.2x", until="measure")
    assert reason(limited) is Reason.OVER_LIMIT, limited.message
    assert "--max-time 0.2x: 0.5" in limited.message


@pytest.mark.corpus(one_in=8)
def test_a_gain_that_is_paid_for_in_memory_is_none(written: Path, tmp_path: Path, scripted: Scripted) -> None:
    scripted(metrics={"time": 2.0, "memory": 0.5})
    found = judge(written, tmp_path / "home", max_memory="1.5x", until="measure")
    assert reason(found) is Reason.OVER_LIMIT, found.message
    assert "breaks --max-memory 1.5x: " in found.message


def test_a_whole_run_has_a_document_evidence_and_a_report_that_agree(written: Path, tmp_path: Path) -> None:
    script = Script(lambda source, workload: 4.0 if "fromkeys" in source else 1.0, looks=None)
    wrong, same = "def unique(items):\n    return sorted(set(items))\n", SLOW.replace("seen", "known")
    model = ScriptedModel({"coder": [answer(wrong), answer(same), answer(GOOD)]})
    home = tmp_path / "home"
    evaluator = scripted_ladder(written, script, seed=1)
    result = whet.optimize(
        f"{written}/slow.py::unique", model=model, evaluator=evaluator, home=home, rounds=1, candidates=3, seed=1
    )
    assert result.status is Status.IMPROVED, result.message
    assert result.candidate is not None
    assert result.candidate.source == GOOD
    assert result.candidates.rejected == {"wrong_output": 1, "not_faster": 1}
    again = replay(result.run, home=home)
    assert again.candidate == result.candidate
    store = Store(home)
    assert store.run(result.run).result == result.to_json()
    bundle = bundle_of(store, result.run)
    assert contradictions(bundle) == []
    assert bundle.record.speedup == result.speedup
    report = page(store, store.run(result.run))
    store.close()
    assert f"{result.speedup.ratio:.2f}" in report


def test_of_a_gain_that_is_confirmed_next_a_pilot_is_enough(written: Path, tmp_path: Path, scripted) -> None:
    def turns(result: Result) -> list[int]:
        store = Store(tmp_path / "home")
        bundle = bundle_of(store, result.run)
        store.close()
        assert contradictions(bundle) == []
        timed = [rung for rung in bundle.record.rungs if rung.evidence.get("measurements")]
        return [len(rung.evidence["measurements"][0]["raw"]["turns"]) for rung in timed]

    scripted(ratio=4.0, noise=0.2, looks=None)  # so that the interval of eight turns is no use
    confirmed = judge(written, tmp_path / "home")
    assert confirmed.status is Status.IMPROVED, confirmed.message
    assert turns(confirmed) == [PILOT_TURNS, 20]
    assert rung_of(confirmed, "measure").detail.endswith("; a pilot of 3 turns: the confirm rung decides")
    assert turns(judge(written, tmp_path / "home", until="measure")) == [20]
    scripted(ratio=4.0, looks=None)
    large = judge(written, tmp_path / "home")
    assert turns(large) == [1, 8]
    assert rung_of(large, "measure").detail.endswith("; a pilot of one turn: the confirm rung decides")
    scripted(ratio=1.4, looks=None)
    assert turns(judge(written, tmp_path / "home")) == [PILOT_TURNS, 8]
    scripted(ratio=1.0, noise=0.2, looks=None)
    assert turns(judge(written, tmp_path / "home")) == [20]
    chance = judge(written, tmp_path / "home", seed=19)  # whose pilot is lucky
    assert turns(chance) == [PILOT_TURNS, 20]
    assert chance.status is Status.NO_IMPROVEMENT
    assert rung_of(chance, "confirm").reason is Reason.NOT_FASTER


def test_what_a_gain_leaves_unpaid_is_judged_where_it_is_confirmed(written: Path, tmp_path: Path, scripted) -> None:
    def rungs(**options) -> list[tuple[str, bool]]:
        result = judge(written, tmp_path / "home", **options)
        timed = [rung for rung in result.rungs if rung.name in ("measure", "confirm") and "outcome" in rung.evidence]
        charged = [rung.evidence["measurements"][0]["raw"]["hidden_costs"].get("charged_seconds") for rung in timed]
        return [(rung.status, bool(cost)) for rung, cost in zip(timed, charged, strict=True)]

    scripted(ratio=4.0, looks=None, hidden=1.0)
    assert rungs() == [("passed", False), ("failed", True)]
    assert rungs(until="measure") == [("failed", True)]
    scripted(ratio=4.0, looks=None, hidden=Fault(Reason.CHEATING, "it keeps memory"))
    result = judge(written, tmp_path / "home")
    assert result.status is Status.REJECTED
    assert [(rung.name, rung.reason) for rung in result.rungs if rung.status == "failed"] == [("confirm", "cheating")]


def test_evidence_cannot_stop_at_a_look_that_shows_nothing(written: Path, tmp_path: Path, scripted) -> None:
    scripted(ratio=1.0, looks=None)
    result = judge(written, tmp_path / "home")
    store = Store(tmp_path / "home")
    bundle = bundle_of(store, result.run)
    store.close()
    (place,) = (place for place, rung in enumerate(bundle.record.rungs) if rung.name == "measure")
    measure = bundle.record.rungs[place]
    (row,) = measure.evidence["measurements"]
    first = [to_plain(stage) for stage in pilot(0.99)]
    raw = {**row["raw"], "turns": row["raw"]["turns"][:PILOT_TURNS], "stages": first, "dropped": []}
    cut = replace(measure, evidence={**measure.evidence, "measurements": [{**row, "raw": raw}]})
    rungs = (*bundle.record.rungs[:place], cut, *bundle.record.rungs[place + 1 :])
    known = contradictions(replace(bundle, record=replace(bundle.record, rungs=rungs)))
    assert any("were not looked at when verify looks at them" in line for line in known)
    confirm = replace(cut, name="confirm", status=RungStatus.FAILED)
    known = contradictions(replace(bundle, record=replace(bundle.record, rungs=(*rungs, confirm))))
    assert any("no gain worth confirming was shown, and not all looks were taken" in line for line in known)


@pytest.mark.corpus(one_in=8)
def test_a_quick_verdict_is_one_look_at_eight_turns_and_says_so(written: Path, tmp_path: Path, whet, scripted) -> None:
    scripted(ratio=2.0, looks=None)
    result = judge(written, tmp_path / "home", quick=True)
    assert result.status is Status.IMPROVED, result.message
    assert result.to_json()["quick"] is True
    assert result.speedup is not None
    assert result.speedup.processes == 8
    assert any(line.startswith("quick ") for line in result_lines(result))
    store = Store(tmp_path / "home")
    bundle = bundle_of(store, result.run)
    assert bundle.record.settings.quick
    assert contradictions(bundle) == []
    assert "one look at eight turns" in page(store, store.run(result.run))
    store.close()
    scripted(ratio=1.0, looks=None)
    looked = [judge(written, tmp_path / "home", quick=quick) for quick in (True, False)]
    assert [one.speedup and one.speedup.processes for one in looked] == [8, 20]
    assert [one.to_json()["quick"] for one in looked] == [True, False]


def test_a_quick_verdict_cannot_be_surer_than_its_turns_allow(written: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--quick decides at 99\.61% at most"):
        judge(written, tmp_path / "home", quick=True, confidence=0.999)
