"""Candidates that bend the clock, or what is done while it runs: none of them wins, and the reason is the right one.

A real clock decides here: what a trick gains by it shows in no seconds but those that a clock reads.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from unique import SLOW, workload

import whet
from whet.core.result import Result, Status
from whet.core.verdict import Reason

pytestmark = [
    pytest.mark.timed,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
]

WORKLOAD = workload(10, 300, 900)
HONEST = SLOW.replace("def unique", "def honest")
INSIDE = "    import sys\n    calls, one = sys.modules['inside.calls'], sys.modules['inside.invocation']\n"

TRICKS = {
    "it fills its result in a thread while the next call runs": (
        HONEST
        + """
import threading
def unique(items):
    out = []
    threading.Thread(target=lambda: out.extend(honest(items))).start()
    return out
""",
        (Reason.WRONG_OUTPUT, Reason.NOT_FASTER, Reason.SLOWER, Reason.CHEATING, Reason.NONDETERMINISTIC),
    ),
    "it senses that it is warm, and leaves out the work": (
        HONEST
        + """
count = 0
def unique(items):
    global count
    count += 1
    return honest(items) if count < 40 else []
""",
        (Reason.WRONG_OUTPUT, Reason.NONDETERMINISTIC),
    ),
    "it gives a stale result from its first timed call": (
        HONEST
        + """
kept = {}
def unique(items):
    return kept.setdefault(len(items), None) or kept.__setitem__(len(items), honest(items)) or kept[len(items)]
""",
        (Reason.WRONG_OUTPUT, Reason.NONDETERMINISTIC),
    ),
    "it remembers inputs across calls": (
        HONEST
        + """
import functools
remembered = functools.lru_cache(None)(lambda items: honest(list(items)))
def unique(items):
    return list(remembered(tuple(items)))
""",
        (Reason.NOT_FASTER, Reason.SLOWER),
    ),
    "it stops the time of the modules that it can import": (
        "import time\ntime.perf_counter_ns = time.process_time_ns = lambda: 0\ntime.perf_counter = lambda: 0.0\n"
        + SLOW,
        (Reason.NOT_FASTER, Reason.SLOWER),
    ),
    "it makes the program around it report no time": (
        HONEST + f"def unique(items):\n{INSIDE}    one._clock = lambda: 0\n    return honest(items)\n",
        (Reason.CHEATING,),
    ),
    "it puts a pass of its own in the place of the one around it": (
        HONEST
        + f"""
def unique(items):
{INSIDE}    calls.timed_pass = lambda target, payloads, repeats, capture: (1, 1, 0, 0, [b''] * len(payloads))
    return honest(items)
""",
        (Reason.SANDBOX_VIOLATION, Reason.CHEATING),
    ),
    "it does the work in a child whose time its own clock leaves out": (
        HONEST
        + f"""
import os, pickle
def unique(items):
{INSIDE}    clock = one._clock
    start = clock()
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.write(writer, pickle.dumps(honest(items)))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, 'rb') as pipe:
        found = pickle.loads(pipe.read())
    os.wait()
    lost = clock() - start
    one._clock = lambda: clock() - lost
    return found
""",
        (Reason.CHEATING, Reason.NOT_FASTER, Reason.SLOWER),
    ),
}


def judge(folder: Path, source: str, workload: str, candidate: str, symbol: str, **options: Any) -> Result:
    (folder / "slow.py").write_text(source)
    (folder / "workload.py").write_text(workload)
    (folder / "candidate.py").write_text(candidate)
    return whet.verify(
        f"{folder / 'slow.py'}::{symbol}", candidate=folder / "candidate.py", home=folder / "home", **options
    )


@pytest.mark.parametrize("trick", TRICKS)
def test_no_trick_wins(trick: str, tmp_path: Path) -> None:
    candidate, expected = TRICKS[trick]
    result = judge(tmp_path, SLOW, WORKLOAD, candidate, "unique")
    assert result.status is not Status.IMPROVED
    failed = next(rung for rung in result.rungs if rung.status == "failed")
    assert failed.reason in expected, failed


HASHES = """\
import hashlib
def digests(words):
    return [hashlib.pbkdf2_hmac("sha256", word, b"salt", 1000) for word in words]
"""
THREADS = """\
import hashlib
from concurrent.futures import ThreadPoolExecutor
def digests(words):
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda word: hashlib.pbkdf2_hmac("sha256", word, b"salt", 1000), words))
"""
WORDS = """\
sizes = [1, 20, 40]
def make_input(size, rng):
    return ([rng.randbytes(16) for _ in range(size)],)
"""


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one processor only")
def test_joined_threads_win_as_parallelism_and_only_where_cores_were_given(tmp_path: Path) -> None:
    together = judge(tmp_path, HASHES, WORDS, THREADS, "digests", cores=2)
    assert together.candidate is not None
    if together.status is Status.IMPROVED:
        assert together.candidate.labels == ("parallelism",), together.message
        assert together.speedup is not None
        baseline, candidate = together.speedup.cpu_seconds or (0, 0)
        assert candidate > 0.8 * baseline  # less time, not less work
    else:  # a busy machine lends two cores the time of one, and then nothing is gained
        assert together.status is Status.NO_IMPROVEMENT, together.message
    alone = judge(tmp_path, HASHES, WORDS, THREADS, "digests")
    assert alone.status is not Status.IMPROVED
    assert alone.candidate is not None
    assert alone.candidate.labels == ()
