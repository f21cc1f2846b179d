"""The main job as a library: durable runs, replay, delivery. The ladder itself is tested elsewhere."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections import Counter
from contextlib import closing
from dataclasses import replace

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

import pytest
from places import (
    ROWS,
    RUNS,
    SOURCE,
    WINNER,
    Place,
    in_process,
    kill,
    recorded,
    same,
    say,
    start,
    version,
)

import whet
from whet.agents.calls import Calls
from whet.agents.coder import coder_request
from whet.agents.evaluations import Evaluations
from whet.agents.facts import Facts, SearchPlan
from whet.agents.history import WORKED, History
from whet.agents.judge import Past, judge_request
from whet.agents.models.base import ModelError
from whet.agents.optimize import replay, resume
from whet.agents.predictions import Predictions
from whet.agents.strategies import open_strategy
from whet.core.candidate import content_id
from whet.core.errors import SandboxError, UsageError
from whet.core.result import Status
from whet.core.store import Store
from whet.core.verdict import Reason
from whet.testing.scripted import ScriptedModel
from whet.testing.tabled import Row, TabledEvaluator


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


@pytest.mark.corpus
def test_a_run_that_is_killed_again_and_again_loses_and_repeats_nothing(tmp_path):
    code = "print(t.kill_at_random(t.Path(sys.argv[1]) / str(n), n))"
    process = in_process(f"[{code} for n in range(int(sys.argv[2]))]", tmp_path, RUNS)
    out, error = process.communicate()
    assert process.returncode == 0, error
    kills = [int(line) for line in out.split()]
    assert len(kills) == RUNS
    assert sum(kills) >= RUNS
    (tmp_path / "whole").mkdir()
    expected = Place(tmp_path / "whole").optimize()
    assert expected.candidate.id == WINNER
    for number in range(RUNS):
        place = Place(tmp_path / str(number))
        assert Store(place.home).runs()[0].status == "finished"
        assert same(place.resume(), expected, without=("run", "seconds", "task"))


@pytest.mark.usefixtures("database")
def test_a_finished_run_is_not_run_again(place):
    first = place.optimize()
    asked = place.lines()
    again = place.resume()
    assert place.lines() == asked
    assert json.loads(json.dumps(again.to_json())) == json.loads(json.dumps(first.to_json()))
    assert again.candidate.source == version("3, 1")


@pytest.mark.corpus
def test_an_edit_of_the_target_does_not_change_a_run_under_way(place):
    kill(start(place))
    place.path.write_text("broken(\n")
    assert place.resume().candidate.id == WINNER


@pytest.mark.corpus
@pytest.mark.usefixtures("database")
def test_a_run_under_way_is_not_taken_over(place):
    process = start(place)
    with pytest.raises(UsageError, match="another process"):
        place.resume()
    kill(process)


@pytest.mark.usefixtures("database")
def test_an_interrupt_leaves_the_run_resumable(place):
    with pytest.raises(KeyboardInterrupt):
        place.optimize(model=place.model(interrupt_at=4))
    store = Store(place.home)
    assert store.runs()[0].status == "interrupted"
    _, evaluations = recorded(place)
    before = Counter(place.lines())
    assert place.resume().candidate.id == WINNER
    assert not evaluations & (Counter(place.lines()) - before).keys()


@pytest.mark.usefixtures("database")
def test_what_a_torn_down_evaluator_still_finds_is_not_recorded(place):
    release = threading.Event()
    entered = threading.Event()

    class Torn(TabledEvaluator):
        def check(self, candidate):
            entered.set()
            release.wait(60)
            return super().check(candidate)

        def close(self):
            release.set()
            time.sleep(0.2)

    def interrupt():
        entered.wait(60)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    crashing = dict.fromkeys(ROWS, Row(reason=Reason.CRASH))
    with pytest.raises(KeyboardInterrupt):
        place.optimize(evaluator=Torn(place.task, crashing))
    assert not recorded(place)[1] & {f"check {content_id(source)}" for source in ROWS}
    assert place.resume().candidate.id == WINNER


class Breaking(TabledEvaluator):
    """Its sandbox breaks when the second candidate of a round is checked."""

    def check(self, candidate):
        if candidate.id == content_id(version("1, 2")):
            raise SandboxError("the sandbox is gone")
        return super().check(candidate)


@pytest.mark.parametrize("fatal", [False, True])
def test_a_round_that_was_being_judged_is_asked_again_only_where_its_model_could_not_be(place, fatal):
    """A sample that failed is over with its round: were it asked anew, others would be judged than were announced."""

    def failing(request):
        if request.role == "coder" and request.sample == 1:
            return ModelError("too long", fatal=fatal)
        return say(replace(request, sample=2)) if request.sample == 0 else say(request)

    with pytest.raises(SandboxError):
        place.optimize(model=ScriptedModel(failing), evaluator=Breaking(place.task, ROWS))
    model = place.model()
    result = place.resume(model=model)
    first = [one.sample for one in model.requests if one.role == "coder" and "# Round 1 " in one.messages[3].text]
    assert first == ([1] if fatal else [])
    assert result.candidate.id == WINNER


@pytest.mark.corpus
def test_the_time_of_earlier_processes_counts(place):
    with pytest.raises(KeyboardInterrupt):
        place.optimize(model=place.model(0.3, interrupt_at=4), budget_seconds=1000, rounds=50)
    with closing(Store(place.home)) as store:
        run = store.runs()[0].id
        assert store.fact(run, WORKED) > 0.8  # three answers of 0.3 s came before
        store.set_fact(run, WORKED, 1000.0)
    model = place.model()
    result = place.resume(model=model)
    assert "--budget-seconds" in result.message
    assert result.seconds > 1000
    assert not model.requests


def test_what_a_cap_ended_stays_ended(place):
    result = place.optimize(budget_seconds=0.0)
    assert result.status is Status.BUDGET_EXHAUSTED
    assert same(replay(result.run, home=place.home), result)


@pytest.mark.parametrize("run", ["nope", "20200101-000000-abcdef"])
def test_an_unknown_run_is_refused(place, run):
    for verb in (resume, replay):
        with pytest.raises(UsageError, match="no run"):
            verb(run, home=place.home)


def test_a_run_of_verify_is_not_resumed(place):
    store = Store(place.home)
    run = store.begin("verify", "f.py::f", {})
    store.close()
    for verb in (resume, replay):
        with pytest.raises(UsageError, match="verify"):
            verb(run, home=place.home)


def test_a_prompt_sees_nothing_that_was_recorded_after_it(place):
    """A node that is run anew after a kill must ask the very same question."""
    model = place.model()
    result = place.optimize(model=model)
    store = Store(place.home)
    evaluations = Evaluations(store, result.run, place.evaluator())
    plan = SearchPlan(rounds=3, candidates=2, most=None, workers=2, metric="time", cores=1)
    history = History(store, result.run)
    facts = Facts(evaluations, history, open_strategy("auto"), plan)
    foreseen = Predictions(store, result.run, history, evaluations)
    asked = [replace(one, place="") for one in model.requests if one.role == "judge" or one.sample == 0]
    expected = []
    for number in (1, 2, 3):
        expected.append(coder_request(facts.situation(number)))
        batch = facts.history.round(number).batch
        records = [evaluations.record(id) for id in batch]
        past = Past(foreseen.until(number), history.diagnosis(number - 1))
        expected.append(judge_request(facts.situation(number, judged=True), records, past))
    assert asked == [replace(one, place="") for one in expected[:-1]]


# replayed


def test_a_replay_asks_nothing_and_ends_in_the_same_document(place):
    result = place.optimize()
    before = place.lines()
    place.path.write_text("edited = True\n")
    again = replay(result.run, home=place.home)
    assert place.lines() == before
    assert again.run != result.run
    assert same(again, result)
    third = replay(again.run, home=place.home)
    assert same(third, result)


def test_a_replay_meets_errors_and_repairs_again(place):
    lines = iter([ModelError("overloaded"), "rubbish", "rubbish", ""])

    def stumbling(request):
        return next(lines, None) or say(request)

    result = place.optimize(model=ScriptedModel(stumbling))
    assert result.candidate is not None
    assert same(replay(result.run, home=place.home), result)


def test_a_replay_ends_where_the_budget_did(place):
    model = ScriptedModel(say, name="paid", free=False)
    result = place.optimize(model=model, budget_tokens=60_000, rounds=50)
    assert "--budget-tokens" in result.message
    assert result.cost.tokens.input > 0
    again = replay(result.run, home=place.home)
    assert same(again, result, without=("run", "seconds", "cost"))
    assert (again.cost.calls, again.cost.usd) == (0, 0.0)


def test_remeasuring_times_the_winner_anew(place):
    result = place.optimize()
    fresh = {**ROWS, version("3, 1"): Row(4.0, confirmed=3.5)}
    again = replay(result.run, home=place.home, remeasure=True, evaluator=place.evaluator(rows=fresh))
    assert again.candidate.id == result.candidate.id
    assert again.speedup.ratio == 3.5
    lost = {**ROWS, version("3, 1"): Row(1.0)}
    again = replay(result.run, home=place.home, remeasure=True, evaluator=place.evaluator(rows=lost))
    assert again.candidate.id == content_id(version("2, 0"))
    assert again.speedup.ratio == 3.0


@pytest.mark.corpus
@pytest.mark.usefixtures("database")
def test_an_unfinished_run_is_not_replayed(place):
    kill(start(place))
    run = Store(place.home).runs()[0].id
    with pytest.raises(UsageError, match=f"whet runs resume {run}"):
        replay(run, home=place.home)


@pytest.mark.usefixtures("database")
def test_a_recorded_run_may_answer_as_a_model(place):
    first = place.optimize()
    second = place.optimize(model=f"replay:{first.run}")
    assert second.candidate.id == first.candidate.id
    assert second.cost.calls == 0


# delivered


def test_apply_writes_the_winners_exact_bytes(place):
    place.path.chmod(0o755)
    result = place.optimize(apply=True)
    assert place.path.read_bytes() == result.candidate.source.encode()
    assert place.path.stat().st_mode & 0o777 == 0o755
    assert "applied to" in result.message
    assert sorted(p.name for p in place.path.parent.iterdir()) == ["asked", "evaluated", "f.py", "home"]


def test_apply_goes_through_a_link(place, tmp_path):
    real = tmp_path / "real.py"
    place.path.rename(real)
    place.path.symlink_to(real)
    place.optimize(apply=True)
    assert place.path.is_symlink()
    assert real.read_text() == version("3, 1")


def test_apply_spares_a_file_that_has_changed(place, tmp_path):
    def editing(request):
        place.path.write_text("mine = True\n")
        return say(request)

    output = tmp_path / "better.py"
    result = place.optimize(model=ScriptedModel(editing), apply=True, output=output)
    assert place.path.read_text() == "mine = True\n"
    assert "not applied" in result.message
    assert "--output" in result.message
    assert result.status is Status.IMPROVED
    assert output.read_text() == version("3, 1")


def test_nothing_is_written_without_an_improvement(place, tmp_path):
    output = tmp_path / "better.py"
    result = place.optimize(evaluator=place.evaluator(rows={}), apply=True, output=output)
    assert result.status is Status.NO_IMPROVEMENT
    assert place.path.read_text() == SOURCE
    assert not output.exists()


def test_a_run_killed_after_it_was_applied_can_be_resumed(place):
    place.path.write_text(version("3, 1"))
    with pytest.raises(KeyboardInterrupt):
        place.optimize(model=place.model(interrupt_at=2), apply=True)
    result = place.resume()
    assert result.message.endswith(f"applied to {place.path}")


@pytest.mark.parametrize("output", ["missing/x.py", ".", "f.py"])
def test_an_output_that_cannot_be_written_is_refused_at_once(place, tmp_path, output):
    with pytest.raises(UsageError, match="--output"):
        place.optimize(output=tmp_path / output)
    assert place.lines() == []


# configured


def test_the_model_comes_from_the_configuration_nearest_to_the_target(place):
    (place.path.parent / "pyproject.toml").write_text('[tool.whet]\nmodel = "anthropik:x"\n')
    with pytest.raises(UsageError, match="anthropik"):
        place.optimize(model=None)


@pytest.mark.corpus
def test_the_model_comes_from_the_environment_where_nothing_else_names_one(place):
    code = "t.Place(t.Path(sys.argv[1])).optimize(model=None)"
    error = in_process(code, place.path.parent, WHET_MODEL="opnai:x").communicate()[1]
    assert "unknown model 'opnai:x'" in error


def test_the_seed_is_drawn_once_and_kept(place):
    place.optimize()
    place.optimize(seed=7)
    seven, drawn = (record.request["seed"] for record in Store(place.home).runs())
    assert seven == 7
    assert drawn > 1 << 32


def test_calls_of_a_run_are_in_its_ledger(place):
    result = place.optimize()
    calls = Calls(Store(place.home), result.run).all()
    assert Counter(call.role for call in calls) == {"coder": 6, "judge": 2}


def test_a_run_keeps_the_prices_that_it_began_with(place):
    def stated(usd):
        table = f"[tool.whet.prices.paid]\ninput = {usd}\noutput = {usd}\ncached = 0.5\n"
        (place.path.parent / "pyproject.toml").write_text(table)

    def paid(interrupt_at=0):
        model = place.model(interrupt_at=interrupt_at)
        model.name, model.free = "paid", False
        return model

    stated(1.0)
    with pytest.raises(KeyboardInterrupt):
        place.optimize(model=paid(interrupt_at=4), budget_usd=0.5)
    stated(1_000_000.0)
    result = place.resume(model=paid())
    assert result.candidate.id == WINNER
    assert 0 < result.cost.usd < 0.5
    record = Store(place.home).runs()[0]
    price = {"input": 1.0, "output": 1.0, "cached": 0.5, "source": "[tool.whet.prices]", "date": None}
    assert record.request["prices"] == {"paid": price}
    calls = Calls(Store(place.home), record.id).all()
    assert all(call.usd < 0.5 for call in calls)


# with the real ladder


@pytest.mark.corpus(one_in=8)
def test_the_ladder_judges_what_is_proposed(tmp_path):
    target = tmp_path / "f.py"
    target.write_text("def f(xs):\n    out = []\n    for x in xs:\n        out = out + [x * 2]\n    return out\n")
    (tmp_path / "workload.py").write_text(
        "sizes = [10, 2000, 3000]\n\ndef make_input(size, rng):\n    return ([rng.random() for _ in range(size)],)\n"
    )
    right = "def f(xs):\n    return [x * 2 for x in xs]\n"
    wrong = "def f(xs):\n    return [x * 2 for x in xs[1:]]\n"
    broken = "def f(xs:\n"
    replies = [f"```python\n{source}```\n" for source in (right, wrong, broken)]
    model = ScriptedModel({"coder": replies})
    result = whet.optimize(
        f"{target}::f", model=model, rounds=1, candidates=3, until="differential", home=tmp_path / "home"
    )
    assert result.status is Status.NO_IMPROVEMENT
    assert result.candidates.correct == 1
    assert result.candidates.rejected == {"wrong_output": 1, "syntax_error": 1}
    assert same(replay(result.run, home=tmp_path / "home"), result)


@pytest.mark.corpus
def test_a_run_is_resumed_from_any_folder(tmp_path, monkeypatch):
    """The test command is for the folder that the run was begun in, which is not the target's own project here."""
    target = tmp_path / "package" / "f.py"
    target.parent.mkdir()
    target.write_text(SOURCE)
    (target.parent / "pyproject.toml").touch()
    (target.parent / "workload.py").write_text(
        "sizes = [10, 20000, 30000]\n\ndef make_input(size, rng):\n    return ([rng.random() for _ in range(size)],)\n"
    )
    (tmp_path / "checks").mkdir()
    (tmp_path / "checks" / "test_f.py").write_text(
        "from package.f import f\n\n\ndef test_f():\n    assert f([2, 1]) == [1, 2]\n"
    )
    monkeypatch.chdir(tmp_path)
    place = Place(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        whet.optimize(
            "package/f.py::f",
            model=place.model(interrupt_at=1),
            tests="python -m pytest checks",
            until="test",
            rounds=1,
            candidates=1,
            home=place.home,
        )
    monkeypatch.chdir("/")
    right = "def f(xs):\n    xs = list(xs)\n    xs.sort()\n    return xs\n"
    result = resume(
        Store(place.home).runs()[0].id, home=place.home, model=ScriptedModel({"coder": [f"```\n{right}```"]})
    )
    assert result.status is Status.NO_IMPROVEMENT, result.message
    assert result.candidates.correct == 1, result
