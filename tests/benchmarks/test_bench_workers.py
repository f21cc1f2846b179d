"""A suite's run, and the bot, with evaluation by other processes."""

from __future__ import annotations

import shutil
import threading

import pytest
from test_bench_run import CHECKED, asked, done, rows
from tiny_suite import FAST, WRONG, TinySuite
from work import answer, diagnosis

from whet.benchmarks.runner.request import LoopSettings
from whet.benchmarks.runner.run import opened
from whet.bot.engine import CommandEngine, Work
from whet.bot.project import Project
from whet.bot.settings import JobLimits
from whet.bot.touched import Function
from whet.core.errors import UsageError
from whet.core.options import Options
from whet.testing.scripted import ScriptedModel

sandboxed = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
ELSEWHERE = Options(until=CHECKED.until, seed=CHECKED.seed, cluster="local:2", sandbox="bubblewrap")


@pytest.mark.corpus
@sandboxed
def test_rows_say_what_they_say_where_this_process_judges(tmp_path, monkeypatch):
    found = {}
    for name, options in {"here": CHECKED, "there": ELSEWHERE}.items():
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.setenv("WHET_HOME", str(folder / "home"))
        told, _ = done(asked(TinySuite(2), "known-best", options=options, verdict=True), folder)
        assert all(one.row is not None for one in told), told
        found[name] = [(row.problem, row.own, row.result["status"], row.machine) for row in rows(folder)]
        assert all(row.evidence for row in rows(folder) if row.result)
    assert sorted(found["there"], key=str) == sorted(found["here"], key=str)
    assert found["there"]


@pytest.mark.corpus
@sandboxed
def test_the_model_is_asked_here_and_its_answers_are_judged_there(tmp_path, monkeypatch):
    monkeypatch.setenv("WHET_HOME", str(tmp_path / "home"))
    texts = [WRONG, FAST]
    model = ScriptedModel(lambda r: diagnosis() if r.role == "judge" else answer(texts[r.sample % 2]))
    order = asked(TinySuite(2), LoopSettings(model, rounds=1, candidates=2), options=ELSEWHERE)
    with opened(order, order.suite.read(tmp_path).problems, 1, tmp_path / "rows.jsonl", tmp_path / "home") as run:
        told = list(run.work())
        (host,) = run.executor.hosts()
        assert host.done >= 2 * 4, "each problem is made ready and validated, and has two answers"
    assert [one.error for one in told] == ["", ""]
    assert {row.result["candidates"]["correct"] for row in rows(tmp_path)} == {1}
    assert {tuple(row.result["candidates"]["rejected"]) for row in rows(tmp_path)} == {("wrong_output",)}


def test_another_state_directory_than_the_workers_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("WHET_HOME", str(tmp_path / "elsewhere"))
    with pytest.raises(UsageError, match="WHET_HOME"):
        done(asked(TinySuite(1), options=ELSEWHERE), tmp_path)


@pytest.mark.corpus
def test_the_bot_hands_its_workers_to_the_commands_that_it_runs(tmp_path):
    (tmp_path / "total.py").write_text("def total(numbers):\n    return sum(numbers)\n")
    work = Work(tmp_path, tmp_path, "head", "base", tmp_path / "home", Project())
    engine = CommandEngine(JobLimits(workers="ray:nonsense"))
    (found,) = engine.optimize(work, [Function("total.py", "total", 1, 2, 0)], "catalogue", 0.0, threading.Event())
    assert "ray://HOST:PORT" in found.message
