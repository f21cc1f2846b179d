"""How a run on a repository ends where its time is up, its model is not there, or what was asked for cannot be done."""

from __future__ import annotations

import threading
from contextlib import closing, suppress
from pathlib import Path

import pytest
from repositories import git, repository

from whet.agents import preparing
from whet.agents.models import reach
from whet.agents.repository import run as repository_run
from whet.agents.repository.run import optimize_repository, resume_repository
from whet.core.errors import SandboxError, UnaskedError, UsageError
from whet.core.repository import Attempt, HotFunction
from whet.core.result import Status
from whet.core.store import Store
from whet.evaluators.repository.trees import Snapshot

MINUTE = 60.0
SOURCE = "def first(x):\n    return x\n\n\ndef second(x):\n    return x\n"
RUN = "python bench.py"


def hot(symbol: str) -> HotFunction:
    return HotFunction("pkg.py", symbol, 1, 2, "python", 0.4, 0.4, 9, 1.0)


class Sandbox:
    def __init__(self) -> None:
        self.closed = threading.Event()

    def close(self) -> None:
        self.closed.set()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return repository(tmp_path / "code", {"pyproject.toml": "", "pkg.py": SOURCE, "bench.py": "import pkg\n"})


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def sandbox(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Sandbox:
    """Has runs find two hot functions without running anything; a test says what their attempts come to."""
    opened = Sandbox()
    monkeypatch.setattr(repository_run, "open_sandbox", lambda *words: opened)
    monkeypatch.setattr(repository_run, "snapshot", lambda *words: Snapshot(tmp_path / "snapshot"))
    monkeypatch.setattr(repository_run, "hot_functions", lambda *words: (hot("first"), hot("second")))
    return opened


def attempts(monkeypatch: pytest.MonkeyPatch, *ends: str | UnaskedError) -> list[str]:
    """Has the attempts end one after another: with a reason for which nothing was kept, or with an error."""
    left, tried = list(ends), []

    def attempt(bench, number, function, budget, standing):
        tried.append(function.symbol)
        end = left.pop(0)
        if isinstance(end, UnaskedError):
            raise end
        return Attempt(function, None, Status.NO_IMPROVEMENT.value, why=end), standing

    monkeypatch.setattr(repository_run, "attempt", attempt)
    return tried


def records(home: Path) -> list[tuple[str, str]]:
    with closing(Store(home)) as store:
        return [(record.id, record.status) for record in store.runs()]


def worktrees(root: Path) -> int:
    return git(root, "worktree", "list").count("\n")


def test_a_model_that_nobody_serves_is_told_before_a_run_begins(root, home, monkeypatch):
    monkeypatch.setattr(reach, "PAUSES", (0.0,) * len(reach.PAUSES))
    with pytest.raises(UsageError, match=r"openai:any@http://127.0.0.1:9/v1: no connection") as caught:
        optimize_repository(root, run=RUN, model="openai:any@http://127.0.0.1:9/v1", home=home)
    assert "\n" not in str(caught.value)
    assert not home.exists() or records(home) == []
    assert worktrees(root) == 1


def test_a_model_that_refuses_from_the_beginning_ends_the_run_and_it_can_go_on(root, home, sandbox, monkeypatch):
    attempts(monkeypatch, UnaskedError("any: the provider refuses the key", "go on with the run of the function"))
    with pytest.raises(UnaskedError) as caught:
        optimize_repository(root, run=RUN, home=home)
    ((run, status),) = records(home)
    assert status == "interrupted"
    back = f"once that is mended, go on with: whet runs resume {run}"
    assert str(caught.value) == f"any: the provider refuses the key; {back}"

    tried = attempts(monkeypatch, "nothing to gain", "nothing to gain")
    result = resume_repository(run, home=home)
    assert (result.status, tried) == (Status.NO_IMPROVEMENT, ["first", "second"])
    assert worktrees(root) == 1


def test_a_model_that_fails_later_keeps_what_was_found(root, home, sandbox, monkeypatch):
    attempts(monkeypatch, "nothing to gain", UnaskedError("any: the quota is spent"))
    result = optimize_repository(root, run=RUN, home=home)
    assert result.status is Status.NO_IMPROVEMENT
    assert [one.function.symbol for one in result.attempts] == ["first"]
    assert result.message == "nothing was kept of 1 attempt; any: the quota is spent"
    assert records(home) == [(result.run, "finished")]


@pytest.mark.parametrize("step", ["snapshot", "hot_functions", "attempt"])
def test_the_time_ends_every_step_and_all_that_runs(root, home, sandbox, monkeypatch, step):
    attempts(monkeypatch, "nothing to gain", "nothing to gain")
    hangs = threading.Event()

    def hang(*words):
        hangs.set()
        assert sandbox.closed.wait(MINUTE), "nobody ended it"
        raise SandboxError("its processes were ended")

    def until_it_hangs(tasks, lanes, seconds):
        assert 1000.0 < seconds < 1100.0
        threading.Thread(target=lambda: _quietly(tasks[0]), daemon=True).start()
        assert hangs.wait(MINUTE)
        return {}

    monkeypatch.setattr(repository_run, step, hang)
    monkeypatch.setattr(preparing, "side_by_side", until_it_hangs)
    result = optimize_repository(root, run=RUN, home=home, budget_seconds=1000.0)
    assert sandbox.closed.is_set()
    assert (result.status, result.exit_code) == (Status.BUDGET_EXHAUSTED, 4)
    assert result.message == "--budget-seconds is spent; nothing was kept"
    assert records(home) == [(result.run, "finished")]
    assert resume_repository(result.run, home=home) == result
    assert worktrees(root) == 1


def _quietly(task):
    with suppress(SandboxError):
        task()


def test_what_cannot_be_done_leaves_no_run_and_no_worktree(root, home, sandbox, monkeypatch):
    def refuse(*words):
        raise UsageError("the command cannot be profiled")

    monkeypatch.setattr(repository_run, "hot_functions", refuse)
    with pytest.raises(UsageError, match="cannot be profiled"):
        optimize_repository(root, run=RUN, home=home)
    assert records(home) == []
    assert worktrees(root) == 1


def test_the_run_tells_its_caps_with_its_id(root, home, sandbox, monkeypatch):
    attempts(monkeypatch, "nothing to gain", "nothing to gain")
    (root / "pyproject.toml").write_text("[tool.whet]\nbudget-calls = 7\n")
    git(root, "commit", "--quiet", "--all", "--message", "caps")
    told = []
    result = optimize_repository(root, run=RUN, home=home, listener=told.append)
    assert told[0].text == f"run {result.run}"
    assert told[0].data["run"] == result.run
    assert told[0].data["budget"]["calls"] == 7
