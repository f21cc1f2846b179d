"""Answers written by hand to real prompts, replayed on the real ladder up to the rung before measuring."""

from __future__ import annotations

from pathlib import Path

import pytest
from paths import TESTS

from whet.agents.answers import Answer, Malformed, parse_answer
from whet.agents.optimize import optimize
from whet.core.candidate import content_id
from whet.testing.scripted import ScriptedModel

FOLDER = TESTS / "answers"
TARGETS = {
    "ledger": "ledger.py::Ledger.balances",
    "report": "report.cpp",
    "score": "score.py::score",
    "smooth": "smooth.py::smooth",
    "words": "words.py",
}
WRONG = {
    "ledger": {
        "wrong-in-place": ("differential", "wrong_output", ("after the call, self", "Ledger([(")),
        "wrong-loading": ("build", "crash", ("loading raised NameError: ", "(line 9 in <module>, line 6 in days_of)")),
    },
    "report": {
        "wrong-digits": ("differential", "wrong_output", ("stdout, line 1: expected '", "', got '", "stdin '")),
        "wrong-semicolon": ("build", "build_error", ("report.cpp:30:48: error: expected", "'\\n'\n")),
    },
    "score": {
        "wrong-flattery": (
            "differential",
            "wrong_exception",
            ("expected ValueError(", "line 17 in score", "score([], [])"),
        ),
        "wrong-key": ("differential", "wrong_exception", ("got KeyError(", "(line 21 in score)", "score([")),
    },
    "smooth": {
        "wrong-running-sums": (
            "differential",
            "wrong_output",
            ("off by ", "allowed ", "smooth(__import__('numpy').array("),
        ),
    },
    "words": {
        "wrong-key": ("differential", "crash", ("line 7, in count", "counts[word] += 1", "KeyError: ", "stdin '")),
    },
}
RIGHT = [
    (task, path.stem)
    for task in TARGETS
    for path in sorted((FOLDER / task).glob("*.md"))
    if path.stem != "malformed" and not path.stem.startswith("wrong-")
]


def said(task: str, name: str) -> str:
    return (FOLDER / task / f"{name}.md").read_text(encoding="utf-8")


def target(task: str) -> Path:
    return FOLDER / task / TARGETS[task].partition("::")[0]


def intended(task: str) -> str:
    (path,) = (FOLDER / task).glob("intended.*")
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize(("task", "name"), RIGHT)
def test_each_form_makes_the_intended_file(task, name):
    answer = parse_answer(said(task, name), target(task).read_text(), "cpp" if task == "report" else "python")
    assert isinstance(answer, Answer), answer
    assert answer.source == intended(task)
    assert answer.note
    assert answer.labels


def test_what_cannot_be_read_says_so():
    answer = parse_answer(said("report", "malformed"), target("report").read_text(), "cpp")
    assert isinstance(answer, Malformed)
    assert "more than one fenced block" in answer.complaint


@pytest.mark.corpus
@pytest.mark.parametrize("task", TARGETS)
def test_right_answers_climb_and_wrong_ones_fall_with_what_their_author_needs(task, tmp_path):
    """The first round is answered as it was by hand, a malformed answer by a repaired one; the second by nothing."""
    right = [name for other, name in RIGHT if other == task]
    names = [right[0], *WRONG[task]]

    def answer(request):
        if request.role == "judge":
            return "no JSON"
        # What is asked of a wrong candidate's lowest wrong function is not a round's question either.
        if not any("# Round 1 of" in message.text for message in request.messages):
            return "nothing"
        if request.sample < len(names):
            return said(task, names[request.sample])
        return said("report", "malformed") if len(request.messages) == 4 else said(task, right[-1])

    model = ScriptedModel(answer)
    workload = FOLDER / task / ("cases" if task == "words" else "workload.py")
    result = optimize(
        str(FOLDER / task / TARGETS[task]),
        model=model,
        home=tmp_path,
        workload=workload,
        until="prove",
        rounds=2,
        candidates=len(names) + 1,
    )
    assert result.candidates.proposed == len(names) + 1
    judged = next(request for request in model.requests if request.role == "judge")
    records = {record["candidate"]: record for record in judged.brief.verdicts}
    assert len(records) == len(names), "the repaired answer is the first one in another form"
    passed = records.pop(content_id(intended(task)))
    assert passed["outcome"] == "untimed", passed
    second = next(request for request in model.requests if "# Round 2 of" in request.messages[-1].text)
    for name, (rung, reason, parts) in WRONG[task].items():
        record = next(record for record in records.values() if record["note"] in said(task, name))
        assert (record["rung"], record["reason"]) == (rung, reason), (name, record)
        for part in parts:
            assert part in record["detail"], (name, part)
            assert part in second.messages[3].text, (name, part)
