"""``whet bench self loop``, its half of the ladder: how many verdicts a second, and what one costs above the target.

The target is trivial, so that what is left is overhead: screening, staging, two processes in a sandbox, some 200 inputs
with their outcomes compared, and a share of what is done once for all candidates of an announcement.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from whet.core.candidate import Candidate
from whet.core.errors import UsageError
from whet.core.options import Options
from whet.evaluators.ladder import Ladder, open_ladder
from whet.evaluators.targets import read_task
from whet.sandbox.backends import open_sandbox
from whet.sandbox.process_tree import tree

WORKERS = 2  # verdicts at once; more raise the rate only where the machine has as many cores
BATCHES = (4, 16)  # candidates that are announced together; more share what is done once for all of them
CANDIDATES = 160  # candidates of each line, a multiple of both batches; more steady its means and take longer
SEED = 20_261_121


@dataclass(frozen=True, slots=True)
class Trivial:
    """A target that takes some ten microseconds, and candidates by what becomes of them."""

    target: str
    workload: str
    candidates: Mapping[str, str]


TARGETS = {
    "a number": Trivial(
        "def answer(n):\n    total = 0\n    for i in range(300):\n        total += i * n\n    return total\n",
        "sizes = [300, 3000, 30000]\ndef make_input(size, rng):\n    return (rng.randrange(size),)\n",
        {
            "right": "def answer(n):\n    return n * 44850  # {number}\n",
            "wrong": "def answer(n):\n    return min(n, 1000) * 44850  # {number}\n",
            "crashing": "import os\ndef answer(n):\n    os._exit(1)  # {number}\n",
        },
    ),
    "lists of up to 1,000 numbers": Trivial(
        "def answer(values):\n    total = 0\n    for value in values:\n        total += value\n    return total\n",
        "sizes = [10, 300, 1000]\n"
        "def make_input(size, rng):\n    return ([rng.randrange(1000) for _ in range(size)],)\n",
        {"right": "def answer(values):\n    return sum(values)  # {number}\n"},
    ),
}


@dataclass(frozen=True, slots=True)
class Spent:
    """What was used up to now.

    Attributes:
        wall: seconds of the clock.
        own: CPU seconds of this process.
        all: CPU seconds of this process and of all below it, those that have ended too.
    """

    wall: float
    own: float
    all: float

    @classmethod
    def now(cls) -> Spent:
        """Reads the clocks. What the kernel does about a process that is gone, in no process's name, is not in them."""
        used = os.times()
        ticks = os.sysconf("SC_CLK_TCK")
        below = 0
        for pid in tree(os.getpid()):
            with suppress(FileNotFoundError, ProcessLookupError):
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                below += sum(map(int, fields[11:15])) if pid != os.getpid() else 0
        own = used.user + used.system
        return cls(time.perf_counter(), own, own + used.children_user + used.children_system + below / ticks)


def report(candidates: int = CANDIDATES, batches: tuple[int, ...] = BATCHES) -> Iterator[str]:
    """Yields the lines of the report while it measures.

    Args:
        candidates: how many are judged for each line.
        batches: how many are announced together.
    """
    try:
        yield f"in a sandbox of its own each, forked off warm workers; {_isolation()}"
    except UsageError as error:
        yield f"not here: {error}"
        return
    yield (
        f"| inputs | candidates | announced together | verdicts a second, {WORKERS} workers | wall a candidate "
        "| CPU a candidate | of which whet's own process | verdicts |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for inputs, trivial in TARGETS.items():
        with closing(open_target(trivial)) as ladder:
            for kind, text in trivial.candidates.items():
                _judged(ladder, text, max(batches), 0)  # caches and warm workers get their size
                for batch in batches:
                    yield f"| {inputs} | {kind} | {_figures(ladder, text, batch, candidates)} |"


def open_target(trivial: Trivial) -> Ladder:
    """Opens the ladder for a target, whose files are gone afterwards."""
    options = Options(sandbox="bubblewrap", workers=WORKERS)
    with tempfile.TemporaryDirectory(prefix="whet-self-") as folder:
        (Path(folder) / "answer.py").write_text(trivial.target)
        (Path(folder) / "workload.py").write_text(trivial.workload)
        ladder = open_ladder(read_task(f"{folder}/answer.py::answer", options), options, SEED)
    ladder.validate()
    return ladder


def _isolation() -> str:
    with closing(open_sandbox("bubblewrap", unsafe=False)) as sandbox:
        return ", ".join(f"{name} {value}" for name, value in sandbox.facts.items() if name != "first_user")


def _figures(ladder: Ladder, text: str, batch: int, candidates: int) -> str:
    count = max(1, candidates // batch) * batch
    found: Counter[str] = Counter()
    before = Spent.now()
    for first in range(0, count, batch):
        found += _judged(ladder, text, batch, batch * 10**6 + first)
    after = Spent.now()
    wall, own, everything = (
        (now - then) / count * 1e3
        for now, then in ((after.wall, before.wall), (after.own, before.own), (after.all, before.all))
    )
    said = ", ".join(f"{number} {verdict}" for verdict, number in found.items())
    used = f"{everything:.1f} core-ms | {own:.1f} core-ms"
    return f"{batch} | {1e3 / wall:.0f} | {wall:.1f} ms | {used} | {said}"


def _judged(ladder: Ladder, text: str, batch: int, first: int) -> Counter[str]:
    """Judges a batch as a run does; returns how many verdicts of which kind."""
    proposed = [Candidate(text.replace("{number}", str(first + number))) for number in range(batch)]
    ladder.announce(proposed)
    with ThreadPoolExecutor(WORKERS) as pool:
        verdicts = list(pool.map(ladder.check, proposed))
    return Counter(
        str(verdict.failed.reason) if verdict.failed and verdict.failed.reason else "right" for verdict in verdicts
    )
