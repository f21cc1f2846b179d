"""Work that others do on the machine while a campaign measures."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from whet.benchmarks.tasks import task_folder

IDLE, ONE, EACH, WHET = "idle", "one-busy", "each-busy", "whet-beside"
CONDITIONS = (IDLE, ONE, EACH, WHET)
"""Nothing else; one process that computes all the time; one for each core; another whet that gives verdicts."""
# Both are given the process of the campaign, and end with it, however that ends.
BUSY = """\
import os, sys
while os.getppid() == int(sys.argv[1]): pass
"""
ANOTHER = """\
import os, subprocess, sys
while os.getppid() == int(sys.argv[1]):
    subprocess.run([sys.executable, "-m", "whet", *sys.argv[2:]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
"""
TASK, BEST = "dedup-events", "best.py"


@contextmanager
def beside(condition: str) -> Iterator[None]:
    """Keeps the machine busy, as the condition says, until the block ends."""
    with tempfile.TemporaryDirectory(prefix="whet-self-") as home:
        started = [
            subprocess.Popen(
                [sys.executable, "-c", *command], env={**os.environ, "WHET_HOME": home}, start_new_session=True
            )
            for command in _commands(condition)
        ]
        try:
            yield
        finally:
            for process in started:
                os.killpg(process.pid, 9)
                process.wait()


def _commands(condition: str) -> list[list[str]]:
    campaign = str(os.getpid())
    if condition == WHET:
        folder: Path = task_folder(TASK)
        return [[ANOTHER, campaign, "verify", str(folder), "--candidate", str(folder / BEST)]]
    return [[BUSY, campaign]] * {IDLE: 0, ONE: 1, EACH: len(os.sched_getaffinity(0))}[condition]
