"""A cheap model drafts, and a strong one takes over where it stalls."""

from __future__ import annotations

import os
import threading

import pytest

# Before langgraph is imported: a state that is not plain data would come back as something else.
os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from repositories import repository
from work import Work, answer, diagnosis, scripted, version

from whet.agents.calls import Calls
from whet.agents.models.base import ModelError
from whet.agents.optimize import replay, resume
from whet.agents.repository.job import Wish, job_of
from whet.core.config import ProjectConfig
from whet.core.errors import UsageError
from whet.core.result import Status
from whet.core.store import Store
from whet.evaluators.repository.revisions import Checkout
from whet.testing.scripted import ScriptedModel
from whet.testing.tabled import Row, TabledEvaluator


@pytest.fixture
def work(tmp_path):
    return Work(tmp_path)


def drafter(name: str, first: int, **options) -> ScriptedModel:
    """A model that has a version of its own for each round and sample, and a directive for each round."""

    def say(request):
        if request.role == "judge":
            return diagnosis(f"after round {request.sample}")
        number = int(request.messages[3].text.split("# Round ")[1].split()[0])
        return answer(version(first + 10 * number + request.sample))

    return ScriptedModel(say, name, **options)


def rounds_of(model) -> list[int]:
    return sorted({int(one.messages[3].text.split("# Round ")[1].split()[0]) for one in model.requests})


def origins(work, run) -> list[str]:
    store = Store(work.home)
    try:
        return [fact["origin"] for fact in store.facts(run, "candidate:").values()]
    finally:
        store.close()


CHEAP, STRONG = 1000, 2000


def test_two_rounds_without_a_gain_hand_over_for_good(work):
    cheap, strong = drafter("cheap", CHEAP), drafter("strong", STRONG)
    rows = {version(CHEAP + 10): Row(2.0), version(STRONG + 40): Row(3.0)}
    result = work.optimize(cheap, rows, takeover=strong, judge_model="catalogue", candidates=1)
    assert rounds_of(cheap) == [1, 2, 3]
    assert rounds_of(strong) == [4, 5, 6, 7], "it has the whole patience of the run"
    assert result.candidate.origin == "strong"
    assert "3 rounds brought no further gain" in result.message
    assert origins(work, result.run) == ["cheap"] * 3 + ["strong"] * 4
    assert any(event.text == "strong takes over from cheap" for event in work.events)


def test_no_other_takes_over_from_a_model_that_gains(work):
    cheap, strong = drafter("cheap", CHEAP), drafter("strong", STRONG)
    rows = {version(CHEAP + 10 * n): Row(2.0**n) for n in range(1, 9)}
    result = work.optimize(cheap, rows, takeover=strong, judge_model="catalogue", candidates=1)
    assert strong.requests == []
    assert result.status is Status.IMPROVED


def test_it_takes_over_where_nothing_is_left_to_propose(work):
    strong = drafter("strong", STRONG)
    result = work.optimize(scripted([], judge=[]), {version(STRONG + 20): Row(2.0)}, takeover=strong, rounds=3)
    assert rounds_of(strong) == [2, 3]
    assert result.status is Status.IMPROVED
    assert "nothing" not in result.message


def test_samples_of_best_of_are_taken_over_too(work):
    cheap, strong = drafter("cheap", CHEAP), drafter("strong", STRONG)
    work.optimize(cheap, {}, takeover=strong, strategy="best-of", rounds=4, candidates=2)
    assert sorted(one.sample for one in cheap.requests) == [0, 1, 2, 3]
    assert sorted(one.sample for one in strong.requests) == [4, 5, 6, 7]


def test_its_samples_are_asked_side_by_side(work):
    meeting = threading.Barrier(3, timeout=10)
    inner = drafter("strong", STRONG)

    def say(request):
        try:
            meeting.wait()
        except threading.BrokenBarrierError:
            raise ModelError("asked alone") from None
        return inner.complete(request)

    strong = ScriptedModel(say, "strong", free=False)
    result = work.optimize(
        scripted([]), {version(STRONG + 20): Row(2.0)}, takeover=strong, judge_model="catalogue", candidates=3, rounds=2
    )
    assert result.status is Status.IMPROVED
    assert result.candidates.distinct == 3


def test_what_it_costs_is_capped_like_the_rest(work):
    strong = drafter("strong", STRONG, free=False)
    with pytest.raises(UsageError, match="the price of strong is unknown"):
        work.optimize(drafter("cheap", CHEAP), {}, takeover=strong, budget_usd=1.0)
    result = work.optimize(drafter("cheap", CHEAP), {}, takeover=strong, budget_calls=2, candidates=1)
    assert result.status is Status.BUDGET_EXHAUSTED
    assert len(strong.requests) == 2


def test_a_model_that_is_none_is_refused(work):
    with pytest.raises(UsageError, match="unknown model 'anthropi:x'"):
        work.optimize(drafter("cheap", CHEAP), {}, takeover="anthropi:x")


def questions(work, run) -> list[tuple[str, str, str]]:
    store = Store(work.home)
    try:
        calls = Calls(store, run)
        return sorted((one.model, one.role, one.prompt) for one in calls.all() if one.state == "done")
    finally:
        store.close()


@pytest.mark.parametrize("at", [3, 4, 6])
def test_a_resumed_run_and_a_replay_hand_over_alike(tmp_path, at):
    rows = {version(STRONG + 30): Row(2.0)}
    options = {"candidates": 1, "rounds": 5}

    class Gone(Exception):
        pass

    def cut(model):
        def say(request):
            if len(seen) == at:
                raise Gone
            seen.append(request)
            return model.complete(request)

        return ScriptedModel(say, model.name)

    def pair():
        return drafter("cheap", CHEAP), drafter("strong", STRONG)

    whole, other = (Work(folder) for folder in (tmp_path / "whole", tmp_path / "other") if not folder.mkdir())
    cheap, strong = pair()
    result = whole.optimize(cheap, rows, takeover=strong, **options)
    seen: list = []
    cheap, strong = map(cut, pair())
    with pytest.raises(Gone):
        other.optimize(cheap, rows, takeover=strong, **options)
    store = Store(other.home)
    run = store.runs()[0].id
    store.close()
    cheap, strong = pair()
    evaluator = TabledEvaluator(other.task, rows)
    resumed = resume(run, home=other.home, model=cheap, takeover=strong, evaluator=evaluator)
    assert resumed.candidate.origin == "strong"
    assert questions(other, run) == questions(whole, result.run)
    assert replay(run, home=other.home).candidate.origin == "strong"


def test_a_repositorys_functions_are_taken_over_too(tmp_path):
    root = repository(tmp_path / "repository", {"f.py": "def f(xs):\n    return sorted(xs)\n"})
    strong = f"manual:{tmp_path / 'answers'}"
    wish = Wish(run="python f.py", model="catalogue", takeover=strong)
    job = job_of(Checkout.open(root), ProjectConfig(), wish, {})
    assert (job.model, job.judge_model, job.takeover) == ("catalogue", "catalogue", strong)
    with pytest.raises(UsageError, match="unknown model 'nobody'"):
        job_of(Checkout.open(root), ProjectConfig(), Wish(run="python f.py", takeover="nobody"), {})
