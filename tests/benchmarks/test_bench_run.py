"""Runs over a suite: planned, killed, resumed, capped, side by side; no problem ends the work on the others."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from paths import TESTS
from tiny_suite import FAST, SLOW, WRONG, TinySuite
from work import answer, diagnosis

from whet.agents.models.base import ModelError
from whet.benchmarks.runner.answers import given_answers
from whet.benchmarks.runner.plan import chosen, planned, read_suite
from whet.benchmarks.runner.request import BenchRequest, LoopSettings, Total
from whet.benchmarks.runner.rows import RowFile, read_rows
from whet.benchmarks.runner.run import opened
from whet.core.errors import UsageError
from whet.core.options import Budget, Options
from whet.evaluators.evidence.bundle import read_bundle
from whet.testing.scripted import ScriptedModel

sandboxed = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
CHECKED = Options(until="differential", seed=7)


def asked(suite, spec="unchanged", **words) -> BenchRequest:
    given = given_answers(spec, suite.read(Path()).problems, suite) if isinstance(spec, str) else spec
    return BenchRequest(suite, given, words.pop("options", CHECKED), **{"verdict": False, **words})


def done(order: BenchRequest, folder: Path, samples: int = 1) -> tuple[list, str]:
    """Runs to the end; returns what was told and which cap ended it."""
    problems = order.suite.read(Path()).problems
    with opened(order, problems, samples, folder / "rows.jsonl", folder / "home") as run:
        told = list(run.work())
        return told, run.stopped


def rows(folder: Path):
    return read_rows(folder / "rows.jsonl").rows


def answers_file(folder: Path, *lines: str) -> str:
    path = folder / "answers.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines))
    return f"answers:{path}"


@sandboxed
def test_each_answer_becomes_a_row_in_order_and_none_is_done_twice(tmp_path):
    suite = TinySuite(3, journal=tmp_path / "judged")
    told, _ = done(asked(suite), tmp_path, samples=2)
    keys = [(f"p{n}", k) for n in range(3) for k in range(2)]
    assert [(row.problem, row.sample) for row in rows(tmp_path)] == keys
    assert [(one.number, one.total) for one in told] == [(n, 6) for n in range(1, 7)]
    assert told[-1].left == 0.0
    assert {row.answer for row in rows(tmp_path)} == {SLOW}
    assert done(asked(suite), tmp_path, samples=2) == ([], "")
    assert [(row.problem, row.sample) for row in rows(tmp_path)] == keys
    assert len((tmp_path / "judged").read_text().splitlines()) == 6
    assert not (tmp_path / "rows.work").exists()


KILLED = """
import sys
from pathlib import Path
sys.path[:0] = [sys.argv[1], sys.argv[1] + "/benchmarks"]
from test_bench_run import TinySuite, asked, done
folder = Path(sys.argv[2])
suite = TinySuite(30, journal=folder / "judged", seconds=0.02)
done(asked(suite, workers=int(sys.argv[3])), folder)
"""


@pytest.mark.corpus
@sandboxed
@pytest.mark.parametrize(("workers", "wanted"), [(1, 3), (2, 2)])
def test_a_kill_loses_and_repeats_no_finished_row(tmp_path, workers, wanted):
    command = [sys.executable, "-c", KILLED, str(TESTS), str(tmp_path), str(workers)]
    rng, kills, code = random.Random(5), 0, None
    for _ in range(12):
        process = subprocess.Popen(command)
        before = size(tmp_path)
        deadline = time.monotonic() + 60
        while size(tmp_path) == before and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(rng.uniform(0, 0.15))
        if kills < wanted:
            process.send_signal(signal.SIGKILL)
        code = process.wait()
        kills += code == -signal.SIGKILL
        if code == 0:
            break
    assert (kills, code) == (wanted, 0)
    assert sorted(row.problem for row in rows(tmp_path)) == sorted(f"p{n}" for n in range(30))
    judged = Counter(line.split()[1] for line in (tmp_path / "judged").read_text().splitlines())
    # Only what was under way at a kill was begun again.
    assert sum(judged.values()) - 30 <= kills * workers


def size(folder: Path) -> int:
    path = folder / "rows.jsonl"
    return path.stat().st_size if path.exists() else 0


@sandboxed
def test_one_bad_problem_ends_nothing(tmp_path):
    suite = TinySuite(3, unusable=("p1",))
    bad = replace(suite.problem(0), id="p666")
    order = asked(suite)
    with opened(order, [bad, *suite.read(Path()).problems], 1, tmp_path / "rows.jsonl", tmp_path / "home") as run:
        told = list(run.work())
        assert run.errors == 1
    assert [one.error for one in told] == ["this one cannot be written", "", "", ""]
    found = {row.problem: row for row in rows(tmp_path)}
    assert set(found) == {"p0", "p1", "p2"}  # what could not be done is tried again by the next run
    assert found["p1"].excluded == "its reference \x1b[31mfails"
    assert found["p1"].own is None
    score = suite.score(rows(tmp_path))
    assert (score.figures[0].n, list(score.excluded)) == (2, ["p1"])


@sandboxed
def test_problems_that_need_what_is_not_here_are_told_apart(tmp_path):
    suite = TinySuite(3, needs={"p1": "no-such-tool"})
    with opened(asked(suite, "known-best"), suite.read(Path()).problems, 1, tmp_path / "r.jsonl", tmp_path) as run:
        unable = {problem.id: why for problem, why in run.plan.unable}
    assert unable == {"p1": "no-such-tool is not installed"}
    suite = TinySuite(2)
    with opened(asked(suite, "known-best"), suite.read(Path()).problems, 1, tmp_path / "r.jsonl", tmp_path) as run:
        assert [why for _, why in run.plan.unable] == ["the suite knows no best answer"]


@sandboxed
def test_a_file_of_answers_counts_what_it_leaves_out(tmp_path):
    suite = TinySuite(2)
    spec = answers_file(
        tmp_path,
        '{"problem": "p0", "sample": 0, "answer": "sum(\\u202e)"}',
        "",
        '{"problem": "p0", "sample": 1, "answer": "none"}',
    )
    order = asked(suite, spec)
    assert order.answers.samples == 2
    done(order, tmp_path, samples=2)
    found = rows(tmp_path)
    assert [(row.problem, row.sample, row.own and row.own.passed) for row in found] == [
        ("p0", 0, True),
        ("p0", 1, False),
        ("p1", 0, None),
        ("p1", 1, None),
    ]
    assert {row.model for row in found} == {"answers:answers.jsonl"}
    assert found[0].answer == "sum(\u202e)"


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        ((), "holds no answers"),
        (('{"problem": "p7", "answer": ""}',), "no problem 'p7'; did you mean"),
        (('{"problem": "p0", "answer": ""}',) * 2, "line 2: sample 0 of 'p0' was answered before"),
        (('{"problem": "p0", "answer": "\\ud800"}',), "line 1: Invalid JSON"),
        (('{"problem": "p0", "answer": 5}',), "line 1: answer: "),
        (('{"problem": "p0", "sample": -1, "answer": ""}',), "line 1: sample: "),
        (('{"problem": "p0", "answer": "x"', "line 1: "), "line 1: "),
    ],
)
def test_a_file_of_answers_is_refused_by_line(tmp_path, lines, fault):
    with pytest.raises(UsageError, match=fault):
        asked(TinySuite(3), answers_file(tmp_path, *lines))
    with pytest.raises(UsageError, match="No such file"):
        asked(TinySuite(3), f"answers:{tmp_path}/missing")


@sandboxed
def test_other_answers_under_the_same_name_are_refused(tmp_path):
    suite = TinySuite(1)
    done(asked(suite, answers_file(tmp_path, '{"problem": "p0", "answer": "sum()"}')), tmp_path)
    other = asked(suite, answers_file(tmp_path, '{"problem": "p0", "answer": "another"}'))
    with pytest.raises(UsageError, match="another answer to 'p0', sample 0"):
        done(other, tmp_path)


def test_problems_are_chosen_by_id_group_and_number():
    problems = TinySuite(6).read(Path()).problems
    assert [one.id for one in chosen(problems, groups=["even"], limit=2)] == ["p0", "p2"]
    assert [one.id for one in chosen(problems, ids=["p3", "p1"])] == ["p1", "p3"]
    with pytest.raises(UsageError, match="no problem 'p33'; did you mean 'p3'"):
        chosen(problems, ids=["p33"])
    with pytest.raises(UsageError, match="no group 'evn'; did you mean 'even'"):
        chosen(problems, groups=["evn"])
    with pytest.raises(UsageError, match="both"):
        chosen(problems, ids=["p1"], groups=["even"])
    with pytest.raises(UsageError, match="--limit 0"):
        chosen(problems, limit=0)
    with pytest.raises(UsageError, match="--samples 0"):
        planned(asked(TinySuite(6)), problems, 0, (), lambda need: "")


class Twice(TinySuite):
    def problem(self, number):
        return super().problem(0)


def test_a_suite_without_its_data_or_with_one_id_twice_is_refused(tmp_path):
    with pytest.raises(UsageError, match="two problems 'p0'"):
        read_suite(Twice(2), tmp_path)
    with pytest.raises(UsageError, match="no such folder"):
        read_suite(TinySuite(2), tmp_path / "missing")


@sandboxed
@pytest.mark.corpus(one_in=8)
def test_caps_end_a_run_before_the_next_problem(tmp_path):
    told, stopped = done(asked(TinySuite(3, seconds=2.1), total=Total(seconds=2.0)), tmp_path)
    assert len(told) == 1
    assert stopped == "--total-seconds 2 are over"
    suite = TinySuite(3)
    told, stopped = done(asked(suite), tmp_path)
    assert (len(told), stopped) == (2, "")
    paid = LoopSettings("anthropic:someone", budget=Budget(usd=0.5))
    with opened(
        asked(suite, paid, total=Total(usd=0.4)), suite.read(Path()).problems, 1, tmp_path / "r", tmp_path
    ) as run:
        assert list(run.work()) == []
        assert run.stopped.startswith("--total-usd 0.4 leaves too little")
    for order in (asked(suite, total=Total(usd=1.0)), asked(suite, LoopSettings("catalogue"), total=Total(usd=1.0))):
        with pytest.raises(UsageError, match="--total-usd goes with --budget-usd"):
            done(order, tmp_path)
    with pytest.raises(UsageError, match="--workers 0"):
        done(asked(suite, workers=0), tmp_path)


@pytest.mark.corpus
@sandboxed
def test_the_verdict_stands_beside_the_own_rule_with_its_evidence(tmp_path):
    suite = TinySuite(1)
    spec = answers_file(
        tmp_path,
        *(
            f'{{"problem": "p0", "sample": {n}, "answer": {text}}}'
            for n, text in enumerate((quoted(FAST), quoted(WRONG)))
        ),
    )
    done(asked(suite, spec, verdict=True), tmp_path, samples=2)
    right, wrong = rows(tmp_path)
    assert right.result["status"] == "no_improvement"  # it was not to be timed
    assert wrong.result["status"] == "rejected"
    assert (right.own.passed, wrong.own.passed) == (True, False)
    for row in (right, wrong):
        bundle = read_bundle(tmp_path / "rows.evidence" / f"{row.evidence}.zip")
        assert bundle.record.run == row.result["run"]
        assert str(tmp_path) not in str(row)
    assert right.result["task"]["target"] == "total.py::total"


def quoted(text: str) -> str:
    return '"' + text.replace("\n", "\\n") + '"'


@pytest.mark.corpus
@sandboxed
def test_a_run_of_a_model_goes_on_where_it_was_left(tmp_path):
    suite, failing = TinySuite(1), [True]

    def say(request):
        if request.role == "judge":
            return diagnosis()
        if "# Round 2" in request.messages[3].text and failing[0]:
            return ModelError("the server is away", fatal=True)
        return answer(FAST) if "# Round 2" in request.messages[3].text else answer(WRONG)

    model = ScriptedModel(say)
    order = asked(suite, LoopSettings(model, rounds=2, candidates=1))
    (first,), _ = done(order, tmp_path)
    assert first.row is None
    assert "the server is away" in first.error
    asked_before = sum("# Round 1" in prompt.messages[3].text for prompt in model.requests if prompt.role == "coder")
    failing[0] = False
    (second,), _ = done(order, tmp_path)
    assert second.row.model == "scripted"
    assert (second.row.strategy, second.row.budget) == ("auto", "2 rounds of 1, until differential")
    rounds = [prompt for prompt in model.requests if prompt.role == "coder" and "# Round 1" in prompt.messages[3].text]
    assert len(rounds) == asked_before == 1  # no recorded reply is asked for again
    assert second.row.result["candidates"]["distinct"] == 2


def test_the_name_of_a_model_holds_no_address():
    assert LoopSettings("openai:local@http://10.0.0.1:8000/v1").name == "openai:local"
    assert LoopSettings("catalogue", "openai:x@https://user:secret@host").name == "catalogue, judged by openai:x"
    assert LoopSettings("m", budget=Budget(usd=0.5, calls=3)).words == "8 rounds of 4, 0.5 USD, 3 calls"
    assert LoopSettings("m", rounds=1).words == "1 round of 4"


@sandboxed
def test_rows_of_two_models_and_of_other_options_share_a_file(tmp_path):
    suite = TinySuite(2)
    done(asked(suite), tmp_path)
    done(asked(suite, "known-best", options=Options(min_speedup=1.5)), tmp_path)
    found = Counter((row.model, row.budget) for row in rows(tmp_path))
    assert found == {("unchanged", "until differential"): 2, ("known-best", "min-speedup 1.5"): 1}
    with closing(RowFile(tmp_path / "rows.jsonl")) as file:
        assert len(file.rows) == 3


def test_a_file_in_the_suites_own_format_holds_answers_too(tmp_path):
    class OwnFormat(TinySuite):
        def answers(self, file, problems):
            texts = json.loads(file.read_text())
            return {(id, sample): text for id, each in texts.items() for sample, text in enumerate(each)}

    suite = OwnFormat()
    problems = suite.read(Path()).problems
    theirs = tmp_path / "theirs.json"
    theirs.write_text(json.dumps({problems[0].id: ["a", "b"], "of another suite": ["c"]}))
    given = given_answers(f"answers:{theirs}", problems, suite)
    assert given.texts == {(problems[0].id, 0): "a", (problems[0].id, 1): "b"}
    theirs.write_text(json.dumps({"of another suite": ["c"]}))
    with pytest.raises(UsageError, match="answers none of the problems"):
        given_answers(f"answers:{theirs}", problems, suite)
    ours = tmp_path / "ours.jsonl"
    ours.write_text(json.dumps({"problem": problems[0].id, "answer": "d"}) + "\n")
    assert given_answers(f"answers:{ours}", problems, suite).texts == {(problems[0].id, 0): "d"}
