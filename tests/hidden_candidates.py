"""Candidates that pay for their work outside the timed calls, and honest ones: run live, or recorded and replayed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from whet.core.options import Options
from whet.evaluators.artifacts import Artifact
from whet.evaluators.ladder import open_ladder
from whet.evaluators.targets import read_task
from whet.evaluators.timing.process_observation import Calls
from whet.sandbox.inside.codec import encode

TARGET = """\
def squares(values):
    found = []
    for value in values:
        found.append(value * value)
    return found
"""
QUICK = "    return [value * value for value in values]\n"
WORKLOAD = """\
sizes = [10, 3000, 30000]
def make_input(size, rng):
    return ([rng.randrange(10**4) for _ in range(size)],)
"""
PAYLOADS = tuple(encode(([number + one for one in range(3000)],)) for number in range(8))
TABLE = "[value * value for value in range(10**6)]"
FILLED = f"    if not TABLE:\n        TABLE.extend({TABLE})\n"
COUNTING = "def squares(values):\n    return [value * value for value in values if values.count(value)]\n"
SUMMING = "def squares(values):\n    return [sum(value for _ in range(value)) for value in values]\n"
SECONDS = 5.0
"""That one call may take."""
LONGER = 10
"""How many times as many calls as its target's a pass of a candidate has that is timed on further inputs."""


def drawn(count: int) -> tuple[bytes, ...]:
    draw = random.Random(5)
    return tuple(encode(([draw.randrange(1000) for _ in range(20)],)) for _ in range(count))


def drawn_of_few(count: int) -> tuple[bytes, ...]:
    """Returns inputs of 18 values, of 2,000 that there are."""
    draw = random.Random(6)
    return tuple(encode(([draw.randrange(2000) for _ in range(18)],)) for _ in range(count))


def sized(first: int, second: int) -> tuple[bytes, ...]:
    return tuple(encode((list(range(size)),)) for size in (first, second, *[first] * 12))


def stepping(times: int) -> str:
    """Returns a function that takes 200 steps, so many times."""
    return (
        "def stepped(value):\n"
        f"    for _ in range({times}):\n        found = value\n        for step in range(200):\n"
        "            found = (found * 31 + step) % 10007\n    return found\n\n"
    )


@dataclass(frozen=True, slots=True)
class Pair:
    """A target, a candidate, and what both are called with.

    Attributes:
        part: how many inputs make a pass of the target.
        longer: how many times as many make one of the candidate.
    """

    candidate: str
    target: str = TARGET
    payloads: tuple[bytes, ...] = PAYLOADS
    part: int = 2
    longer: int = 1

    @property
    def calls(self) -> Calls:
        return Calls(self.payloads, self.part, SECONDS, self.longer)


IMPORTS = "import numpy, decimal, asyncio, email.message\n"
PAIRS = {
    "honest": Pair(f"def squares(values):\n{QUICK}"),
    "table-while-loading": Pair(
        f"TABLE = {TABLE}\ndef squares(values):\n    return [TABLE[value] for value in values]\n"
    ),
    "table-at-first-call": Pair(
        f"TABLE = []\ndef squares(values):\n{FILLED}    return [TABLE[value] for value in values]\n"
    ),
    "first-input-cheaper": Pair(f"TABLE = []\ndef squares(values):\n{QUICK}", COUNTING, sized(300, 2000)),
    "first-input-dearer": Pair(f"TABLE = []\ndef squares(values):\n{QUICK}", COUNTING, sized(2000, 300)),
    "first-input-cheaper-and-table": Pair(
        f"TABLE = []\ndef squares(values):\n{FILLED}{QUICK}", COUNTING, sized(300, 2000)
    ),
    "first-input-dearer-and-table": Pair(
        f"TABLE = []\ndef squares(values):\n{FILLED}{QUICK}", COUNTING, sized(2000, 300)
    ),
    "imports": Pair(f"{IMPORTS}def squares(values):\n{QUICK}"),
    "imports-in-the-call": Pair(f"def squares(values):\n    {IMPORTS}{QUICK}"),
    "parts-kept": Pair(
        "KNOWN = {}\n"
        "def squares(values):\n    for value in values:\n        if value not in KNOWN:\n"
        "            KNOWN[value] = sum(value for _ in range(value))\n    return [KNOWN[value] for value in values]\n",
        SUMMING,
        drawn(122),
        20,
    ),
    "parts-kept-of-quick-calls": Pair(
        "KNOWN = {}\n"
        f"{stepping(1)}"
        "def squares(values):\n    for value in values:\n        if value not in KNOWN:\n"
        "            KNOWN[value] = stepped(value)\n    return [KNOWN[value] for value in values]\n",
        f"{stepping(25)}def squares(values):\n    return [stepped(value) for value in values]\n",
        drawn_of_few(2 + 120 * LONGER),
        20,
        LONGER,
    ),
    "quick-calls": Pair(
        f"{stepping(1)}def squares(values):\n    return [stepped(value) for value in values]\n",
        f"{stepping(25)}def squares(values):\n    return [stepped(value) for value in values]\n",
        drawn_of_few(2 + 120 * LONGER),
        20,
        LONGER,
    ),
    "unchanged": Pair(SUMMING, SUMMING, drawn(122), 20),
    "library-set-up": Pair(
        "import torch\n"
        "def squares(values):\n    rows = torch.tensor(values, dtype=torch.float64)\n"
        "    torch.softmax(rows, 0)\n    return [int(value) for value in (rows * rows).tolist()]\n",
    ),
    "busy-thread": Pair(
        "import threading\n"
        "def spin():\n    while True:\n        sum(range(1000))\n"
        "def squares(values):\n"
        f"    if threading.active_count() == 1:\n        threading.Thread(target=spin, daemon=True).start()\n{QUICK}",
    ),
    "waiting-pool": Pair(
        "from concurrent.futures import ThreadPoolExecutor\nPOOL = ThreadPoolExecutor(1)\n"
        "def squares(values):\n    return POOL.submit(lambda: [value * value for value in values]).result()\n",
    ),
    "looked-up-submodule": Pair(
        f"import concurrent.futures as futures\nPOOL = futures.ThreadPoolExecutor(1)\ndef squares(values):\n{QUICK}",
    ),
    "lazy-libraries": Pair(
        "import numpy as np\nimport importlib.resources, logging.handlers\n"
        "GENERATOR = np.random.default_rng(1)\nTYPES = np.typing, np.polynomial.Polynomial, np.testing.assert_equal\n"
        f"def squares(values):\n{QUICK}",
    ),
    "caches-and-patterns": Pair(
        "import functools, logging, random, re\n"
        "LOG = logging.getLogger('squares')\nRANDOM = random.Random(5)\n"
        "@functools.lru_cache(maxsize=None)\ndef power(exponent):\n    return lambda value: value**exponent\n"
        "def squares(values):\n"
        "    if not re.compile(r'(\\d+)(,\\d+)*').match(str(values[0])):\n        LOG.debug(RANDOM.random())\n"
        "    return list(map(power(2), values))\n",
    ),
    "table-in-a-thread": Pair(
        f"import threading\nTABLE = []\nWORK = threading.Thread(target=lambda: TABLE.extend({TABLE}))\n"
        "WORK.start()\nWORK.join()\ndef squares(values):\n    return [TABLE[value] for value in values]\n",
    ),
    "table-in-a-child": Pair(
        "import os, struct\nPIPE = os.pipe()\n"
        "if os.fork() == 0:\n"
        "    os.write(PIPE[1], struct.pack('<q', sum(value * value for value in range(10**6))))\n    os._exit(0)\n"
        "os.wait()\nTOTAL = struct.unpack('<q', os.read(PIPE[0], 8))\n"
        f"def squares(values):\n{QUICK}",
    ),
    "memory-kept": Pair(
        "KEPT = []\n"
        "def squares(values):\n    found = [value * value for value in values]\n"
        "    KEPT.append((list(values), list(found)))\n    return found\n",
    ),
    "buffer-used-again": Pair(
        "BUFFER = [0] * 10**5\n"
        "def squares(values):\n    BUFFER[: len(values)] = [value * value for value in values]\n"
        "    return BUFFER[: len(values)]\n",
    ),
}
POWERS = "def squares(size):\n    return sum(number * number % 7 for number in range(size))\n"
SIZES = tuple(encode((size,)) for size in range(1300, 1320))
REPEATED = {
    "rounds-cached": Pair(f"import functools\n\n@functools.cache\n{POWERS}", POWERS, SIZES, len(SIZES)),
    "rounds-cached-at-the-third-time": Pair(
        "MET = {}\n"
        "def squares(size):\n    MET[size] = MET.get(size, 0) + 1\n    key = (size,)\n"
        "    if MET[size] == 3:\n        MET[key] = powers(size)\n"
        f"    return MET[key] if key in MET else powers(size)\n{POWERS.replace('squares', 'powers')}",
        POWERS,
        SIZES,
        len(SIZES),
    ),
    "rounds-cached-while-calls-are-close": Pair(
        "import time\nMET, SINCE = {}, [0, 0.0]\n"
        "def squares(size):\n"
        "    SINCE[0] = SINCE[0] + 1 if time.perf_counter() - SINCE[1] < 3e-4 else 0\n"
        "    found = MET[size] if SINCE[0] > 20 and size in MET else powers(size)\n"
        "    MET[size], SINCE[1] = found, time.perf_counter()\n"
        f"    return found\n{POWERS.replace('squares', 'powers')}",
        POWERS,
        SIZES,
        len(SIZES),
    ),
    "rounds-cached-after-other-calls": Pair(
        "MET, LARGE = {}, []\n"
        "def squares(size):\n"
        "    LARGE.append(size) if size > 1400 else LARGE.clear()\n"
        "    if LARGE and size in MET:\n        return MET[size]\n"
        f"    MET[size] = powers(size)\n    return MET[size]\n{POWERS.replace('squares', 'powers')}",
        POWERS,
        (*SIZES, *(encode((size,)) for size in range(1500, 1520))),
        len(SIZES),
    ),
    "one-call-cached": Pair(f"import functools\n\n@functools.cache\n{POWERS}", POWERS, SIZES[:1], 1),
    "rounds-computed": Pair(POWERS, POWERS, SIZES, len(SIZES)),
}
"""Pairs of which each call comes again in a process: of each part of the payloads, after those of the one before."""


@contextmanager
def building(folder: Path) -> Iterator[Callable[[Pair], tuple[Artifact, Artifact]]]:
    """Gives what builds both sides of a pair in a sandbox."""
    (folder / "squares.py").write_text(TARGET)
    (folder / "workload.py").write_text(WORKLOAD)
    ladder = open_ladder(read_task(f"{folder}/squares.py::squares", Options()), Options(), 7)

    def build(pair: Pair) -> tuple[Artifact, Artifact]:
        ours, theirs = (ladder.builder.build(text) for text in (pair.target, pair.candidate))
        assert isinstance(ours, Artifact)
        assert isinstance(theirs, Artifact)
        return ours, theirs

    try:
        yield build
    finally:
        ladder.close()
