"""A place with a target and a scripted run on it, whose model and evaluator keep journals; and ways to kill it."""

from __future__ import annotations

import itertools
import json
import math
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing, contextmanager
from pathlib import Path

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"


from paths import TESTS

from whet.agents.calls import CallState, question_of
from whet.agents.optimize import optimize, resume
from whet.core.candidate import content_id
from whet.core.database.base import DatabaseKind
from whet.core.database.postgres import PostgresDatabase
from whet.core.database.sqlite import SqliteDatabase
from whet.core.store import Store
from whet.core.task import Kind, Task
from whet.core.verdict import Reason
from whet.testing.scripted import ScriptedModel
from whet.testing.tabled import Row, TabledEvaluator

SOURCE = "def f(xs):\n    return sorted(xs)\n"
RUNS = 4
RELEASED_SECONDS = 60.0
"""In which the lock of a killed process is free; only a hang takes so long."""


def version(number) -> str:
    return f"def f(xs):\n    return {number}\n"


ROWS = {
    version("1, 0"): Row(reason=Reason.WRONG_OUTPUT, detail="f([2, 1])"),
    version("1, 1"): Row(2.0),
    version("2, 0"): Row(3.0),
    version("2, 1"): Row(0.5),
    version("3, 0"): Row(5.0, confirmed=1.0),
    version("3, 1"): Row(4.0, confirmed=3.9),
}
WINNER = content_id(version("3, 1"))
DIAGNOSIS = {"bottleneck": "b", "evidence": ["candidate 1", "of thin air"], "directive": "d", "expected_gain": 2}
DIAGNOSIS |= {"confidence": 1, "stop": False}


def say(request):
    if request.role == "judge":
        return json.dumps({**DIAGNOSIS, "directive": f"after round {request.sample}"})
    number = request.messages[3].text.split("# Round ")[1].split()[0]
    return f"Change: {number}\n```python\n{version(f'{number}, {request.sample}')}```\n"


class Place:
    """A target, a state directory, and journals of what was asked and evaluated."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "f.py"
        self.home = folder / "home"
        self.asked = folder / "asked"
        self.evaluated = folder / "evaluated"
        if not self.path.exists():
            self.path.write_bytes(SOURCE.encode())
        self.task = Task("f", "python", Kind.FUNCTION, self.path, SOURCE, "f", folder)

    def model(self, delay: float = 0.0, interrupt_at: int = 0) -> ScriptedModel:
        """Answers from the script; at its ``interrupt_at``-th question it interrupts the process, as Ctrl-C does."""
        numbers = itertools.count(1)

        def slowly(request):
            with self.asked.open("a") as journal:
                journal.write(f"{question_of(request)}\n")
            if next(numbers) == interrupt_at:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(1.0)
            time.sleep(delay)
            return say(request)

        return ScriptedModel(slowly)

    def evaluator(self, delay: float = 0.0, rows=ROWS, **options) -> TabledEvaluator:
        return TabledEvaluator(self.task, rows, journal=self.evaluated, delay=delay, **options)

    def optimize(self, delay: float = 0.0, **options):
        options = {"model": self.model(delay), "evaluator": self.evaluator(delay), "rounds": 3, **options}
        return optimize(f"{self.path}::f", home=self.home, **{"strategy": "refine", "candidates": 2, **options})

    def resume(self, delay: float = 0.0, **options):
        options = {"model": self.model(delay), "evaluator": self.evaluator(delay), **options}
        return resume(Store(self.home).runs()[0].id, home=self.home, **options)

    def lines(self) -> list[str]:
        return [
            line for file in (self.asked, self.evaluated) if file.exists() for line in file.read_text().splitlines()
        ]


def same(one, other, *, without=("run", "seconds")) -> bool:
    documents = [{k: v for k, v in result.to_json().items() if k not in without} for result in (one, other)]
    return documents[0] == documents[1]


# killed and resumed


def in_process(code: str, *arguments: object, **environment: str) -> subprocess.Popen:
    """Runs code that finds the names of this file in ``t`` in a process of its own."""
    paths = os.pathsep.join([str(TESTS), str(TESTS.parent)])
    return subprocess.Popen(
        [sys.executable, "-c", f"import sys, places as t; {code}", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": paths, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def start(place: Place) -> subprocess.Popen:
    """Begins a run elsewhere, and returns once it is under way."""
    process = in_process("t.Place(t.Path(sys.argv[1])).optimize(0.2)", place.path.parent)
    while process.poll() is None and len(place.lines()) < 4:
        time.sleep(0.002)
    assert process.poll() is None, process.communicate()[1]
    return process


def kill(process: subprocess.Popen) -> None:
    process.kill()
    process.communicate()


class Moments:
    """Counts where a process may be killed: before and after each use of the database, and on both sides of a commit.

    Counted and not timed, the kills fall at the same steps of a run on any machine.
    """

    def __init__(self, last: float = math.inf) -> None:
        """Begins to count in this process, for good.

        Args:
            last: the moment at which the process is killed.
        """
        self.count = 0
        self._last = last
        for database in (SqliteDatabase, PostgresDatabase):
            for name in ("connection", "transaction"):
                setattr(database, name, self._counted(getattr(database, name)))

    def _counted(self, method):
        @contextmanager
        def counted(database, *arguments):
            self._pass()
            with method(database, *arguments) as db:
                self._pass()
                yield db
                self._pass()
            self._pass()

        return counted

    def _pass(self) -> None:
        self.count += 1
        if self.count >= self._last:
            os.kill(os.getpid(), signal.SIGKILL)


def moments_of(folder: Path, place_at: Callable[[Path], Place]) -> int:
    """Returns how many moments a whole run has, in a store of its own."""
    folder.mkdir(parents=True)
    kept, written = os.environ.pop("WHET_STORE", None), os.pipe()
    if os.fork() == 0:
        moments = Moments()
        try:
            place_at(folder).optimize()
            os.write(written[1], str(moments.count).encode())
        finally:
            os._exit(0)
    os.close(written[1])
    with os.fdopen(written[0]) as read:
        counted = int(read.read())
    os.wait()
    if kept is not None:
        os.environ["WHET_STORE"] = kept
    return counted


def killed(place: Place, last: int) -> bool:
    """Works on the run until the process is killed at a moment; False where it ended before."""
    if (child := os.fork()) == 0:
        failed = True
        try:
            with closing(Store(place.home)) as store:
                begun = bool(store.runs())
            Moments(last)
            if begun:
                place.resume()
            else:
                place.optimize()
            failed = False
        finally:
            os._exit(failed)
    status = os.waitpid(child, 0)[1]
    assert status in (0, signal.SIGKILL), status
    # A server notices the end of a client when it reads from it next.
    deadline = time.monotonic() + RELEASED_SECONDS
    with closing(Store(place.home)) as store:
        while any(run.status == "running" for run in store.runs()):
            assert time.monotonic() < deadline, "a killed driver's run is still held"
            time.sleep(0.002)
    return status != 0


def kill_at_random(folder: Path, seed: int, place_at: Callable[[Path], Place] = Place) -> int:
    """Kills one run again and again until it ends, each time at a random moment of it; returns how often."""
    rng = random.Random(seed)
    most = moments_of(folder.parent / "counted" / folder.name, place_at)
    folder.mkdir()
    place = place_at(folder)
    kills = 0
    under_way = True
    while under_way:
        replies, evaluations = recorded(place)
        before = Counter(place.lines())
        under_way = killed(place, rng.randint(1, most))
        kills += under_way
        again = Counter(place.lines()) - before
        assert not replies & again.keys(), "a recorded reply was asked for again"
        assert not evaluations & again.keys(), "a finished evaluation was repeated"
        assert not any(b"def f(xs)" in blob for blob in checkpoints(place))
    return kills


def recorded(place: Place) -> tuple[set[str], set[str]]:
    """Returns the questions whose replies are recorded, and the evaluations that are, as the journals name them."""
    with closing(Store(place.home)) as store:
        if not store.runs():
            return set(), set()
        run = store.runs()[0].id
        values = {"run": run, "done": CallState.DONE.value}
        with store.connection() as db:
            done = db.execute("SELECT question FROM calls WHERE run = :run AND state = :done", values).fetchall()
        parts = [key.split(":") for key in store.facts(run)]
    evaluations = {f"{part[2]} {part[1]}" for part in parts if part[0] == "verdict"}
    evaluations |= {f"profile {part[1]}" for part in parts if part[0] == "profile"}
    return {question.hex() for (question,) in done}, evaluations


def checkpoints(place: Place) -> list[bytes]:
    store = Store(place.home)
    tables = (
        "SELECT name FROM sqlite_master" if store.kind is DatabaseKind.SQLITE else "SELECT tablename FROM pg_tables"
    )
    with store.connection() as db:
        known = "checkpoints" in {name for (name,) in db.execute(tables)}
        rows = db.execute("SELECT checkpoint FROM checkpoints").fetchall() if known else []
    store.close()
    return [saved if isinstance(saved, bytes) else json.dumps(saved).encode() for (saved,) in rows]
