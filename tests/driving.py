"""Drivers of one joined run, each a process of its own, on a real store and a real HTTP server for their model.

Verdicts are a table's: what is tested here is who does which job, not the ladder.
"""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from tiny_suite import TinySuite

import whet.agents.optimize
import whet.benchmarks.runner.run
import whet.benchmarks.runner.work
from whet.agents.calls import Calls, CallState
from whet.agents.models.base import Usage
from whet.benchmarks.runner.answers import given_answers
from whet.benchmarks.runner.request import BenchRequest, LoopSettings, Total
from whet.benchmarks.runner.rows import read_rows
from whet.benchmarks.runner.run import opened
from whet.core.errors import WhetError
from whet.core.options import Budget, Options
from whet.core.store import Store
from whet.testing.fake_provider import FakeProvider
from whet.testing.tabled import TabledEvaluator

CONTEXT = multiprocessing.get_context("forkserver")
"""A fork of a process that has imported all of whet and opened nothing starts in no time."""
CONTEXT.set_forkserver_preload(
    ["whet.benchmarks.runner.run", "whet.testing.fake_provider", "openai", "langgraph.graph"]
)
STILL_SECONDS = 120.0
"""Without a line of any driver, after which one that has not ended stands still, however slow the machine is."""
USAGE = Usage(input=900, output=100)
CALL_USD = 0.001
"""What a call comes to at a USD for a million tokens; its worst case is some times that."""


class Provider(FakeProvider):
    """Answers with a new version each time, and looks at what arrives.

    Attributes:
        arrived: when each request did.
        most: requests under way at once.
    """

    def __init__(self, seconds: float = 0.0, **words) -> None:
        super().__init__(self._version, usage=USAGE, **words)
        self.arrived: list[float] = []
        self.most = self._now = 0
        self._seconds = seconds
        self._watching = threading.Lock()

    def _version(self, body) -> str:
        with self._watching:
            self.arrived.append(time.monotonic())
            number = len(self.arrived)
            self._now += 1
            self.most = max(self.most, self._now)
        self.closed.wait(self._seconds)
        with self._watching:
            self._now -= 1
        return f"Change: {number}\nKind: algorithm\n```python\ndef total(numbers):\n    return {number}\n```\n"


@dataclass
class Driver:
    """A driver's process, and the folder of its file."""

    process: multiprocessing.process.BaseProcess
    folder: Path

    def end(self, code: int = 0) -> list[str]:
        """Waits for its end, as long as any driver gets on; returns what it printed."""
        before, now = -1, self._progress()
        while self.process.is_alive() and before != now:
            self.process.join(STILL_SECONDS)
            before, now = now, self._progress()
        if self.process.is_alive():
            os.kill(self.process.pid, signal.SIGUSR1)
            until(lambda: (self.folder / "stacks").stat().st_size)
            raise AssertionError(f"a driver stands still: {(self.folder / 'stacks').read_text()}")
        assert self.process.exitcode == code, self.told()
        return self.told().splitlines()

    def _progress(self) -> int:
        """Returns how much all drivers have written of what they do."""
        journals = (*self.folder.parent.glob("*/told"), *map(self.folder.parent.joinpath, ("judged", "evaluated")))
        return sum(path.stat().st_size for path in journals if path.exists())

    def kill(self) -> None:
        self.process.kill()
        self.process.join()

    def told(self) -> str:
        path = self.folder / "told"
        return path.read_text() if path.exists() else ""

    def interrupt(self) -> None:
        os.kill(self.process.pid, signal.SIGINT)


@dataclass
class Workspace:
    """Where drivers work: a store and the folders of their files.

    Attributes:
        folder: of all of it.
        url: of the model's server; empty where the unchanged texts are the answers.
        words: of the run; see `drive`.
    """

    folder: Path
    url: str = ""
    words: dict = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.url:
            price = f'[tool.whet.prices."openai:fake@{self.url}"]\ninput = 1\noutput = 1\n'
            limits = self.words.get("limits", "slots = 4")
            (self.folder / "pyproject.toml").write_text(f'{price}[tool.whet.providers."127.0.0.1"]\n{limits}\n')

    def driver(self, name: str, **words) -> Driver:
        """Begins a driver whose file lies in a folder of its name."""
        (self.folder / name).mkdir(exist_ok=True)
        order = {"url": self.url, "home": self.folder / "home", **self.words, **words}
        process = CONTEXT.Process(target=driven, args=(self.folder / name, dict(os.environ), order))
        process.start()
        return Driver(process, self.folder / name)

    def rows(self, name: str):
        return read_rows(self.folder / name / "rows.jsonl").rows

    def judged(self) -> Counter[str]:
        """Returns how often each problem was judged."""
        path = self.folder / "judged"
        return Counter(line.split()[1] for line in path.read_text().splitlines()) if path.exists() else Counter()

    def store(self) -> Store:
        return Store(self.folder / "home")


def driven(folder: Path, environment: dict[str, str], order: dict) -> None:
    """Is a driver's process; what it prints stands in a file."""
    os.environ.clear()
    os.environ.update(environment, OPENAI_API_KEY="none")
    os.chdir(folder)
    with Path("told").open("w", buffering=1) as sys.stdout, Path("stacks").open("w") as stacks:
        faulthandler.register(signal.SIGUSR1, stacks)
        try:
            drive(order)
        except (WhetError, KeyboardInterrupt) as error:
            print(type(error).__name__, error)
            sys.exit(1)
        except BaseException:
            print(traceback.format_exc())
            raise


class Revision(TinySuite):
    """The suite in a revision of its data.

    Attributes:
        revision: of the data.
        drivers: how many have to have begun a job before any ends one.
        gate: file that no job ends without; empty for none.
    """

    revision = ""
    drivers = 1
    gate = ""

    def problem(self, number: int):
        made = super().problem(number)
        return replace(made, digest=f"{made.digest}{self.revision}")

    def judge(self, problem, answer, lab):
        found = super().judge(problem, answer, lab)
        until(lambda: len({line.split()[0] for line in self.journal.read_text().splitlines()}) >= self.drivers)
        until(Path(self.gate).exists)
        return found


def drive(order: dict) -> None:
    """Is a driver; prints a line a row, and what ended it."""

    def tabled(task, *_, **__):
        return TabledEvaluator(task, {}, journal=Path("../evaluated"), delay=order.get("delay", 0.0))

    whet.agents.optimize.open_ladder = whet.benchmarks.runner.work.open_ladder = tabled
    if "processor" in order:
        here = whet.benchmarks.runner.run.this_machine
        whet.benchmarks.runner.run.this_machine = lambda lab: replace(here(lab), processor=order["processor"])
    suite = Revision(order.get("problems", 4), Path("../judged"), order.get("seconds", 0.0))
    suite.revision, suite.drivers, suite.gate = order.get("data", ""), order.get("drivers", 1), order.get("gate", "")
    model = f"openai:fake@{order['url']}"
    loop = LoopSettings(model, model, "best-of", order.get("rounds", 2), 2, Budget(usd=order.get("usd", 1.0)))
    asked = BenchRequest(
        suite,
        loop if order["url"] else given_answers("unchanged", suite.read(Path()).problems, suite),
        Options(until="differential", seed=order.get("seed", 7)),
        verdict=False,
        total=Total(order.get("total_usd"), order.get("total_seconds")),
        workers=order.get("workers", 1),
        join=order.get("join", "together"),
    )
    problems, samples = suite.read(Path()).problems, order.get("samples", 1)
    with opened(asked, problems, samples, Path("rows.jsonl"), order["home"]) as run:
        for done in run.work():
            print(done.job.problem.id, done.elsewhere, done.error, flush=True)
        print("end", run.errors, run.stopped, flush=True)


def until(condition, seconds: float = 60.0) -> None:
    """Waits until a condition holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.01)


def calls_of(store: Store) -> list:
    """Returns the calls of all runs, in order."""
    return [call for run in store.runs() for call in Calls(store, run.id).all()]


def expect_none_asked_again(store: Store, requests: int) -> None:
    """Asserts that no reply was recorded and its question then asked again, as the ledgers and the server have it."""
    states: dict[tuple, list[CallState]] = {}
    for run in store.runs():
        for call in Calls(store, run.id).all():
            states.setdefault((run.id, call.role, call.prompt, call.sample), []).append(call.state)
    assert all(CallState.DONE not in each[:-1] for each in states.values()), states
    told = Counter(state for each in states.values() for state in each)
    assert told[CallState.DONE] <= requests <= sum(told.values())
