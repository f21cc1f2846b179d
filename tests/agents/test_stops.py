"""The rules that end a run, each with its reason: patience, a known best, the roofline, the Judge, a round's price."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

# Before langgraph is imported: a state that is not plain data would come back as something else.
os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from work import Work, answer, diagnosis, prompt, scripted, version

from whet.agents.gains import Gain, gain_over
from whet.agents.judge import read_diagnosis
from whet.agents.models.base import Reply
from whet.agents.optimize import replay
from whet.agents.predictions import Prediction, Record
from whet.agents.stops import PATIENCE, Course, after_judge, after_round, takes_over, too_dear
from whet.cli.transcript import lines, shown
from whet.core.candidate import content_id
from whet.core.errors import UsageError
from whet.core.measurement import Measurement, Outcome, Speedup
from whet.core.result import Status
from whet.core.store import Store
from whet.core.verdict import Reason
from whet.testing.scripted import ScriptedModel
from whet.testing.tabled import Row, TabledEvaluator


@pytest.fixture
def work(tmp_path):
    return Work(tmp_path)


def measured(ratio, low, high, resolution=1.0) -> Measurement:
    speedup = Speedup(ratio, low, high, 0.99, "time", 10, 40, (0.99, 1.01), "the original", ())
    return Measurement(Outcome.FASTER, speedup, 0.001, resolution=resolution)


@pytest.mark.parametrize(
    ("parent", "child", "shown"),
    [
        (None, measured(1.5, 1.4, 1.6), True),
        (measured(1.4, 1.39, 1.41), measured(1.5, 1.45, 1.55), True),
        (measured(1.4, 1.3, 1.5), measured(1.5, 1.45, 1.55), False),
        (measured(1.4, 1.39, 1.41), measured(1.5, 1.45, 1.55, 1.1), False),
        (measured(1.4, 1.39, 1.41, 1.1), measured(1.5, 1.45, 1.55), False),
    ],
    ids=["over the original", "apart", "overlapping", "below the resolution", "below the parent's"],
)
def test_a_gain_needs_intervals_that_are_apart_and_the_resolution(parent, child, shown):
    assert gain_over(parent, child).shown is shown


def test_the_rules_are_asked_in_their_order():
    course = Course(4, 8, feedback=True, stale=PATIENCE, known_best="reached", roofline="full")
    assert after_round(replace(course, round=8)).ended == "rounds"
    assert after_round(course).message == "reached"
    assert after_round(replace(course, known_best="")).message == "full"
    assert after_round(replace(course, known_best="", roofline="")).ended == "patience"
    assert after_round(Course(4, 8, feedback=True, stale=PATIENCE - 1)) is None
    blind = replace(course, feedback=False)
    assert after_round(blind).ended == "known best"
    assert after_round(replace(blind, known_best="")) is None, "samples that are independent lose no patience"


@given(
    st.integers(1, 9), st.integers(1, 9), st.integers(0, 9), st.booleans(), st.sampled_from(["", "nothing", "budget"])
)
def test_another_model_takes_over_only_where_a_round_follows(round, rounds, stale, feedback, ended):
    course = Course(round, rounds, feedback, stale)
    if takes_over(course, ended):
        assert ended != "budget"
        assert after_round(replace(course, stale=0)) is None


# patience


class Coarse(TabledEvaluator):
    """One that tells nothing below 1.1 from 1."""

    def measure(self, candidate, verdict):
        found = super().measure(candidate, verdict)
        return replace(found, measurement=replace(found.measurement, resolution=1.1))


@pytest.mark.parametrize(("step", "rounds"), [(0.01, 4), (0.07, 8)])
def test_small_gains_count_once_they_come_to_the_resolution_together(work, step, rounds):
    rows = {version(n): Row(1.5 + n * step) for n in range(8)}
    model = scripted(*([answer(version(n))] for n in range(8)))
    result = work.optimize(model, rows, evaluator=Coarse(work.task, rows))
    assert result.candidates.distinct == rounds
    assert ("3 rounds brought no further gain that could be told from noise" in result.message) is (rounds == 4)


# a known best

SECRET = "def f(xs):\n    return 'known to be good'\n"


def known_best(work) -> str:
    path = work.folder / "best.py"
    path.write_text(SECRET)
    return str(path)


def test_a_run_ends_once_it_comes_up_to_the_known_best_and_shows_it_to_no_model(work):
    rows = {SECRET: Row(3.0), version(0): Row(2.82), version(1): Row(2.87), version(2): Row(9.0)}
    model = scripted(*([answer(version(n))] for n in range(3)))
    result = work.optimize(model, rows, known_best=known_best(work))
    assert result.candidates.distinct == 2
    assert "comes up to the known best: 2.87x against 3x" in result.message
    assert result.candidate.id == content_id(version(1))
    for request in model.requests:
        assert "known to be good" not in prompt(request)
        assert content_id(SECRET) not in request.brief.tried
    again = replay(result.run, home=work.home)
    assert (again.message, again.candidates) == (result.message, result.candidates)


@pytest.mark.parametrize("row", [Row(reason=Reason.WRONG_OUTPUT), Row(1.0), Row(0.5)])
def test_a_known_best_that_is_none_ends_nothing(work, row):
    model = scripted(*([answer(version(n))] for n in range(3)))
    result = work.optimize(model, {SECRET: row, version(0): Row(2.0)}, rounds=3, known_best=known_best(work))
    assert result.candidates.distinct == 3
    assert result.candidates.rejected == {"not_faster": 2}
    assert any("it ends nothing" in event.text for event in work.events)
    store = Store(work.home)
    record = store.run(result.run)
    told = list(lines(record, shown(store, record)))
    store.close()
    assert any(f"known best {content_id(SECRET)[:10]}: " in line for line in told)


def test_a_model_that_finds_the_known_best_is_its_author(work):
    model = scripted([answer(SECRET)], [answer(version(1))])
    result = work.optimize(model, {SECRET: Row(3.0)}, known_best=known_best(work))
    assert (result.candidate.source, result.candidate.origin) == (SECRET, "scripted")
    assert result.candidates.distinct == 1
    lines = work.journal_lines()
    assert lines.count(f"measure {content_id(SECRET)}") == 1
    assert replay(result.run, home=work.home).candidate.origin == "scripted"


def test_a_known_best_that_is_not_there_is_refused(work):
    with pytest.raises(UsageError, match="nowhere"):
        work.optimize(scripted(), {}, known_best="nowhere.py")


# the Judge, and what a round costs


def said(gain, confidence, stop=False):
    parts = {"bottleneck": "b", "evidence": [], "directive": "d", "expected_gain": gain, "confidence": confidence}
    return read_diagnosis(Reply(json.dumps({**parts, "stop": stop}), "m"))


@pytest.mark.parametrize(
    ("gain", "confidence", "share", "dear"),
    [
        (1.25, 0.5, 0.49, False),
        (1.25, 0.5, 0.51, True),
        (1.01, 0.1, 0.01, True),
        (1.05, 0.5, 0.05, False),
        (0.5, 1.0, 0.001, True),
        (1.0, 0.0, 0.0, False),
    ],
)
def test_a_share_of_the_cap_has_to_bring_that_share_of_what_the_cap_is_worth(gain, confidence, share, dear):
    line = too_dear(said(gain, confidence), Record(), share)
    assert bool(line) is dear
    assert not dear or f"{share:.1%} of the cap" in line


def test_the_record_calibrates_what_is_expected():
    failed = Record(tuple(Prediction(n, n + 1, 2.0, 1.0, "", Gain(1.0, 0.9, 1.1, 1.02)) for n in range(1, 4)))
    assert too_dear(said(1.25, 1.0), Record(), 0.3) == ""
    line = too_dear(said(1.25, 1.0), failed, 0.3)
    assert "a chance of 25% of 1.25x" in line
    assert too_dear(said(2.0, 1.0).model_copy(update={"by_rule": True}), failed, 0.2) == "", "a rule expects nothing"


def test_one_answer_against_a_further_round_ends_nothing():
    assert after_judge(said(1.0, 0.0, stop=True), 1, "") is None
    assert after_judge(said(1.0, 0.0, stop=True), 2, "dear").message == "the judge sees nothing left to try"
    assert after_judge(said(1.0, 0.0), 2, "dear").message == "dear"


def costly(script: ScriptedModel) -> ScriptedModel:
    """The same answers, counted in tokens."""
    return ScriptedModel(lambda request: script.complete(request).text, "paid", free=False)


POOR = json.dumps({**json.loads(diagnosis()), "expected_gain": 1.01, "confidence": 0.1})


@pytest.mark.parametrize(
    ("judge", "growth", "rounds", "part"),
    [
        ([POOR] * 8, 1.0, 2, "not worth its price"),
        ([POOR, diagnosis()] * 4, 1.0, 3, "3 rounds brought no further gain"),
        ([POOR] * 8, 2.0, 5, "the last of 5 rounds is done"),
    ],
    ids=["twice in a row", "never twice", "the record knows better"],
)
def test_a_run_ends_where_a_round_is_not_worth_its_price(work, judge, growth, rounds, part):
    rows = {version(n): Row(growth**n) for n in range(8)}
    script = scripted(*([answer(version(n))] for n in range(8)), judge=judge)
    result = work.optimize(costly(script), rows, candidates=1, rounds=5, budget_tokens=200_000)
    assert result.candidates.distinct == rounds
    assert part in result.message
    again = replay(result.run, home=work.home)
    assert (again.message, again.candidates) == (result.message, result.candidates)


def test_what_costs_nothing_is_never_too_dear(work):
    model = scripted(*([answer(version(n))] for n in range(8)), judge=[POOR] * 8)
    result = work.optimize(model, {}, rounds=5)
    assert result.candidates.distinct == PATIENCE
    assert result.status is Status.NO_IMPROVEMENT
