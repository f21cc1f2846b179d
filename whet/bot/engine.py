"""What the bot asks of whet: one process a function, of which nothing but its document comes back.

Those processes hold the models' keys and none of the bot's; what they run of the pull request, they run in the sandbox.
A run lives under the job's folder: after a kill it goes on where it was.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from whet.bot.findings import FunctionFinding, FunctionStatus
from whet.bot.outcome import Stopped
from whet.bot.project import Project
from whet.bot.redact import engine_environment
from whet.bot.settings import JobLimits
from whet.bot.touched import Function
from whet.core.about import ROOT
from whet.core.errors import Exit
from whet.core.redaction import redacted
from whet.core.repository import HOT_SPOTS
from whet.core.result import SCHEMA
from whet.core.text import one_line
from whet.evaluators.evidence.provenance import machine

POLL = 0.2
"""Seconds between two looks whether the child has ended; cancelling wakes the wait at once. A larger value delays each
result by as much, a smaller one only looks more often."""
INTERRUPTED = 20.0
"""Seconds that a process may take to save its state once it is told to end."""
LARGEST_PATCH = 100_000
"""Characters; what is longer, nobody reviews."""
MOST_CONDITIONS = 20
"""Of one function; the document has all."""
WITH_DOCUMENT = (Exit.IMPROVED, Exit.NO_IMPROVEMENT, Exit.BUDGET, Exit.BASELINE)


@dataclass(frozen=True, slots=True)
class Work:
    """The code that is worked on.

    Attributes:
        tree: the head's files.
        base_tree: those of the commit that it left from.
        head: that commit.
        base: that commit.
        home: where the runs of this job live.
        project: the base branch's settings.
    """

    tree: Path
    base_tree: Path
    head: str
    base: str
    home: Path
    project: Project


class Engine(Protocol):
    """Makes functions faster, and compares two versions of them. All raise `Stopped` once ``cancel`` is set."""

    def shares(self, work: Work, cancel: threading.Event) -> dict[str, float]:
        """Returns what the head's functions take of the command's time, by target; nothing where that is not known."""

    def optimize(
        self, work: Work, functions: Sequence[Function], model: str, budget_usd: float, cancel: threading.Event
    ) -> list[FunctionFinding]:
        """Returns a finding for each function of the head that was tried."""

    def verify(self, work: Work, functions: Sequence[Function], cancel: threading.Event) -> list[FunctionFinding]:
        """Returns for each function whether the head's is faster than the base's, slower, or wrong."""


class CommandEngine:
    """Runs ``whet optimize`` and ``whet verify``.

    Args:
        limits: of one job.
    """

    def __init__(self, limits: JobLimits) -> None:
        self._limits = limits
        # Their workers know the store that they share, and no job's own.
        self._cluster = limits.workers.startswith("ray://")

    def shares(self, work: Work, cancel: threading.Event) -> dict[str, float]:
        """Profiles the command of the base branch's settings, else its tests; what fails tells nothing."""
        if work.project.run is None and work.project.tests is None:
            return {}
        words = ["profile", ".", "--sandbox", self._limits.sandbox, "--json"]
        for option, value in (("--run", work.project.run), ("--tests", work.project.tests)):
            words += [] if value is None else [option, value]
        if self._limits.python is not None:
            words += ["--python", str(self._limits.python)]
        code, out, _ = _child(words, work.tree, work.home / "profile", self._limits.seconds, cancel)
        if code != Exit.IMPROVED:
            return {}
        document = json.loads(out)
        assert document["schema"] == HOT_SPOTS
        return {f"{one['path']}::{one['symbol']}": one["total"] for one in document["functions"]}

    def optimize(
        self, work: Work, functions: Sequence[Function], model: str, budget_usd: float, cancel: threading.Event
    ) -> list[FunctionFinding]:
        """Returns a finding for each function that was tried within the caps."""
        until = time.monotonic() + self._limits.seconds
        found: list[FunctionFinding] = []
        for function in functions:
            left = budget_usd - sum(one.cost_usd for one in found)
            seconds = until - time.monotonic()
            if seconds <= 0 or (model != "catalogue" and left <= 0):
                break
            words = ["--model", model, "--judge-model", model, "--budget-seconds", f"{seconds:.0f}"]
            words += ["--rounds", str(self._limits.rounds)]
            if model != "catalogue":
                words += ["--budget-usd", f"{left:g}"]
            if self._limits.workers:
                words += ["--workers", self._limits.workers]
            shown = f"git checkout {work.head} && whet optimize {function.target} --model {shlex.quote(model)}"
            found.append(self._run(work, "optimize", function, words, shown, cancel))
        return found

    def verify(self, work: Work, functions: Sequence[Function], cancel: threading.Event) -> list[FunctionFinding]:
        """Judges the head's file of each function as a candidate for the base's."""
        found = []
        for function in functions:
            words = ["--candidate", str(work.tree / function.path)]
            shown = (
                f"git checkout {work.base} && git show {work.head}:{function.path} > head.py"
                f" && whet verify {function.target} --candidate head.py"
            )
            found.append(self._run(work, "verify", function, words, shown, cancel))
        return found

    def _run(
        self, work: Work, command: str, function: Function, words: list[str], shown: str, cancel: threading.Event
    ) -> FunctionFinding:
        """Runs one command, or goes on with it."""
        home = work.home / command / function.target.replace("/", "_").replace("::", "-")
        for option, value in (("--tests", work.project.tests), ("--record", work.project.run)):
            if value is not None:
                words = [*words, option, value]
                shown += f" {option} {shlex.quote(value)}"
        if work.project.min_speedup is not None:
            words = [*words, "--min-speedup", f"{work.project.min_speedup:g}"]
        words = [*words, "--sandbox", self._limits.sandbox, "--json"]
        if self._limits.python is not None:
            words += ["--python", str(self._limits.python)]
        tree = work.base_tree if command == "verify" else work.tree
        # In a store of many jobs, the place tells whose run it is.
        target = f"{tree / function.path}::{function.symbol}"
        begun = _begun(home, target, self._cluster) if command == "optimize" else None
        arguments = ["runs", "resume", begun, "--json"] if begun else [command, target, *words]
        code, out, err = _child(arguments, tree, home, self._limits.seconds, cancel, self._cluster)
        blank = FunctionFinding(function.target, command, FunctionStatus.NOT_TRIED, reproduce=shown, machine=_machine())
        if code in WITH_DOCUMENT:
            return read_document(json.loads(out), blank)
        said = err.strip().splitlines()[-1:] or [f"it ended with {code}"]
        return replace(blank, message=one_line(redacted(said[0].removeprefix("error: ")), 300))


def read_document(document: dict[str, Any], blank: FunctionFinding) -> FunctionFinding:
    """Returns what a document of ``whet optimize`` or ``whet verify`` says.

    Args:
        document: of schema ``whet.result/1``.
        blank: holds what is known besides.
    """
    assert document["schema"] == SCHEMA
    rungs = document["rungs"]
    answer = FunctionStatus.NOT_SHOWN
    if document["status"] == "improved":
        answer = FunctionStatus.FASTER
    elif document["status"] == "rejected":
        answer = FunctionStatus.WRONG
    elif document["status"] == "baseline_invalid":
        answer = FunctionStatus.NOT_TRIED
    elif blank.command == "verify" and any(rung["reason"] == "slower" for rung in rungs):
        answer = FunctionStatus.SLOWER
    speedup, candidate = document["speedup"] or {}, document["candidate"] or {}
    tests = next((rung for rung in rungs if rung["name"] == "test"), None)
    failed = next((rung for rung in rungs if rung["status"] == "failed"), None)
    patch = candidate.get("diff", "") if answer is FunctionStatus.FASTER and blank.command == "optimize" else ""
    message = document["message"]
    if failed is not None and answer in (FunctionStatus.WRONG, FunctionStatus.SLOWER):
        message = f"{failed['name']}: {failed['reason']}: {failed['detail']}"
    return replace(
        blank,
        answer=answer,
        run=document["run"],
        ratio=speedup.get("ratio"),
        low=speedup.get("low"),
        high=speedup.get("high"),
        confidence=speedup.get("confidence"),
        processes=speedup.get("processes", 0),
        samples=speedup.get("samples", 0),
        workloads=tuple((one["name"], one["ratio"], one["low"], one["high"]) for one in speedup.get("workloads", ())),
        tests=one_line(f"{tests['status']}: {tests['detail']}", 200) if tests else "none",
        labels=tuple(candidate.get("labels", ())),
        patch=patch if len(patch) <= LARGEST_PATCH else "",
        rungs=tuple((rung["name"], rung["status"], one_line(rung["detail"], 200)) for rung in rungs),
        cost_usd=document["cost"]["usd"],
        cost_complete=document["cost"]["usd_complete"],
        seconds=document["seconds"],
        message=one_line(message, 300),
        conditions=tuple(
            (one_line(one["sentence"], 1000), one_line(one["counterexample"], 1000), one_line(one["difference"], 1000))
            for one in document.get("conditions", ())[:MOST_CONDITIONS]
        ),
    )


def _begun(home: Path, target: str, cluster: bool) -> str | None:
    """Returns the run of a target that a killed process left, if any."""
    if not home.exists():
        return None
    code, out, _ = _child(["runs", "list", "--json"], home, home, INTERRUPTED, threading.Event(), cluster)
    runs = json.loads(out) if code == 0 else []
    return next((run["run"] for run in runs if run["target"] == target), None)


def _child(
    words: list[str], folder: Path, home: Path, seconds: float, cancel: threading.Event, cluster: bool = False
) -> tuple[int, str, str]:
    """Runs ``whet`` and returns its exit code and what it wrote.

    Raises:
        Stopped: it was told to end, and did.
    """
    home.mkdir(parents=True, exist_ok=True)
    out, err = home / "out", home / "err"
    with out.open("wb") as stdout, err.open("wb") as stderr:
        child = subprocess.Popen(
            [sys.executable, "-m", "whet.bot.child", str(os.getpid()), *words],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            env=_environment(home, cluster),
        )
        until = time.monotonic() + seconds + INTERRUPTED
        while child.poll() is None and not cancel.is_set() and time.monotonic() < until:
            cancel.wait(POLL)
        if child.poll() is None:
            child.send_signal(signal.SIGINT)  # it saves its state, and ends what runs below it
            try:
                child.wait(INTERRUPTED)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
    if cancel.is_set():
        raise Stopped("it was told to end")
    return child.returncode, out.read_text("utf-8", "replace"), err.read_text("utf-8", "replace")


def _environment(home: Path, cluster: bool) -> dict[str, str]:
    # The commands run in the pull request's folder, whose modules must not be found before whet's own: this very whet.
    return {
        **engine_environment(str(home), cluster=cluster),
        "PYTHONSAFEPATH": "1",
        "PYTHONPATH": ROOT,
    }


def _machine() -> str:
    here = machine()
    return f"{here.cpu}, {here.cores} cores, {here.system}"
