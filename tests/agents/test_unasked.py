"""Runs that ended because their model could not be asked, and go on once that is mended."""

from __future__ import annotations

import os
from collections import Counter

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

import pytest
from places import (
    SOURCE,
    WINNER,
    Place,
    same,
    say,
    version,
)

from whet.agents.calls import Calls, CallState
from whet.agents.models.base import ModelError
from whet.agents.optimize import replay, resume
from whet.core.candidate import content_id
from whet.core.errors import UsageError
from whet.core.result import Status
from whet.core.store import Store
from whet.testing.scripted import ScriptedModel
from whet.testing.tabled import Row


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


# ended for want of a model, and gone on with


def unasked_at(number: int, sample: int):
    """Says what ``say`` does, and cannot be asked from one question of the Coder's on."""

    def answer(request):
        if request.role == "coder":
            now = int(request.messages[3].text.split("# Round ")[1].split()[0])
            if (now, request.sample) >= (number, sample):
                raise ModelError("the key was refused", fatal=True)
        return say(request)

    return answer


def broken(place: Place, number: int, sample: int = 1, **options):
    return place.optimize(model=ScriptedModel(unasked_at(number, sample)), **options)


@pytest.mark.parametrize(("number", "sample"), [(1, 1), (2, 0), (3, 1)])
def test_a_run_whose_model_could_not_be_asked_goes_on_once_that_is_mended(place, tmp_path, number, sample):
    first = broken(place, number, sample)
    assert first.status is (Status.IMPROVED if (number, sample) > (1, 1) else Status.NO_IMPROVEMENT)
    assert "the key was refused" in first.message
    assert first.message.endswith(f"whet runs resume {first.run}")
    assert Store(place.home).run(first.run).status == "finished"
    before = replay(first.run, home=place.home)
    assert same(before, first)
    assert Store(place.home).run(before.run).status == "finished"

    replies, evaluations = recorded_of(place, first.run)
    done = Counter(place.lines())
    again = resume(first.run, home=place.home, model=place.model(), evaluator=place.evaluator())
    more = Counter(place.lines()) - done
    assert not replies & more.keys()
    assert not evaluations & more.keys()
    (tmp_path / "whole").mkdir()
    whole = Place(tmp_path / "whole").optimize()
    assert same(again, whole, without=("run", "seconds", "task"))
    assert same(replay(first.run, home=place.home), again)
    assert same(resume(first.run, home=place.home), again)


def test_a_model_of_which_no_reply_came_is_an_error_and_the_run_goes_on_once_that_is_mended(place, tmp_path):
    with pytest.raises(
        UsageError, match=r"the key was refused; once that is mended, go on with: whet runs resume"
    ) as no:
        broken(place, 1, 0)
    run = str(no.value).split()[-1]
    with pytest.raises(UsageError, match="the key was refused"):
        resume(run, home=place.home, model=ScriptedModel(unasked_at(1, 0)), evaluator=place.evaluator())
    again = resume(run, home=place.home, model=place.model(), evaluator=place.evaluator())
    (tmp_path / "whole").mkdir()
    assert same(again, Place(tmp_path / "whole").optimize(), without=("run", "seconds", "task"))


def recorded_of(place: Place, run: str) -> tuple[set[str], set[str]]:
    store = Store(place.home)
    calls = Calls(store, run)
    with store.connection() as db:
        done = db.execute("SELECT question FROM calls WHERE run = ? AND state = ?", (run, CallState.DONE)).fetchall()
    assert calls.all()
    parts = [key.split(":") for key in store.facts(run, "verdict:")]
    store.close()
    return {question for (question,) in done}, {f"{part[2]} {part[1]}" for part in parts}


def test_a_round_that_was_cut_short_counts_once(place):
    """Three failures are no three rounds without a gain."""
    rows = {version("1, 0"): Row(2.0)}
    first = broken(place, 2, evaluator=place.evaluator(rows=rows), rounds=9)
    for _ in range(3):
        model = ScriptedModel(unasked_at(2, 1))
        again = resume(first.run, home=place.home, model=model, evaluator=place.evaluator(rows=rows))
        assert same(again, first)
        assert [request.sample for request in model.requests] == [1]
    last = resume(first.run, home=place.home, model=place.model(), evaluator=place.evaluator(rows=rows))
    assert "3 rounds brought no further gain" in last.message
    assert last.candidates.distinct == 8
    assert same(replay(first.run, home=place.home), last)


def test_what_an_earlier_end_could_not_confirm_is_told_where_it_is_tried_again_only(place):
    rows = {version("1, 0"): Row(2.0, confirmed=1.0), **{version(f"2, {n}"): Row(3.0 + n) for n in (0, 1)}}
    first = broken(place, 2, 0, evaluator=place.evaluator(rows=rows), rounds=2)
    assert first.candidates.rejected == {"not_faster": 2}
    last = resume(first.run, home=place.home, model=place.model(), evaluator=place.evaluator(rows=rows))
    assert last.candidate.id == content_id(version("2, 1"))
    assert last.candidates.rejected == {"not_faster": 1}
    assert same(replay(first.run, home=place.home), last)


def test_a_model_that_has_nothing_to_say_once_it_can_be_asked_replays_so(place):
    first = broken(place, 2)
    silent = ScriptedModel(lambda request: "")
    last = resume(first.run, home=place.home, model=silent, evaluator=place.evaluator())
    assert "nothing" in last.message or "rounds" in last.message
    assert same(replay(first.run, home=place.home), last)


def test_what_the_run_applied_before_is_replaced_and_nothing_else_is(place):
    first = broken(place, 2, apply=True)
    assert place.path.read_text() == version("2, 0")
    last = resume(first.run, home=place.home, model=place.model(), evaluator=place.evaluator())
    assert place.path.read_text() == version("3, 1")
    assert last.message.endswith(f"; applied to {place.path}")

    place.path.write_text(SOURCE)
    first = broken(place, 2, apply=True)
    place.path.write_text("mine = True\n")
    last = resume(first.run, home=place.home, model=place.model(), evaluator=place.evaluator())
    assert place.path.read_text() == "mine = True\n"
    assert "not applied" in last.message


def test_a_run_that_was_gone_on_with_is_open_until_it_ends(place):
    first = broken(place, 2)
    with pytest.raises(KeyboardInterrupt):
        resume(first.run, home=place.home, model=place.model(interrupt_at=1), evaluator=place.evaluator())
    record = Store(place.home).run(first.run)
    assert (record.status, record.result) == ("interrupted", None)
    last = resume(first.run, home=place.home, model=place.model(), evaluator=place.evaluator())
    assert last.candidate.id == WINNER


def test_a_model_that_still_cannot_be_opened_leaves_the_result(place):
    first = broken(place, 2)
    with pytest.raises(UsageError, match="unknown model 'scripted'"):
        resume(first.run, home=place.home, evaluator=place.evaluator())
    assert Store(place.home).run(first.run).status == "finished"
