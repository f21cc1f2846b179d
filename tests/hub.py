"""A GitHub of one's own with one repository in it, and a bot's parts for it."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from dataclasses import dataclass, field, replace
from pathlib import Path

from whet.bot.findings import FunctionFinding, FunctionStatus
from whet.bot.flow import Flow
from whet.bot.github import App
from whet.bot.outcome import Stopped, carry_out
from whet.bot.queue import Queue
from whet.bot.settings import JobLimits, Places
from whet.bot.webhook import read_event
from whet.testing.fake_github import APP, FakeGitHub

NAME = "ada/tools"
BEFORE = '''"""Lists."""


def total(items: list[int]) -> int:
    """Returns the sum of those that are not negative."""
    return sum(item for item in items if item >= 0)


def untouched(items: list[int]) -> list[int]:
    """Returns the items once each, in order."""
    seen = []
    for item in items:
        if item not in seen:
            seen.append(item)
    return seen
'''
CHANGED = '''

def dedup(items: list[int]) -> list[int]:
    """Returns the items once each, in order."""
    seen = []
    for item in items:
        if item not in seen:
            seen.append(item)
    return seen
'''
TESTS = """from lists import dedup


def test_dedup():
    assert dedup([1, 2, 1, 3, 2]) == [1, 2, 3]
    assert dedup(list(range(300)) * 2) == list(range(300))
"""
PATCH = """--- a/lists.py
+++ b/lists.py
@@ -18,7 +18,9 @@
 def dedup(items: list[int]) -> list[int]:
     \"\"\"Returns the items once each, in order.\"\"\"
     seen = []
+    known = set()
     for item in items:
-        if item not in seen:
+        if item not in known:
             seen.append(item)
+            known.add(item)
     return seen
"""


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=ada", "-c", "user.email=ada@example.org")
    done = subprocess.run(["git", *identity, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit(folder: Path, files: dict[str, str], message: str = "work") -> str:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", message)
    return git(folder, "rev-parse", "HEAD")


def make_source(folder: Path, **base: str) -> Path:
    """Makes a repository with a branch ``quick`` that adds a slow function."""
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder, {"lists.py": BEFORE, **base})
    git(folder, "checkout", "--quiet", "-b", "quick")
    commit(folder, {"lists.py": BEFORE + CHANGED, "test_lists.py": TESTS})
    return folder


@dataclass
class ScriptedEngine:
    """An engine whose findings stand in a script; what it was asked is kept."""

    findings: list[FunctionFinding] = field(default_factory=list)
    asked: list[tuple] = field(default_factory=list)
    wait: bool = False
    known: dict[str, float] = field(default_factory=dict)

    def shares(self, work, cancel):
        return self.known

    def optimize(self, work, functions, model, budget_usd, cancel):
        self.asked.append(("optimize", [one.target for one in functions], model, budget_usd))
        if self.wait and cancel.wait(30):
            raise Stopped("told")
        return [one for one in self.findings if one.command == "optimize"]

    def verify(self, work, functions, cancel):
        self.asked.append(("verify", [one.target for one in functions]))
        return [one for one in self.findings if one.command == "verify"]


GAIN = FunctionFinding(
    target="lists.py::dedup",
    command="optimize",
    answer=FunctionStatus.FASTER,
    run="20260101-000000-abcdef",
    ratio=12.5,
    low=11.0,
    high=14.0,
    confidence=0.99,
    processes=20,
    samples=60,
    tests="passed: 1 test",
    labels=("data structure",),
    patch=PATCH,
    rungs=(("differential", "passed", "146 fresh inputs agree"),),
    machine="a machine of tests",
    reproduce="whet optimize lists.py::dedup --model catalogue",
)
NONE = replace(GAIN, answer=FunctionStatus.NOT_SHOWN, patch="", ratio=1.0, low=0.9, high=1.1, labels=())


class Bot:
    """The bot's parts around a fake GitHub, in this process; without a server."""

    def __init__(self, folder: Path, hub: FakeGitHub, engine, limits: JobLimits | None = None) -> None:
        self.hub = hub
        self.places = Places(folder / "bot", hub.url, f"{hub.url}/{{repository}}.git", 0.0)
        self.queue = Queue(self.places.folder)
        self.engine = engine
        app = App(APP, hub.key, hub.url, 0.0)
        self.flow = Flow(self.queue, app.repository, engine, self.places, limits or JobLimits())

    def accept(self, delivery: str, event: str, payload) -> None:
        self.queue.accept([(delivery, read_event(event, json.dumps(payload)))])

    def work(self) -> list[str]:
        """Does all that is due; returns how each job ended."""
        ended = []
        while (job := self.queue.claim(1)) is not None:
            ended.append(str(carry_out(self.flow, self.queue, job)))
        return ended

    def due_now(self) -> None:
        """Lets the time pass that jobs and installations wait."""
        with self._database() as db:
            db.execute("UPDATE jobs SET due = 0")
            db.execute("DELETE FROM pauses")

    def paused_until(self) -> float:
        """Returns until when the one installation that waits does."""
        with self._database() as db:
            (until,) = db.execute("SELECT until FROM pauses").fetchone()
        return until

    def _database(self) -> sqlite3.Connection:
        return sqlite3.connect(self.places.folder / "queue.db")
