"""``whet bench self sandbox``: what isolation costs on this machine, how fast it kills, and that nothing piles up."""

from __future__ import annotations

import gc
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from whet.core.errors import UsageError
from whet.core.options import Options
from whet.core.task import Task
from whet.evaluators.artifacts import Artifact, Builder
from whet.evaluators.finding import Fault
from whet.evaluators.processes import FunctionProcess, TargetProcess
from whet.evaluators.targets import read_task
from whet.sandbox.backends import BACKENDS, open_sandbox
from whet.sandbox.inside.codec import encode
from whet.sandbox.interpreter import find_interpreter
from whet.testing.attacks.scene import bearing
from whet.testing.engine import NoEngine, docker_engine

CANDIDATES = 10_000
"""Candidates in a row on each backend, three quarters of them after `SETTLED`. More show a smaller leak and take
longer."""
SAMPLES = 60  # starts of which the median counts; more steady it and take longer
CASES = 500  # calls of which the median counts, more than starts since each is far shorter; more steady it
KILLS = 15  # kills of which the median and the longest count; each takes `LOOP_SECONDS` and more
SETTLED = 2500
"""Candidates after which caches and pools have their size."""
CALL_SECONDS = 10.0
"""Seconds that a right call may take; one that takes longer fails the report. A smaller limit could do so on a busy
machine, a larger one only delays it."""
LOOP_SECONDS = 0.3
"""Seconds of an endless call until it is killed; they have to suffice for the three processes that it starts. With
fewer there may be less to kill; more only lengthen each sample."""
INPUT = encode((3,))
HONEST = "def answer(value):\n    return value + 1\n"
ENDLESS = """\
import os, signal
def answer(value):
    for _ in range(3):
        if os.fork() == 0:
            os.setsid()
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
                signal.signal(number, signal.SIG_IGN)
            os.execv("/bin/sleep", ["/bin/sleep", "{mark}"])
    while True:
        pass
"""


def report(candidates: int = CANDIDATES, samples: int = SAMPLES) -> Iterator[str]:
    """Yields the lines of the report while it measures.

    Args:
        candidates: how many are run in a row on each backend.
        samples: starts that a median is taken of.
    """
    with ExitStack() as stack:
        try:
            host = stack.enter_context(docker_engine())
        except NoEngine as error:
            yield f"docker: {error}"
        else:
            if host is not None:
                os.environ["DOCKER_HOST"] = host
                stack.callback(os.environ.pop, "DOCKER_HOST")
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="whet-self-"))
        task = _task(Path(folder))
        yield (
            "| sandbox | a fresh process | a fork of a warm worker | a case in it | a kill, median | a kill, longest |"
        )
        yield "|---|---|---|---|---|---|"
        for name in ("none", *BACKENDS):
            with ExitStack() as opened:
                try:
                    builder = _builder(name, task, opened)
                except UsageError as error:
                    yield f"| {name} | not here: {error} | | | | |"
                    continue
                yield _costs(name, builder, samples)
        for name in BACKENDS:
            with ExitStack() as opened:
                try:
                    builder = _builder(name, task, opened)
                except UsageError:
                    continue
                yield from _in_a_row(name, builder, candidates)


def _task(folder: Path) -> Task:
    (folder / "answer.py").write_text(HONEST)
    (folder / "workload.py").write_text("sizes = [1]\ndef make_input(size, rng):\n    return (rng.random(),)\n")
    return read_task(f"{folder / 'answer.py'}::answer", Options())


def _builder(name: str, task: Task, stack: ExitStack) -> Builder:
    sandbox = open_sandbox(name, unsafe=True)
    stack.callback(sandbox.close)
    return Builder(task, sandbox, find_interpreter())


def _costs(name: str, builder: Builder, samples: int) -> str:
    artifact = _built(builder, HONEST)
    fresh = _milliseconds(lambda: _candidate(artifact, None), samples)
    cells = [f"{fresh:.1f} ms"]
    if name == "none":
        return f"| {name} | {cells[0]} | | | | |"
    warm = _milliseconds(lambda: _candidate(artifact, 0), samples)
    with _Started(artifact, 0) as process:
        case = _milliseconds(lambda: _answered(process), CASES)
    kills = [_kill(builder, number) for number in range(KILLS)]
    cells += [f"{warm:.1f} ms", f"{case:.2f} ms", f"{statistics.median(kills):.0f} ms", f"{max(kills):.0f} ms"]
    return f"| {name} | {' | '.join(cells)} |"


def _built(builder: Builder, source: str) -> Artifact:
    artifact = builder.build(source)
    assert isinstance(artifact, Artifact), artifact
    return artifact


class _Started:
    """A process that is ended when it is left."""

    def __init__(self, artifact: Artifact, worker: int | None) -> None:
        process = artifact.start(worker=worker)
        assert isinstance(process, FunctionProcess), process
        self._process = process

    def __enter__(self) -> TargetProcess:
        return self._process

    def __exit__(self, *error: object) -> None:
        self._process.close()


def _candidate(artifact: Artifact, worker: int | None) -> None:
    with _Started(artifact, worker) as process:
        _answered(process)


def _answered(process: TargetProcess) -> None:
    answer = process.call(INPUT, CALL_SECONDS)
    assert not isinstance(answer, Fault), answer


def _milliseconds(work: Callable[[], None], samples: int) -> float:
    """Returns the median time of some work; the first, which makes what stays, does not count."""
    work()
    spent = []
    for _ in range(samples):
        start = time.perf_counter()
        work()
        spent.append(time.perf_counter() - start)
    return statistics.median(spent) * 1e3


def _kill(builder: Builder, number: int) -> float:
    """Returns milliseconds from the end of a call's time until no process of the candidate is left."""
    mark = f"86400.{os.getpid()}{number:03d}"
    with _Started(_built(builder, ENDLESS.replace("{mark}", mark)), None) as process:
        start = time.perf_counter()
        answer = process.call(INPUT, LOOP_SECONDS)
        assert isinstance(answer, Fault), answer
        while bearing(mark):
            pass
        return (time.perf_counter() - start - LOOP_SECONDS) * 1e3


@dataclass(frozen=True, slots=True)
class Holdings:
    """What this process holds: resident bytes, processes below it, open descriptors, files in its folders."""

    memory: int
    processes: int
    descriptors: int
    files: int

    @classmethod
    def now(cls) -> Holdings:
        """Counts them."""
        gc.collect()
        own = Path("/proc/self")
        memory = int((own / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        children = [child for task in (own / "task").iterdir() for child in (task / "children").read_text().split()]
        folders = Path(tempfile.gettempdir()).glob("whet-*")
        files = sum(len(found) for folder in folders for _, _, found in os.walk(folder))
        return cls(memory, len(children), len(list((own / "fd").iterdir())), files)

    def __str__(self) -> str:
        return (
            f"{self.memory / 2**20:.1f} MiB, {self.processes} processes, {self.descriptors} descriptors, "
            f"{self.files} files"
        )


def _in_a_row(name: str, builder: Builder, candidates: int) -> Iterator[str]:
    settled = min(SETTLED, candidates // 2)
    for number in range(candidates):
        if number == settled:
            before, start = Holdings.now(), time.perf_counter()
        _candidate(_built(builder, f"{HONEST}# {number}\n"), 0)
    spent = (time.perf_counter() - start) / (candidates - settled)
    yield f"{name}: {candidates} candidates in a row, {spent * 1e3:.1f} ms each"
    yield f"  after {settled:>6}: {before}"
    yield f"  after {candidates:>6}: {Holdings.now()}"
