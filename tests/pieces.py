"""What tests of processes share: pieces of work, and who is left of a process tree."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import random
import signal
import time
from contextlib import suppress
from pathlib import Path

from whet.sandbox.workers.base import Needs, Work
from whet.sandbox.workers.dispatch import MOST_DEATHS

NUMBERS = itertools.count()


def piece(call, needs=None, **argument):
    """Returns work that no store has a result of."""
    text = json.dumps([call, argument, next(NUMBERS), time.time_ns()], sort_keys=True)
    return Work(hashlib.sha256(text.encode()).hexdigest(), f"whet.testing.pieces:{call}", argument, needs or Needs())


def outcomes(executor, *works, seconds=180):
    """Returns what came of work, in the order that it was submitted."""
    tickets = [executor.submit(work) for work in works]
    found = {outcome.ticket: outcome for outcome in executor.as_completed(tickets, seconds)}
    return [found[ticket] for ticket in tickets]


def running(pid):
    """Whether a process is there, and no corpse."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def commands(text):
    """Returns the processes that have some text in their command lines."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if text.encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
    return found


def lines(path, count, seconds=60):
    """Returns the lines of a file once there are so many."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = Path(path).read_text().split("\n")[:-1] if Path(path).exists() else []
        if len(found) >= count:
            return found
        time.sleep(0.02)
    raise AssertionError(f"{path} has not got {count} lines in {seconds} s")


def gone(pids, seconds=60):
    """Whether processes end within some seconds."""
    deadline = time.monotonic() + seconds
    while any(map(running, pids)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def workers(home):
    """Returns the workers that use a state directory, and then their supervisors with them."""
    found = {}
    for pid in (entry.name for entry in Path("/proc").iterdir() if entry.name.isdecimal()):
        try:
            if b"whet.sandbox.workers.child" not in Path(f"/proc/{pid}/cmdline").read_bytes():
                continue
            if f"WHET_HOME={home}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                found[int(pid)] = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    return [pid for pid in found if found[pid] in found], list(found)


def while_workers_die(executor, home, folder, *, seed, parts, size):
    """Yields the tickets and outcomes of parts of some work, while workers or their supervisors are killed.

    The moments are counted in pieces done, and a part sees fewer kills than make a piece of work lost: each piece has
    to come to its result, however fast or slow this machine is.
    """
    chance = random.Random(seed)
    for part in range(parts):
        log = Path(folder) / f"log{part}"
        tickets = [executor.submit(piece("add", numbers=[n], seconds=0.02, log=str(log))) for n in range(size)]
        for done in sorted(chance.sample(range(size - 2), MOST_DEATHS - 1)):
            lines(log, done)
            while not (victims := workers(home)[chance.randrange(2)]):
                time.sleep(0.001)
            with suppress(ProcessLookupError):
                os.kill(chance.choice(victims), signal.SIGKILL)
        yield tickets, list(executor.as_completed(tickets, 120))
