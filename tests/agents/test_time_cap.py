"""The cap on seconds holds whatever a run is doing, and a cap on calls holds for people's answers too."""

from __future__ import annotations

import os
import queue
import threading
from contextlib import closing, suppress

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

import pytest
from work import Work, answer, scripted, version

from whet.agents import preparing, time_cap
from whet.agents.history import WORKED
from whet.agents.models.manual import ManualModel
from whet.agents.optimize import optimize, replay, resume
from whet.core.candidate import content_id
from whet.core.errors import SandboxError
from whet.core.result import Status
from whet.core.store import Store
from whet.testing.tabled import Row, TabledEvaluator

MINUTE = 60.0


@pytest.fixture
def work(tmp_path):
    return Work(tmp_path)


class Hanging(TabledEvaluator):
    """Never comes to the end of one step, unless it is closed meanwhile."""

    def __init__(self, task, rows, step, text=None):
        super().__init__(task, rows)
        self.step, self.text = step, text
        self.hangs, self.closed = threading.Event(), threading.Event()

    def _pass(self, step, candidate=None):
        if step == self.step and (self.text is None or candidate is None or candidate.source == self.text):
            self.hangs.set()
            assert self.closed.wait(MINUTE), "nobody ended it"
            raise SandboxError("its processes were ended")

    def validate(self):
        self._pass("validate")
        super().validate()

    def profile(self, candidate):
        self._pass("profile", candidate)
        return super().profile(candidate)

    def check(self, candidate):
        self._pass("check", candidate)
        return super().check(candidate)

    def measure(self, candidate, verdict, **more):
        self._pass("measure", candidate)
        return super().measure(candidate, verdict, **more)

    def confirm(self, candidate, verdict):
        self._pass("confirm", candidate)
        return super().confirm(candidate, verdict)

    def close(self):
        self.closed.set()
        super().close()


def capped(work, evaluator, monkeypatch, model):
    """Runs with a cap on seconds that are over once the evaluator hangs."""

    def until_it_hangs(tasks, lanes, seconds):
        came = {}

        def turn():
            try:
                came[0] = tasks[0]()
            except SandboxError:
                pass
            finally:
                evaluator.hangs.set()

        threading.Thread(target=turn, daemon=True).start()
        assert evaluator.hangs.wait(MINUTE)
        return came.copy()

    monkeypatch.setattr(time_cap, "side_by_side", until_it_hangs)
    return work.optimize(model, {}, evaluator=evaluator, budget_seconds=1000.0, candidates=1)


@pytest.mark.parametrize("step", ["validate", "profile", "check", "measure", "confirm"])
def test_the_time_ends_every_step_and_all_that_runs(work, monkeypatch, step):
    evaluator = Hanging(work.task, {version(1): Row(2.0)}, step)
    result = capped(work, evaluator, monkeypatch, scripted([answer(version(1))]))
    assert evaluator.closed.is_set()
    assert result.status is Status.BUDGET_EXHAUSTED
    assert (result.exit_code, result.candidate) == (4, None)
    assert "--budget-seconds is spent" in result.message
    assert resume(result.run, home=work.home).status is Status.BUDGET_EXHAUSTED


@pytest.mark.parametrize("step", ["check", "measure", "confirm"])
def test_what_was_confirmed_in_time_is_reported(work, monkeypatch, step):
    rows = {version(1): Row(2.0), version(2): Row(4.0)}
    evaluator = Hanging(work.task, rows, step, version(2))
    model = scripted([answer(version(1))], [answer(version(2))])
    result = capped(work, evaluator, monkeypatch, model)
    assert evaluator.closed.is_set()
    assert result.status is Status.IMPROVED
    assert result.candidate.id == content_id(version(1))
    assert result.speedup.ratio == 2.0
    monkeypatch.undo()
    again = replay(result.run, home=work.home)
    assert (again.status, again.message, again.candidate.id) == (result.status, result.message, result.candidate.id)


def test_the_best_of_what_was_confirmed_is_reported(work, monkeypatch):
    rows = {version(n): Row(1.0 + n) for n in (1, 2, 3)}
    evaluator = Hanging(work.task, rows, "check", version(3))
    result = capped(work, evaluator, monkeypatch, scripted(*([answer(version(n))] for n in (1, 2, 3))))
    assert result.candidate.id == content_id(version(2))


def test_a_cap_on_calls_counts_the_prompts_that_somebody_answers(work):
    folder = work.folder / "prompts"
    model = ManualModel(folder)
    for number in (1, 2):
        (folder / f"{number:04}.answer.md").write_text(answer(version(number)))
    result = work.optimize(model, {version(2): Row(2.0)}, candidates=4, budget_calls=2)
    assert len(list(folder.glob("*.prompt.md"))) == 2
    assert result.status is Status.IMPROVED
    assert "--budget-calls 2" in result.message
    assert result.cost.calls == 0


def hanging(monkeypatch, over):
    """Has what comes before the loop hang, and the time be up then."""
    hangs = threading.Event()

    def prepared(task, options, listener, seconds):
        assert seconds > 1000.0 - MINUTE, "the command of --record has no more time than the run"
        hangs.set()
        assert over.wait(MINUTE)
        raise SandboxError("its processes were ended")

    def quietly(task):
        with suppress(SandboxError):
            task()

    def until_it_hangs(tasks, lanes, seconds):
        threading.Thread(target=quietly, args=tasks, daemon=True).start()
        assert hangs.wait(MINUTE)
        return {}

    monkeypatch.setattr(preparing, "prepared", prepared)
    monkeypatch.setattr(preparing, "side_by_side", until_it_hangs)


def test_the_time_covers_what_comes_before_the_first_round(work, monkeypatch):
    over = threading.Event()
    hanging(monkeypatch, over)
    result = optimize(f"{work.path}::f", model="catalogue", home=work.home, budget_seconds=1000.0)
    over.set()
    assert result.status is Status.BUDGET_EXHAUSTED
    assert (result.exit_code, result.candidates.proposed) == (4, 0)
    assert result.message == "--budget-seconds is spent before the first round began"
    with closing(Store(work.home)) as store:
        assert [(record.id, record.status) for record in store.runs()] == [(result.run, "finished")]
    assert resume(result.run, home=work.home) == result
    monkeypatch.undo()
    again = replay(result.run, home=work.home)
    assert (again.status, again.candidates) == (result.status, result.candidates)


def test_a_cap_of_the_project_covers_it_too(work, monkeypatch):
    (work.folder / "pyproject.toml").write_text("[tool.whet]\nbudget-seconds = 1000\n")
    over = threading.Event()
    hanging(monkeypatch, over)
    result = optimize(f"{work.path}::f", model="catalogue", home=work.home)
    over.set()
    assert result.status is Status.BUDGET_EXHAUSTED


class Interrupted(TabledEvaluator):
    """Is interrupted once a certain text is checked."""

    def check(self, candidate):
        if candidate.source == version(2):
            raise KeyboardInterrupt
        return super().check(candidate)


def test_the_time_covers_the_ladder_of_a_run_that_goes_on_and_what_was_confirmed_is_reported(work, monkeypatch):
    evaluator = Interrupted(work.task, {version(1): Row(2.0)})
    with pytest.raises(KeyboardInterrupt):
        work.optimize(
            scripted([answer(version(1))], [answer(version(2))]),
            {},
            evaluator=evaluator,
            budget_seconds=1000.0,
            candidates=1,
        )
    over = threading.Event()

    def ladder(*_):
        assert over.wait(MINUTE)
        return evaluator

    monkeypatch.setattr(preparing, "ladder", ladder)
    with closing(Store(work.home)) as store:
        (record,) = store.runs()
        assert store.hold(record.id)
        store.set_fact(record.id, WORKED, 1000.0)
    result = resume(record.id, model=scripted([]), home=work.home)
    over.set()
    assert result.status is Status.IMPROVED
    assert result.candidate.id == content_id(version(1))
    assert "--budget-seconds is spent" in result.message
    monkeypatch.undo()
    assert replay(record.id, home=work.home).candidate.id == result.candidate.id


def test_what_comes_too_late_is_ended_and_what_comes_in_time_is_not(monkeypatch):
    go, dropped = threading.Event(), queue.SimpleQueue()

    def at_once(tasks, lanes, seconds):
        threading.Thread(target=tasks[0], daemon=True).start()
        return {}

    monkeypatch.setattr(preparing, "side_by_side", at_once)
    assert preparing.in_time(lambda: go.wait(MINUTE) and "a ladder", 1.0, dropped.put) is None
    go.set()
    assert dropped.get(timeout=MINUTE) == "a ladder"
    monkeypatch.undo()
    assert preparing.in_time(lambda: "a ladder", MINUTE, dropped.put) == "a ladder"
    assert dropped.empty()
