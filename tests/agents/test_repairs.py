"""Repairs of candidates that are almost right."""

from __future__ import annotations

import os
from dataclasses import replace

# Before langgraph is imported: a state that is not plain data would come back as something else.
os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

import pytest
from work import SOURCE, Work, answer, diagnosis, prompt, version

from whet.agents.models.base import ModelError
from whet.agents.models.in_turn import InTurn
from whet.agents.optimize import replay, resume
from whet.agents.person import InputKind, Word
from whet.agents.repairs import REPAIRS
from whet.core.candidate import content_id
from whet.core.helpers import Helpers
from whet.core.store import Store
from whet.core.verdict import Reason
from whet.testing.scripted import ScriptedModel
from whet.testing.tabled import Row, TabledEvaluator

ALMOST = Row(reason=Reason.WRONG_OUTPUT, detail="f([2, 1]) gave [2, 1], expected [1, 2]", right=7)
REPAIR = "# A rewrite that is almost right"


@pytest.fixture
def work(tmp_path):
    return Work(tmp_path)


def is_repair(request) -> bool:
    return REPAIR in request.messages[-1].text


def repairs_of(model):
    return [request for request in model.requests if is_repair(request)]


def coder(*rounds, repairs, judge=diagnosis, name="scripted"):
    """A model that answers rounds as listed, and the repair of a text by what a mapping has for it."""

    def say(request):
        if request.role == "judge":
            return judge()
        if is_repair(request):
            said = repairs.get(request.brief.source, "")
            return said() if callable(said) else said
        number = int(request.messages[3].text.split("# Round ")[1].split()[0])
        lines = rounds[number - 1] if number <= len(rounds) else []
        return lines[request.sample] if request.sample < len(lines) else ""

    return ScriptedModel(say, name)


def test_what_is_almost_right_is_repaired_in_its_round_from_the_smallest_failing_input(work):
    model = coder([answer(version(1), "quick")], [], repairs={version(1): answer(version(2), "mended")})
    result = work.optimize(model, {version(1): ALMOST, version(2): Row(2.0)}, rounds=1)
    (question,) = repairs_of(model)
    assert "f([2, 1]) gave [2, 1], expected [1, 2]" in prompt(question)
    assert "on 7 inputs" in prompt(question)
    assert "+    return 1" in prompt(question), "what the candidate changed"
    assert question.messages[:2] == model.requests[0].messages[:2], "what recurs comes first"
    assert result.candidate.id == content_id(version(2))
    assert result.candidate.parent == content_id(version(1))
    assert result.candidate.origin == "scripted:repair"
    assert (result.candidates.proposed, result.candidates.distinct) == (2, 2)
    assert result.candidates.rejected == {"wrong_output": 1}


def test_the_answer_is_read_against_the_broken_file(work):
    blocks = "Change: x\n<<<<<<< SEARCH\n    return 1\n=======\n    return 2\n>>>>>>> REPLACE\n"
    result = work.optimize(
        coder([answer(version(1))], repairs={version(1): blocks}), {version(1): ALMOST, version(2): Row(2.0)}, rounds=1
    )
    assert result.candidate.id == content_id(version(2))


def test_a_candidate_gets_a_stated_number_of_repairs(work):
    chain = {version(n): answer(version(n + 1)) for n in range(9)}
    model = coder([answer(version(0))], repairs=chain)
    work.optimize(model, {version(n): ALMOST for n in range(9)}, rounds=1)
    asked = repairs_of(model)
    assert [request.brief.source for request in asked] == [version(n) for n in range(REPAIRS)]
    assert "-    return sorted(xs)\n+    return 1" in prompt(asked[1]), "the change is told from what was right"
    assert work.journal_lines().count(f"check {content_id(version(REPAIRS))}") == 1


@pytest.mark.parametrize(
    "row",
    [
        Row(reason=Reason.WRONG_OUTPUT, right=0),
        Row(reason=Reason.CRASH, rung="build", right=7),
        Row(reason=Reason.CHEATING, right=7),
        Row(reason=Reason.NONDETERMINISTIC, right=7),
        Row(0.5),
    ],
)
def test_what_never_was_right_or_has_no_smallest_input_is_not_sent_back(work, row):
    model = coder([answer(version(1))], repairs={version(1): answer(version(2))})
    work.optimize(model, {version(1): row}, rounds=1)
    assert repairs_of(model) == []


def test_repairs_are_announced_by_themselves_after_what_they_mend_was_checked(work):
    told = []

    class Listening(TabledEvaluator):
        def announce(self, candidates):
            told.append([one.source for one in candidates])

        def check(self, candidate):
            told.append(candidate.source)
            return super().check(candidate)

    rows = {version(1): ALMOST, version(2): Row(2.0)}
    model = coder([answer(version(1)), answer(version(3))], repairs={version(1): answer(version(2))})
    work.optimize(model, {}, evaluator=Listening(work.task, rows), rounds=1, workers=1)
    assert told == [[version(1), version(3)], version(1), version(3), [version(2)], version(2)]


def test_best_of_repairs_nothing(work):
    model = ScriptedModel({"coder": {0: answer(version(1))}})
    work.optimize(model, {version(1): ALMOST}, strategy="best-of", rounds=1)
    assert repairs_of(model) == []


def test_the_catalogue_is_never_asked_and_its_edits_are_left(work):
    free = coder([answer(version(1))], repairs={}, name="catalogue")
    paid = coder([], repairs={version(1): answer(version(2))}, name="paid")
    work.optimize(InTurn([free, paid]), {version(1): ALMOST}, rounds=1)
    assert repairs_of(free) == repairs_of(paid) == []


def test_an_answer_of_a_model_behind_the_catalogue_goes_back_to_that_model(work):
    free = coder(repairs={}, name="catalogue")
    paid = coder([answer(version(1))], repairs={version(1): answer(version(2))}, name="paid")
    result = work.optimize(InTurn([free, paid]), {version(1): ALMOST, version(2): Row(2.0)}, rounds=1)
    assert (len(repairs_of(free)), len(repairs_of(paid))) == (0, 1)
    assert result.candidate.origin == "paid:repair"


def test_a_repair_that_says_what_was_tried_is_a_complaint_of_its_round(work):
    model = coder([answer(version(1))], [], repairs={version(1): answer(SOURCE)})
    result = work.optimize(model, {version(1): ALMOST})
    assert result.candidates.distinct == 1
    assert "to the letter, a file that was tried before" in prompt(model.requests[-1])


def test_repairs_count_under_the_caps_on_candidates_and_calls(work):
    rows = {version(1): ALMOST, version(2): ALMOST}
    mends = {version(n): answer(version(n + 2)) for n in (1, 2)}
    model = coder([answer(version(1)), answer(version(2))], repairs=mends)
    assert work.optimize(model, rows, budget_candidates=3).candidates.distinct == 3
    assert [request.brief.source for request in repairs_of(model)] == [version(1)]
    paid = coder([answer(version(1)), answer(version(2))], repairs=mends)
    paid.free = False
    result = work.optimize(paid, rows, strategy="refine", budget_calls=2, judge_model=coder(repairs={}))
    assert repairs_of(paid) == []
    assert result.candidates.distinct == 2


@pytest.mark.parametrize("fatal", [False, True])
def test_a_model_that_fails_over_a_repair_costs_that_repair_alone(work, fatal):
    def fail():
        raise ModelError("broken", fatal=fatal)

    model = coder([answer(version(1)), answer(version(2))], repairs={version(1): fail})
    result = work.optimize(model, {version(1): ALMOST, version(2): Row(2.0)}, rounds=1)
    assert result.candidate.id == content_id(version(2))
    assert "the last round is done" in result.message


def killed_at(place: int, rows):
    """Returns a model that interrupts the run at one of its questions, once, with the script of both processes."""
    script = coder(
        [answer(version(1))],
        [answer(version(5))],
        [],
        repairs={
            version(1): answer(version(2)),
            version(2): answer(version(3)),
        },
    )
    count = iter(range(1000))

    def say(request):
        if next(count) == place:
            raise KeyboardInterrupt
        return script.complete(request)

    return ScriptedModel(say, "scripted")


@pytest.mark.parametrize("place", range(7))
def test_a_run_killed_at_any_question_asks_none_twice_and_is_replayed(work, place):
    rows = {version(1): ALMOST, version(2): ALMOST, version(3): Row(2.0), version(5): Row(3.0)}
    model = killed_at(place, rows)
    try:
        result = work.optimize(model, rows, rounds=3)
    except KeyboardInterrupt:
        run = Store(work.home).runs()[0].id
        evaluator = TabledEvaluator(work.task, rows, journal=work.journal)
        result = resume(run, model=model, judge_model=model, home=work.home, evaluator=evaluator)
    asked = [(prompt(request), request.sample) for request in model.requests]
    again = [one for one in set(asked) if asked.count(one) > 1]
    assert len(again) == (1 if place < len(set(asked)) else 0), "the question that was under way is asked again"
    assert len(repairs_of(model)) - sum(REPAIR in text for text, _ in again) == 2
    assert result.candidate.id == content_id(version(5))
    checks = [line for line in work.journal_lines() if line.startswith("check")]
    assert len(checks) == len(set(checks)) == 4
    told = replay(result.run, home=work.home)
    assert told.candidates == result.candidates
    assert told.candidate == result.candidate


class Editor:
    """A person who edits the original before the first round."""

    def __init__(self, source):
        self.words = [Word(InputKind.EDIT, source, content_id(SOURCE))]

    def say(self, turn):
        return self.words.pop() if self.words else Word(InputKind.GO)


def test_an_edit_of_a_person_is_not_repaired(work):
    model = coder([answer(version(2))], repairs={version(n): answer(version(n + 2)) for n in (1, 2)})
    work.optimize(model, {version(n): ALMOST for n in (1, 2)}, rounds=1, person=Editor(version(1)))
    assert [request.brief.source for request in repairs_of(model)] == [version(2)]


def test_the_lowest_wrong_function_is_told_and_stays_what_it_was_in_a_replay(work):
    helpers = Helpers("sift", "expected 1, got 2\non a call that the original makes: sift([2, 1])", ("parent",))
    rows = {version(1): replace(ALMOST, helpers=helpers), version(2): Row(2.0)}
    model = coder([answer(version(1))], repairs={version(1): answer(version(2))})
    result = work.optimize(model, rows, rounds=1)
    (question,) = repairs_of(model)
    for part in (
        "The lowest one that differs is `sift`",
        "sift([2, 1])",
        "These agree on all calls that were tried: parent",
    ):
        assert part in prompt(question)
    assert work.journal_lines().count(f"helpers {content_id(version(1))}") == 1
    assert replay(result.run, home=work.home).candidate == result.candidate
