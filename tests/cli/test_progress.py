"""What a run says on its way, on a terminal and in a pipe: by a scripted clock."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from work import Work, answer, scripted, version

from whet.agents.models.base import Brief, Message, Request
from whet.agents.models.manual import ManualModel, tell_by_hand
from whet.agents.optimize import optimize
from whet.agents.preparing import Ready
from whet.cli.errors import Invocation
from whet.cli.progress import QUIET_SECONDS, TICK_SECONDS, Plain, View, watching
from whet.core.events import Event, EventKind
from whet.core.options import Budget
from whet.core.verdict import Reason
from whet.testing.tabled import Row, TabledEvaluator

ID = "a" * 64


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def lines():
    return []


@pytest.fixture
def plain(clock, lines):
    return Plain(Budget(seconds=60.0), lines.append, clock)


def candidate(state, id=ID, **data):
    return Event(EventKind.CANDIDATE, "", {"candidate": id, "origin": "model", "state": state, **data})


def turn(number, most=5):
    return Event(EventKind.TURN, "", {"candidate": ID, "rung": "measure", "turn": number, "turns": most})


def done(ratio, id=ID):
    return candidate("done", id, reason=None, ratio=ratio, low=ratio - 0.1, high=ratio + 0.1)


def shown(view):
    console = Console(width=160)
    with console.capture() as captured:
        console.print(view.render())
    return captured.get()


def waiting(*, over):
    text = "core 1 is free" if over else "waiting for run 20260101-000000-abcdef on core 1"
    return Event(EventKind.WAITING, text, {"core": 1, "holder": "20260101-000000-abcdef", "process": 7, "over": over})


def test_waiting_for_the_core_of_another_run_is_shown_until_it_is_free(plain, clock, lines):
    view = View(Budget(), clock)
    text = waiting(over=False).text
    plain.hear(waiting(over=False))
    assert lines == [text]
    clock.now += QUIET_SECONDS
    plain.tick()
    assert text in lines[1]
    assert view.hear(waiting(over=False)) is None
    assert text in shown(view)
    plain.hear(waiting(over=True))
    clock.now += QUIET_SECONDS
    plain.tick()
    assert len(lines) == 3
    assert text not in lines[2]
    view.hear(waiting(over=True))
    assert text not in shown(view)


def test_a_pipe_is_told_how_far_a_run_is_at_least_every_ten_seconds(plain, clock, lines):
    assert QUIET_SECONDS + TICK_SECONDS < 10
    plain.hear(Event(EventKind.STAGE, "run 7", {"run": "7"}))
    plain.hear(Event(EventKind.ROUND, "round 1 of 8", {"round": 1}))
    plain.hear(candidate("checking"))
    assert lines == ["run 7", "round 1 of 8"]
    clock.now += QUIET_SECONDS - 0.1
    plain.tick()
    assert len(lines) == 2
    clock.now += 0.1
    plain.tick()
    plain.tick()
    (said,) = lines[2:]
    assert said.startswith(f"round 1 of 8; {ID[:10]}  model  checking; ")
    assert said.endswith("8 of 60 s, 52 s left")
    clock.now += QUIET_SECONDS
    plain.tick()
    assert len(lines) == 4


def test_turns_are_told_with_the_time_that_the_others_take(plain, clock, lines):
    plain.hear(candidate("waiting for the clock"))
    clock.now += QUIET_SECONDS
    plain.tick()
    assert "waiting for the clock" in lines[-1]
    assert "turns" not in lines[-1]
    plain.hear(candidate("measuring"))
    for number in range(4):
        plain.hear(turn(number))
        clock.now += 2.0
    plain.tick()
    assert "measuring  2 of 5 turns done, about 8 s left" in lines[-1]
    plain.hear(turn(4, most=10))
    clock.now += QUIET_SECONDS
    plain.tick()
    assert "3 of 10 turns done" in lines[-1]
    plain.hear(done(2.0))
    clock.now += QUIET_SECONDS
    plain.tick()
    assert "turns" not in lines[-1]
    assert "best so far 2.00x" in lines[-1]


def test_a_figure_that_is_lowered_later_says_why_in_its_place(clock):
    view = View(Budget(), clock)
    assert view.hear(done(3.2)) == "aaaaaaaaaa  model  faster  3.20x (3.10x to 3.30x)"
    view.hear(done(2.0, "b" * 64))
    assert "best so far 3.20x" in shown(view)
    line = view.hear(candidate("confirmed", first=3.2, ratio=2.9, why=""))
    assert (
        line == "aaaaaaaaaa  model  confirmed at 2.90x on fresh inputs, which counts; 3.20x when it was first measured"
    )
    assert (
        "best so far 2.90x (confirmed at 2.90x on fresh inputs, which counts; 3.20x when it was first measured)"
        in shown(view)
    )


def test_what_is_not_confirmed_gives_way_to_the_next_and_says_why(clock):
    view = View(Budget(), clock)
    view.hear(done(3.2))
    view.hear(done(2.0, "b" * 64))
    line = view.hear(candidate("unconfirmed", first=3.2, ratio=None, why="wrong_output: expected 1, got 0"))
    why = "not confirmed: wrong_output: expected 1, got 0; 3.20x when it was first measured no longer counts"
    assert line == f"aaaaaaaaaa  model  {why}"
    assert f"best so far 2.00x ({why})" in shown(view)
    view.hear(candidate("unconfirmed", "b" * 64, first=2.0, ratio=1.0, why="not_faster: not shown"))
    assert "none faster so far (not confirmed: not_faster" in shown(view)


def test_the_run_tells_its_own_caps(plain, clock, lines):
    budget = {"usd": 1.0, "tokens": None, "calls": 3, "candidates": None, "seconds": None}
    plain.hear(Event(EventKind.STAGE, "run 7", {"run": "7", "budget": budget}))
    clock.now += QUIET_SECONDS
    plain.tick()
    assert "0.0000 of 1 USD, 0 of 3 calls" in lines[-1]


def test_a_run_that_goes_on_tells_the_time_that_is_left_of_all_its_time(plain, clock, lines):
    plain.hear(Event(EventKind.STAGE, "run 7", {"run": "7", "budget": {"seconds": 60.0}, "worked": 40.0}))
    clock.now += QUIET_SECONDS
    plain.tick()
    assert lines[-1].endswith("48 of 60 s, 12 s left")


def test_the_id_of_a_run_comes_before_all_that_is_done_for_it(tmp_path, monkeypatch, capsys):
    work = Work(tmp_path)

    def ready(judges, task, settings, seed, model, listener, seconds):
        listener(Event(EventKind.STAGE, "recording the calls of f"))
        return Ready(task, TabledEvaluator(task, {}))

    monkeypatch.setattr("whet.agents.optimize.ready", ready)
    session = Invocation()
    with watching(session, Budget(), silent=False) as listener:

        def hear(event):
            if event.text.startswith("recording"):
                assert session.run is None, "there is nothing yet to go on with"
            listener(event)

        result = optimize(f"{work.path}::f", model=scripted([]), home=work.home, rounds=1, listener=hear)
    assert session.run == result.run
    said = capsys.readouterr().out.splitlines()
    assert said[:4] == [f"run {result.run}", "recording the calls of f", "checking the baseline", "round 1 of 1"]


def test_a_terminal_keeps_the_id_of_a_run(clock):
    view = View(Budget(), clock)
    assert view.hear(Event(EventKind.STAGE, "run 7", {"named": "7"})) == "run 7"
    assert view.hear(Event(EventKind.STAGE, "run 7", {"run": "7", "told": True})) is None
    assert shown(view).startswith("run 7")


def test_a_pipe_is_told_of_each_phase_and_the_run_comes_first(capsys, tmp_path):
    work = Work(tmp_path)
    rows = {version(1): Row(ratio=3.0), version(2): Row(reason=Reason.WRONG_OUTPUT, detail="expected 1, got 0")}
    with watching(Invocation(), Budget(), silent=False) as listener:
        model = scripted([answer(version(1)), answer(version(2))])
        result = work.optimize(model, rows, rounds=1)
        for event in work.events:
            listener(event)
    said = capsys.readouterr().out.splitlines()
    assert said[:3] == [f"run {result.run}", "checking the baseline", "round 1 of 1"]
    assert any(line.endswith("wrong_output") for line in said)
    assert "confirmed at" in said[-1]
    states = [event.data["state"] for event in work.events if event.kind is EventKind.CANDIDATE]
    assert states.index("waiting for the clock") < states.index("measuring")


# answers by hand


def prompt_request(place=""):
    messages = (Message("system", "the rules"), Message("user", "make it faster"))
    return Request("coder", messages, 0, 64, Brief("python", "function", "f", "def f(): ..."), place)


def test_what_is_awaited_is_said_once_and_only_where_it_is_not_there(tmp_path):
    model, told = ManualModel(tmp_path), []
    model.tell = told.append
    (tmp_path / "0001.answer.md").write_text("there before")
    model.complete(prompt_request("round 1, sample 1 of 2"))
    assert told == []
    (tmp_path / "0001.answer.md").unlink()
    with ThreadPoolExecutor(1) as pool:

        def hear(line):
            told.append(line)
            (tmp_path / "0001.answer.md").write_text("an answer")

        model.tell = hear
        assert pool.submit(model.complete, prompt_request("round 1, sample 1 of 3")).result(60).text == "an answer"
    # The same prompt, whichever sample of how many it is called.
    assert told == [f"waiting for {tmp_path / '0001.answer.md'} (round 1, sample 1 of 3)"]


def test_all_that_is_awaited_is_told_again_while_it_is(plain, clock, lines, tmp_path):
    def told_again():
        clock.now += QUIET_SECONDS
        plain.tick()
        return lines[-1]

    model = ManualModel(tmp_path)
    tell_by_hand([model], plain.hear)
    plain.hear(Event(EventKind.ROUND, "round 1 of 8", {"round": 1}))
    first, second = (str(tmp_path / f"000{number}.answer.md") for number in (1, 2))
    told = threading.Event()
    heard = model.awaits

    def hear(file, waiting):
        heard(file, waiting)
        told.set()

    model.awaits = hear
    with ThreadPoolExecutor(2) as pool:
        asked = []
        for sample in (1, 2):
            asked.append(pool.submit(model.complete, replace(prompt_request(f"sample {sample} of 2"), sample=sample)))
            assert told.wait(60)
            told.clear()
        assert f"round 1 of 8; waiting for {first}, {second}; " in told_again()
        Path(first).write_text("an answer")
        asked[0].result(60)
        assert f"round 1 of 8; waiting for {second}; " in told_again()
        Path(second).write_text("an answer")
        asked[1].result(60)
    assert "waiting for" not in told_again()


def test_what_became_of_each_answer_is_said(tmp_path):
    work = Work(tmp_path)
    rows = {
        version(1): Row(ratio=3.0),
        version(2): Row(reason=Reason.WRONG_OUTPUT, detail="result: expected 1, got 0\non size 3: f([])"),
    }
    answers = [answer(version(1)), answer(version(2)), "Nothing to propose.", "```diff\n@@ -1 +1 @@\n-x\n+y\n```"]
    folder = tmp_path / "answers"
    folder.mkdir()
    # Two of them are asked again, with what is wrong with them, or for the Judge: those get the same.
    for number, text in enumerate([*answers, *[answers[-1]] * 4], 1):
        (folder / f"{number:04}.answer.md").write_text(text)
    with watching(Invocation(), Budget(), silent=True):
        work.optimize(f"manual:{folder}", rows, rounds=1, candidates=4, strategy="best-of")
    told = [event.text for event in work.events if event.kind is EventKind.ANSWER]
    first = {line.split(": ", 1)[1] for line in told}
    assert sum(line.endswith("read; edits applied") for line in told) == 2
    assert any("does not fit" in line for line in first)
    judged = [event for event in work.events if event.kind is EventKind.CANDIDATE and event.data["state"] == "done"]
    view = View(Budget())
    said = {view.hear(event) for event in judged}
    (rejected,) = [line for line in said if "rejected" in line]
    assert rejected.split(": ", 1)[1] == "rejected: differential wrong_output: result: expected 1, got 0"
    assert rejected.endswith("got 0")
    assert rejected[:4].isdigit()
    assert any(".answer.md: faster  3.00x" in line for line in said)
