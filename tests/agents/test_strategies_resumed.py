"""Each strategy in a whole run: killed, resumed, replayed, under one budget, and no program evaluated twice."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from graphed import Planted, Verdicts, planted, rounds_of
from places import in_process, same

from whet.agents.optimize import replay
from whet.agents.strategies import STRATEGIES
from whet.core.store import Store
from whet.evaluators.syntax.fingerprint import fingerprint
from whet.testing.scripted import ScriptedModel

NEW = [name for name in STRATEGIES if name != "refine"]


@pytest.fixture(params=STRATEGIES)
def place(request, tmp_path):
    return Planted(tmp_path, request.param)


@pytest.mark.corpus
def test_runs_of_each_strategy_that_are_killed_again_and_again_lose_and_repeat_nothing(tmp_path):
    code = "place = lambda folder: graphed.Planted(folder, folder.name); folder = t.Path(sys.argv[1])"
    kills = "[print(t.kill_at_random(folder / name, n, place)) for n, name in enumerate(sys.argv[2:])]"
    process = in_process(f"import graphed; {code}; {kills}", tmp_path, *NEW)
    out, error = process.communicate()
    assert process.returncode == 0, error
    assert sum(map(int, out.split())) >= len(NEW)
    for name in NEW:
        (tmp_path / "whole" / name).mkdir(parents=True)
        expected = Planted(tmp_path / "whole" / name, name).optimize()
        assert expected.candidate is not None
        assert same(Planted(tmp_path / name, name).resume(), expected, without=("run", "seconds", "task", "cost"))


@pytest.mark.corpus
def test_a_run_that_is_interrupted_at_any_question_asks_the_same_ones_in_the_end(place, tmp_path_factory):
    whole = Planted(tmp_path_factory.mktemp("whole"), place.strategy)
    expected = whole.optimize(rounds=4)
    questions = len(whole.asked.read_text().splitlines())
    for at in range(1, questions + 1, 3):
        again = Planted(tmp_path_factory.mktemp("again"), place.strategy)
        with pytest.raises(KeyboardInterrupt):
            again.optimize(model=again.model(interrupt_at=at), rounds=4)
        assert same(again.resume(), expected, without=("run", "seconds", "task", "cost"))
        assert set(again.lines()) == set(whole.lines())


def test_a_replay_meets_the_same_prompts_and_ends_in_the_same_document(place):
    result = place.optimize()
    before = place.lines()
    assert same(replay(result.run, home=place.home), result, without=("run", "seconds", "cost"))
    assert place.lines() == before


def test_no_program_is_evaluated_twice(place):
    result = place.optimize()
    checked = Counter(line for line in place.evaluated.read_text().splitlines() if line.startswith("check"))
    assert set(checked.values()) == {1}
    store = Store(place.home)
    texts = [store.get(line.split()[1]) for line in checked]
    store.close()
    assert len({fingerprint("python", text) for text in texts}) == len(texts) == result.candidates.distinct
    assert result.candidates.proposed > result.candidates.distinct, "the model did repeat itself"


@pytest.mark.parametrize("cap", [{"budget_calls": 9}, {"budget_candidates": 7}])
def test_all_work_under_one_budget(place, cap):
    model = ScriptedModel(planted, "paid", free=False)
    result = place.optimize(model=model, **{"rounds": 50, **cap})
    assert len(model.requests) <= cap.get("budget_calls", 50)
    assert result.candidates.distinct <= cap.get("budget_candidates", 50)


def test_auto_is_refine_where_answers_cost_nothing(tmp_path):
    asked = {}
    for name in ("auto", "refine"):
        (tmp_path / name).mkdir()
        model = ScriptedModel(planted, "free")
        Planted(tmp_path / name, name).optimize(model=model)
        asked[name] = [(one.role, one.sample, one.brief) for one in model.requests]
    assert asked["auto"] == asked["refine"]


def test_auto_starts_with_one_answer_and_asks_the_judge_only_where_it_is_stuck(tmp_path):
    place = Planted(tmp_path, "auto")
    model = ScriptedModel(planted, "paid", free=False)
    place.optimize(model=model)
    coders = [one for one in model.requests if one.role == "coder" and len(one.messages) == 4]
    widths = Counter(rounds_of(one.messages[-1].text) for one in coders)
    assert widths[1] == 1
    judged = {one.sample for one in model.requests if one.role == "judge"}
    for number in range(2, max(widths) + 1):
        told = [one.messages[-1].text for one in coders if rounds_of(one.messages[-1].text) == number]
        assert any("What the Judge asks for" in text for text in told) == (number - 1 in judged)
        assert widths[number] == (4 if number - 1 in judged else 2)
        assert "## Where to work" in "".join(told)
    assert judged, "the script gets stuck"


class Cold(Verdicts):
    """No line is known to take much of the time."""

    def get(self, source, default=None):
        return replace(super().get(source), hot=())


def test_where_no_hot_line_is_known_the_judge_says_where_to_work(tmp_path):
    place = Planted(tmp_path, "auto")
    model = ScriptedModel(planted, "paid", free=False)
    place.optimize(model=model, evaluator=place.evaluator(rows=Cold()))
    told = [one.messages[-1].text for one in model.requests if one.role == "coder" and len(one.messages) == 4]
    judged = {one.sample for one in model.requests if one.role == "judge"}
    assert judged == set(range(1, max(map(rounds_of, told))))
    for number in judged:
        assert any(f"after round {number}" in text for text in told if rounds_of(text) == number + 1)
