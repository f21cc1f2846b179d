"""How a run of the loop ends: by its rules, its caps, its model, and always with an honest result."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from functools import partial

import pytest

# Before langgraph is imported: a state that is not plain data would come back as something else.
os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from work import SOURCE, Work, answer, coder_requests, diagnosis, endless, prompt, scripted, version

from whet.agents.budget import BudgetMeter
from whet.agents.calls import Calls
from whet.agents.ledger import Ledger
from whet.agents.models.base import ModelError, Reply, Usage
from whet.agents.models.openai import OpenAIModel
from whet.agents.models.retry import Retry
from whet.agents.optimize import replay, resume
from whet.core.circumstances import ModuleCost, TimedInput
from whet.core.errors import UsageError
from whet.core.result import Status
from whet.core.store import Store
from whet.core.task import Module
from whet.testing.fake_provider import FakeProvider, ProviderFailure
from whet.testing.scripted import ScriptedModel
from whet.testing.tabled import Row, TabledEvaluator


@pytest.fixture
def work(tmp_path):
    return Work(tmp_path)


def test_the_run_ends_after_its_rounds(work):
    result = work.optimize(endless(), {}, rounds=2)
    assert result.candidates.distinct == 4
    assert "2 rounds" in result.message
    assert result.status is Status.NO_IMPROVEMENT


def test_the_run_ends_after_three_rounds_without_a_gain(work):
    model = scripted([answer(version(0))], *([answer(version(n))] for n in range(1, 9)))
    result = work.optimize(model, {version(0): Row(2.0)}, rounds=9)
    assert result.candidates.distinct == 4
    assert "3 rounds" in result.message
    assert result.status is Status.IMPROVED


def test_the_run_ends_where_the_judge_says_stop_twice_in_a_row(work):
    stop, go = diagnosis(stop=True), diagnosis()
    script = [[answer(version(n))] for n in range(8)]
    rows = {version(n): Row(2.0 + n) for n in range(8)}
    result = work.optimize(scripted(*script, judge=[stop, go, stop, stop]), rows)
    assert result.candidates.distinct == 4
    assert "judge" in result.message


class OnGpu(TabledEvaluator):
    """One whose calls have to move what an H200 moves in half of the original's time."""

    def circumstances(self):
        cost = ModuleCost(0, 24_000_000_000, 48_000_000_000, 2, "float32", "NVIDIA H200")
        return replace(super().circumstances(), timed=(TimedInput("1000", 4096, 0.01, cost),))


@pytest.mark.parametrize(("ratio", "rounds"), [(1.96, 1), (1.5, 4)])
def test_the_run_of_a_kernel_ends_at_its_roofline(work, ratio, rounds):
    task = replace(work.task, module=Module("cuda"))
    rows = {version(0): Row(ratio)}
    model = scripted([answer(version(0))], *([answer(version(n))] for n in range(1, 9)))
    result = work.optimize(model, rows, evaluator=OnGpu(task, rows), rounds=9)
    assert result.candidates.distinct == rounds
    assert ("98% of what the device allows" in result.message) is (rounds == 1)
    assert result.status is Status.IMPROVED


def test_the_judge_is_asked_only_where_another_round_follows(work):
    model = endless()
    work.optimize(model, {}, rounds=1)
    assert [request.role for request in model.requests] == ["coder", "coder"]


def test_the_run_ends_where_nothing_is_left_to_propose(work):
    result = work.optimize(scripted([answer(version(1))], []), {})
    assert "nothing more to propose" in result.message
    empty = work.optimize(scripted([]), {})
    assert "nothing to propose" in empty.message
    assert empty.status is Status.NO_IMPROVEMENT
    assert empty.exit_code == 3


def test_a_cap_on_candidates_holds(work):
    result = work.optimize(endless(), {}, budget_candidates=3)
    assert result.candidates.distinct == 3
    assert result.status is Status.BUDGET_EXHAUSTED
    assert result.exit_code == 4
    assert "--budget-candidates 3" in result.message


@pytest.mark.parametrize(("rows", "status"), [({version(0): Row(2.0)}, "improved"), ({}, "budget_exhausted")])
def test_a_cap_on_time_holds_and_what_was_found_counts(work, monkeypatch, rows, status):
    model = endless()

    def clock():
        return 100.0 * len(model.requests)  # time passes with the questions alone

    monkeypatch.setattr("whet.agents.desk.BudgetMeter", partial(BudgetMeter, clock=clock))
    result = work.optimize(model, rows, budget_seconds=250.0, candidates=1, rounds=100)
    assert result.status == status
    assert "--budget-seconds" in result.message
    assert len(model.requests) == 3


def test_a_cap_below_one_call_ends_without_a_call(work):
    model = ScriptedModel({"coder": [answer(version(1))]}, name="paid", free=False)
    result = work.optimize(model, {}, budget_tokens=10)
    assert model.requests == []
    assert result.status is Status.BUDGET_EXHAUSTED
    assert "--budget-tokens 10" in result.message


def test_a_fatal_error_ends_the_run_with_what_was_found(work):
    error = ModelError("the key was refused", fatal=True)
    result = work.optimize(scripted([answer(version(1)), error]), {version(1): Row(2.0)})
    assert result.status is Status.IMPROVED
    assert "the key was refused" in result.message
    result = work.optimize(scripted([error]), {})
    assert result.status is Status.NO_IMPROVEMENT
    assert result.message.count("\n") == 0
    assert "the key was refused" in result.message


def test_another_error_costs_one_sample(work):
    model = scripted([ModelError("overloaded"), answer(version(1))], [])
    result = work.optimize(model, {version(1): Row(2.0)})
    assert result.status is Status.IMPROVED
    assert "overloaded" in prompt(coder_requests(model)[1])


@pytest.mark.parametrize("rubbish", ["I cannot.", "```python\n", "x" * 2_000_000, "```\na\n```\n```\nb\n```", " ."])
def test_a_model_that_answers_rubbish_ends_in_an_honest_result(work, rubbish):
    model = ScriptedModel(lambda request: rubbish)
    result = work.optimize(model, {}, candidates=1)
    assert result.status is Status.NO_IMPROVEMENT
    assert result.candidates.distinct == 0
    assert "no answer could be used" in result.message
    assert len(model.requests) == 6, "three rounds, each with one repair turn"


def test_a_malformed_answer_gets_one_repair_turn(work):
    def say(request):
        if request.role == "judge":
            return diagnosis()
        return answer(version(1)) if len(request.messages) > 4 else "Use a heap."

    model = ScriptedModel(say)
    result = work.optimize(model, {version(1): Row(2.0)}, candidates=1, rounds=1)
    assert result.status is Status.IMPROVED
    repair = model.requests[1]
    assert repair.messages[4].text == "Use a heap."
    assert "no code was found" in repair.messages[5].text


@pytest.mark.parametrize(("stop", "requests"), [("length", 2), ("refusal", 1)])
def test_a_cut_or_refused_answer_is_no_candidate(work, stop, requests):
    model = ScriptedModel(lambda request: Reply(answer(version(1)), "scripted", stop=stop))
    result = work.optimize(model, {}, candidates=1, rounds=1)
    assert result.candidates.distinct == 0
    assert len(model.requests) == requests


@pytest.mark.corpus
def test_the_time_ends_a_question_to_the_judge_and_what_was_found_counts(work):
    release = threading.Event()
    judge = ScriptedModel(lambda request: diagnosis() if release.wait(20) else "", name="slow")
    model = scripted([answer(version(1))], [answer(version(2))])
    result = work.optimize(model, {version(1): Row(2.0)}, judge_model=judge, budget_seconds=3.0)
    release.set()
    assert result.status is Status.IMPROVED
    assert "--budget-seconds" in result.message
    assert result.seconds < 10
    again = replay(result.run, home=work.home)
    assert (again.candidate.id, again.message) == (result.candidate.id, result.message)


@pytest.mark.corpus
def test_the_time_ends_a_round_of_the_coder_and_what_was_answered_counts(work):
    release = threading.Event()

    def say(request):
        if request.sample == 0:
            return answer(version(1))
        release.wait(20)
        return answer(version(2))

    model = ScriptedModel(say, "paid", free=False)
    result = work.optimize(model, {version(1): Row(2.0)}, strategy="refine", budget_seconds=2.0)
    release.set()
    assert result.candidates.proposed == 1
    assert "--budget-seconds" in result.message
    assert result.cost.calls == 2
    store = Store(work.home)
    assert [call["state"] for call in Calls(store, result.run).transcript()] == ["done", "unknown"]
    store.close()
    again = replay(result.run, home=work.home)
    assert (again.message, again.candidates) == (result.message, result.candidates)


@pytest.mark.corpus(one_in=8)
def test_a_server_that_is_not_there_is_told_in_a_line_before_anything_is_done(work):
    with pytest.raises(UsageError) as caught:
        work.optimize(OpenAIModel("any", "", "http://127.0.0.1:9/v1"), {}, candidates=3)
    assert "openai:any@http://127.0.0.1:9/v1: no connection" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not work.journal.exists()


def test_a_key_that_is_refused_at_once_is_an_error_and_the_run_can_go_on(work):
    with FakeProvider(answer(version(1))) as provider:
        model = OpenAIModel("any", "wrong", provider.openai_url)
        provider.plan(*[ProviderFailure.WRONG_KEY] * 9)
        with pytest.raises(UsageError, match=r"refuses the key.*go on with: whet runs resume ([\w-]+)$") as caught:
            work.optimize(model, {version(1): Row(2.0)}, candidates=4)
        assert "\n" not in str(caught.value)
    with FakeProvider(answer(version(1))) as provider:
        model = OpenAIModel("any", "right", provider.openai_url)
        evaluator = TabledEvaluator(work.task, {version(1): Row(2.0)})
        result = resume(str(caught.value).split()[-1], home=work.home, model=model, evaluator=evaluator)
    assert result.status is Status.IMPROVED


def test_a_key_that_is_refused_later_keeps_what_was_found(work):
    with FakeProvider(lambda body: asked(provider)) as provider:

        def asked(provider):
            provider.plan(*[ProviderFailure.WRONG_KEY] * 20)
            return answer(version(1))

        model = OpenAIModel("any", "spent", provider.openai_url)
        result = work.optimize(model, {version(1): Row(2.0)}, candidates=1)
    assert result.status is Status.IMPROVED
    assert "refuses the key" in result.message


def test_a_network_that_breaks_keeps_what_was_found_and_the_run_goes_on_once_it_stands(work, monkeypatch):
    monkeypatch.setattr("whet.agents.desk.Ledger", partial(Ledger, retry=Retry(first=0.001)))
    gone = ModelError("paid: no connection; is there a network?", retry_after=0.0, unreached=True)
    rows = {version(1): Row(2.0), version(2): Row(3.0)}
    model = ScriptedModel({"coder": [answer(version(1)), *[gone] * 9], "judge": [gone] * 9}, "paid", free=False)
    result = work.optimize(model, rows, strategy="refine", candidates=1)
    assert (result.status, result.speedup.ratio, result.cost.calls) == (Status.IMPROVED, 2.0, 1)
    assert "no connection" in result.message
    assert result.message.endswith(f"go on with: whet runs resume {result.run}")
    assert "\n" not in result.message
    assert len(model.requests) <= 1 + 2 * Retry().attempts
    again = ScriptedModel({"coder": [answer(version(2))]}, "paid", free=False)
    last = resume(result.run, home=work.home, model=again, evaluator=TabledEvaluator(work.task, rows))
    assert (last.status, last.speedup.ratio, last.cost.calls > 1) == (Status.IMPROVED, 3.0, True)
    assert "resume" not in last.message


@pytest.mark.parametrize("said", ["", "x" * 1_000_000, answer(SOURCE), answer(version(1)), "\x00\ud83d```"])
def test_a_server_that_says_the_same_for_ever_ends_in_an_honest_result(work, said):
    with FakeProvider(said, usage=Usage(input=10, output=5)) as provider:
        result = work.optimize(OpenAIModel("any", "", provider.openai_url), {}, candidates=3)
        asked = len(provider.requests)
    assert result.status is Status.NO_IMPROVEMENT
    assert result.exit_code == 3
    assert result.candidates.distinct == (said == answer(version(1)))
    assert result.cost.calls > 0
    assert asked <= 4 * 3 * 2
    assert "\n" not in result.message
    assert result.message
