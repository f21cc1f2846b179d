"""Past runs on the command line: list, show, resume, replay, export; and what the final text says."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import whet as library
from whet.cli.errors import Invocation
from whet.cli.progress import View, watching
from whet.cli.render import result_lines
from whet.cli.run_progress import lasting_line
from whet.core.candidate import content_id
from whet.core.events import Event, EventKind
from whet.core.options import Budget, Options
from whet.core.result import Cost, Tokens
from whet.core.store import Store
from whet.core.verdict import Reason
from whet.evaluators.targets import read_task
from whet.testing.fake_provider import FakeProvider
from whet.testing.fake_provider import ProviderFailure as ProviderFault
from whet.testing.scripted import ScriptedModel
from whet.testing.tabled import Row, TabledEvaluator

SLOW = "def total(numbers):\n    return sum([n for n in numbers])\n"
FAST = "def total(numbers):\n    return sum(numbers)\n"
WRONG = "def total(numbers):\n    return 0  # \x1b[31m\n"


@pytest.fixture
def target(tmp_path):
    path = tmp_path / "code" / "total.py"
    path.parent.mkdir()
    path.write_text(SLOW)
    return path


@pytest.fixture
def finished(target, tmp_path):
    """A finished run in the state directory of the ``whet`` fixture."""
    task = read_task(f"{target}::total", Options())
    rows = {FAST: Row(ratio=3.0), WRONG: Row(reason=Reason.WRONG_OUTPUT, detail="on \x1b[2J[1]: expected 1, got 0")}
    answers = {"coder": [f"```python\n{WRONG}```", f"```python\n{FAST}```"]}
    return library.optimize(
        f"{target}::total",
        model=ScriptedModel(answers),
        judge_model="catalogue",
        rounds=2,
        candidates=2,
        home=tmp_path / "home",
        evaluator=TabledEvaluator(task, rows),
    )


def only(done, code=0):
    """Returns the one JSON document on stdout."""
    assert done.returncode == code, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


def test_a_list_without_runs(whet):
    assert only(whet("runs", "list", "--json")) == []
    assert "whet optimize TARGET" in whet("runs", "list").stdout


@pytest.mark.corpus
def test_a_list_names_each_run_newest_first(whet, finished, target):
    (row,) = only(whet("runs", "list", "--json"))
    assert row["run"] == finished.run
    assert row["target"] == f"{target}::total"
    assert (row["status"], row["result"]) == ("finished", "improved")
    assert row["seconds"] == finished.seconds
    assert row["cost"]["calls"] == 0
    assert row["started"].endswith("+00:00")
    replayed = only(whet("runs", "replay", finished.run, "--json"))
    assert [row["run"] for row in only(whet("runs", "list", "--json"))] == [replayed["run"], finished.run]
    assert f"{finished.run}  improved" in whet("runs", "list").stdout


@pytest.mark.corpus(one_in=8)
def test_show_tells_every_prompt_reply_and_verdict_in_order(whet, finished):
    document = only(whet("runs", "show", finished.run, "--json"))
    assert document["run"] == finished.run
    times = [event["at"] for event in document["events"]]
    assert times == sorted(times)
    calls = [event for event in document["events"] if event["event"] == "call"]
    assert [call["role"] for call in calls] == ["coder", "coder", "judge", "coder", "coder"]
    assert SLOW in "".join(message["text"] for message in calls[0]["prompt"])
    verdicts = [e["name"].split(":")[1] for e in document["events"] if e.get("name", "").startswith("verdict:")]
    assert set(verdicts) == {content_id(WRONG), content_id(FAST)}

    text = whet("runs", "show", finished.run).stdout
    assert "return sum([n for n in numbers])" in text
    assert "differential failed wrong_output: on \\x1b[2J[1]: expected 1, got 0" in text
    assert "result: improved" in text
    assert "\x1b" not in text


def begun(target, tmp_path, answers, **options):
    """A run of a paid model, in the state directory of the ``whet`` fixture."""
    (target.parent / "pyproject.toml").write_text(
        "[tool.whet.prices.paid]\ninput = 2\noutput = 10\n[tool.whet.providers.paid]\nslots = 1\n"
    )
    task = read_task(f"{target}::total", Options())
    rows = {FAST: Row(ratio=3.0), WRONG: Row(reason=Reason.WRONG_OUTPUT, detail="expected 1, got 0")}
    return library.optimize(
        f"{target}::total",
        model=ScriptedModel(answers, "paid", free=False),
        strategy="refine",
        candidates=2,
        home=tmp_path / "home",
        evaluator=TabledEvaluator(task, rows),
        **options,
    )


@pytest.mark.corpus(one_in=8)
def test_show_names_rounds_prices_running_cost_the_winner_and_diagnoses_drawn_by_rule(whet, target, tmp_path):
    said = {
        "coder": [f"```python\n{WRONG}```", "rubbish", "rubbish", f"```python\n{FAST}```"],
        "judge": ["?", '{"a": 1}'],
    }
    result = begun(target, tmp_path, said, rounds=2)
    document = only(whet("runs", "show", result.run, "--json"))
    price = {"input": 2.0, "output": 10.0, "cached": None, "source": "[tool.whet.prices]", "date": None}
    assert document["prices"] == {"paid": price}
    assert document["winner"] == result.candidate.id
    assert document["cost"] == json.loads(json.dumps(result.to_json()))["cost"]
    calls = [event for event in document["events"] if event["event"] == "call"]
    assert [call["spent"]["calls"] for call in calls] == list(range(1, len(calls) + 1))
    spent, cost = calls[-1]["spent"], document["cost"]
    assert {**cost, "models": {}} == {**spent, "usd": pytest.approx(spent["usd"]), "models": {}}
    assert cost["models"] == {"paid": {**spent["models"]["paid"], "usd": pytest.approx(spent["usd"])}}
    assert sum(call["usd"] for call in calls) == pytest.approx(document["cost"]["usd"])
    facts = {event["name"]: event["value"] for event in document["events"] if event["event"] == "fact"}
    assert facts["diagnosis:1"]["by_rule"] is True

    text = whet("runs", "show", result.run).stdout
    for part in (
        "price of paid: 2 in, 10 out, in USD a million tokens ([tool.whet.prices])",
        f"round 1, built upon {content_id(SLOW)[:10]}: 1 proposed; new: {content_id(WRONG)[:10]}",
        "| unusable: ",
        f"verdict on {content_id(FAST)[:10]}, confirmed: nothing wrong, 3.00x",
        "diagnosis after round 1 (drawn by rule: the Judge gave no usable answer)",
        f"winner: {content_id(FAST)[:10]} from paid",
        f"so far: {document['cost']['usd']:.4f} USD, {len(calls)} calls",
    ):
        assert part in text


@pytest.mark.corpus(one_in=8)
def test_show_of_an_interrupted_run_counts_the_call_under_way_at_its_worst_case(whet, target, tmp_path):
    def interrupted(request):
        if request.sample == 1:
            raise KeyboardInterrupt
        return f"```python\n{FAST}```"

    with pytest.raises(KeyboardInterrupt):
        begun(target, tmp_path, interrupted)
    (row,) = only(whet("runs", "list", "--json"))
    document = only(whet("runs", "show", row["run"], "--json"))
    assert (document["status"], document["winner"]) == ("interrupted", None)
    calls = (event for event in document["events"] if event["event"] == "call")
    done, unknown = sorted(calls, key=lambda call: call["state"])  # they were asked side by side
    assert (done["state"], unknown["state"], unknown["reply"], unknown["seconds"]) == ("done", "unknown", None, None)
    assert unknown["usage"]["output"] > 8192
    assert document["cost"]["usd"] == pytest.approx(done["usd"] + unknown["usd"])
    exported = only(whet("runs", "export", row["run"]))["transcript"]
    assert sorted(call["state"] for call in exported) == ["done", "unknown"]

    text = whet("runs", "show", row["run"]).stdout
    assert f"unknown: its process died meanwhile; counted at its worst case, {unknown['usd']:.4f} USD" in text
    assert text.endswith(f"go on with it: whet runs resume {row['run']}\n")


@pytest.mark.corpus
def test_show_of_a_run_under_way_says_so(whet, target, tmp_path):
    shown = []

    def looking(request):
        (row,) = only(whet("runs", "list", "--json"))
        shown.append((only(whet("runs", "show", row["run"], "--json")), whet("runs", "show", row["run"]).stdout))
        return ""

    begun(target, tmp_path, looking, rounds=1)
    document, text = shown[0]
    assert document["status"] == "running"
    assert {event["state"] for event in document["events"] if event["event"] == "call"} == {"intent"}
    assert "under way; reserved is its worst case" in text
    assert "cost so far: " in text.splitlines()[-1]


@pytest.mark.corpus
def test_replay_ends_in_the_same_document_at_no_cost(whet, finished):
    again = only(whet("runs", "replay", finished.run, "--json"))
    assert again["run"] != finished.run
    first = finished.to_json()
    for key in ("schema", "task", "status", "candidate", "candidates", "rungs", "cost"):
        assert again[key] == json.loads(json.dumps(first[key])), key
    assert again["speedup"]["ratio"] == first["speedup"]["ratio"]


@pytest.mark.corpus
def test_resume_of_a_finished_run_tells_its_result(whet, finished):
    again = only(whet("runs", "resume", finished.run, "--json"))
    assert again == json.loads(json.dumps(finished.to_json()))


@pytest.mark.corpus
def test_a_run_with_a_wrong_key_goes_on_once_the_key_is_right(whet, target):
    target.with_name("workload.py").write_text(
        "sizes = [9, 20000, 30000]\n\ndef make_input(size, rng):\n    return (list(range(size)),)\n"
    )
    with FakeProvider(f"```python\n{FAST}```") as provider:
        provider.plan(ProviderFault.WRONG_KEY)
        model, key = f"openai:any@{provider.openai_url}", {"OPENAI_API_KEY": "sk-test-0123456789"}
        words = ("optimize", f"{target}::total", "--model", model, "--judge-model", "catalogue", "--until", "screen")
        done = whet(*words, "--rounds", "1", "--candidates", "1", "--budget-tokens", "90000", "--json", **key)
        assert done.returncode == 2
        assert key["OPENAI_API_KEY"] not in done.stdout + done.stderr
        run = done.stderr.rstrip().rpartition("whet runs resume ")[2]
        assert f"{run}  no_improvement" in whet("runs", "list").stdout
        last = only(whet("runs", "resume", run, "--json", **key), code=3)
        assert last["run"] == run
        assert last["candidates"]["correct"] == 1
        assert "resume" not in last["message"]
        assert len(provider.requests) == 2
    assert only(whet("runs", "resume", run, "--json"), code=3) == last


@pytest.mark.corpus
def test_runs_that_cannot_be_resumed_or_replayed_are_one_clear_line(whet, finished, target, tmp_path):
    store = Store(tmp_path / "home")
    request = store.run(finished.run).request
    held = store.begin("optimize", f"{target}::total", request)
    verified = store.begin("verify", f"{target}::total", {})
    store.release(verified)
    expected = {
        ("resume", held): "is being worked on by another process",
        ("replay", held): "is not finished",
        ("resume", verified): "is of whet verify, which is not resumed; run it again",
        ("replay", verified): "is of whet verify, which is not replayed; run it again",
    }
    for (command, run), line in expected.items():
        done = whet("runs", command, run)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert line in done.stderr
    store.close()


@pytest.mark.corpus(one_in=8)
def test_export_holds_all_that_a_third_party_needs(whet, finished, tmp_path):
    path = tmp_path / "run.json"
    done = whet("runs", "export", finished.run, "-o", path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    document = json.loads(path.read_text())
    assert document["schema"] == "whet.run/1"
    assert document["id"] == finished.run
    assert document["result"]["status"] == "improved"
    assert document["sources"][content_id(FAST)] == FAST
    assert document["facts"]["task"]["source"] == SLOW
    assert len(document["transcript"]) == 5
    assert only(whet("runs", "export", finished.run)) == document


@pytest.mark.corpus
@pytest.mark.parametrize("command", ["show", "resume", "replay", "export"])
def test_an_unknown_run_names_the_nearest(whet, finished, command):
    wrong = finished.run[:-1] + "x"
    done = whet("runs", command, wrong)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert f"did you mean '{finished.run}'?" in done.stderr


def test_an_export_that_cannot_be_written_is_one_line(whet, finished, tmp_path):
    done = whet("runs", "export", finished.run, "-o", tmp_path / "none" / "run.json")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_the_text_reads_at_60_columns_and_hides_nothing(finished):
    text = list(result_lines(finished))
    assert all(len(line) <= 60 for line in text if str(Path.cwd().root) not in line)
    joined = "\n".join(text)
    assert "3.00x" in joined
    assert "2.94x to 3.06x at 99 %" in joined
    assert "10 fresh processes, 40 samples a side" in joined
    assert "0.990x to 1.010x (baseline against itself)" in joined
    assert "1 wrong_output" in joined
    paid = replace(finished, cost=Cost(calls=2, tokens=Tokens(8000, 6000, 10)))
    assert "            8000 tokens in (6000 cached, 75 %), 10 out" in list(result_lines(paid))


def event(state, **data):
    return Event(EventKind.CANDIDATE, "", {"candidate": "a" * 64, "origin": "scripted", "state": state, **data})


def test_not_on_a_terminal_there_is_a_plain_line_for_what_lasts(capsys):
    session = Invocation()
    with watching(session, Budget(), silent=False) as listener:
        listener(Event(EventKind.STAGE, "run 1", {"run": "20260101-000000-abcdef"}))
        listener(event("checking"))
        listener(event("done", reason="wrong_output"))
        listener(event("done", reason=None, ratio=2.0, low=1.9, high=2.1))
        listener(event("done", reason=None))
        listener(Event(EventKind.COST, "", {"usd": 0.5, "tokens": 10, "calls": 1}))
    assert capsys.readouterr().out == (
        "run 1\n"
        "aaaaaaaaaa  scripted  wrong_output\n"
        "aaaaaaaaaa  scripted  faster  2.00x (1.900x to 2.10x)\n"
        "aaaaaaaaaa  scripted  right, not timed\n"
    )
    assert session.run == "20260101-000000-abcdef"


def test_silence_prints_nothing_and_still_learns_the_run(capsys):
    session = Invocation()
    with watching(session, Budget(), silent=True) as listener:
        listener(Event(EventKind.STAGE, "run 1", {"run": "20260101-000000-abcdef"}))
        listener(event("done", reason="crash"))
    assert capsys.readouterr().out == ""
    assert session.run == "20260101-000000-abcdef"


def test_a_candidates_origin_cannot_colour_the_line():
    line = lasting_line(Event(EventKind.CANDIDATE, "", {**event("done", reason="crash").data, "origin": "\x1b[1mx\ny"}))
    assert line == "aaaaaaaaaa  \\x1b[1mx y  crash"


def test_the_live_view_has_a_line_a_slot_and_a_budget_line():
    from rich.console import Console

    view = View(Budget(usd=1.0, calls=10))
    assert view.hear(Event(EventKind.ROUND, "round 1 of 8", {"round": 1})) is None
    view.hear(event("checking"))
    view.hear(Event(EventKind.COST, "", {"usd": 0.25, "tokens": 1234, "calls": 3}))
    console = Console(width=100)
    with console.capture() as shown:
        console.print(view.render())
    stage, slot, budget = shown.get().rstrip("\n").split("\n")
    assert stage.strip() == "round 1 of 8"
    assert slot.split() == ["aaaaaaaaaa", "scripted", "checking"]
    assert budget.startswith("0.2500 of 1 USD, 3 of 10 calls, 1234 tokens, 0 candidates, 0 s")
    assert view.hear(event("done", reason="slower", ratio=0.5, low=0.4, high=0.6)) is not None
    with console.capture() as shown:
        console.print(view.render())
    assert ", 1 candidate, " in shown.get()
    assert shown.get().count("\n") == 2
