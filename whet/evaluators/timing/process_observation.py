"""Observes what processes of a baseline and of a candidate do outside timed calls; judges nothing.

Each process loads the function, makes a first and a second call, calls it on a row of distinct inputs, and is watched
while nothing is asked of it. The last of each side also makes calls for a while, and its memory is read in between.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from whet.evaluators.finding import Fault
from whet.evaluators.live import LiveFunction
from whet.evaluators.preloads import imported
from whet.evaluators.screen import parse
from whet.evaluators.subjects import Subject
from whet.sandbox.process_tree import GONE, running_seconds

PROCESSES = 5
"""Of each side, for a median. Even ones make their calls in the given order, odd ones in the opposite order."""
IDLE_SECONDS = 0.03
"""How long CPU time is counted while nothing is asked; the kernel counts to the nanosecond."""
STEADY_SECONDS = 0.4
STEADY_CALLS = 400
"""Calls, and their seconds, whichever ends first, between whose thirds memory is read: 4 kB a call become 1 MiB."""
DIGITS = 9
"""Decimal places of seconds: no clock tells less than a nanosecond."""


@dataclass(frozen=True, slots=True)
class ObservedProcess:
    """What one process showed.

    Attributes:
        loading: seconds.
        first: seconds of the first call.
        second: seconds of the second, on the input that the first call has in the processes of the other order.
        row: seconds of the calls after those two.
        idle: CPU seconds a second while nothing is asked; None where the kernel does not tell.
        kept: bytes by which memory grew in the second and in the last third of some calls; only of the last process.
    """

    loading: float
    first: float
    second: float
    row: tuple[float, ...]
    idle: float | None
    kept: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Observation:
    """What the processes of both sides showed, in the order in which they ran; plain JSON data with `to_plain`."""

    baseline: tuple[ObservedProcess, ...]
    candidate: tuple[ObservedProcess, ...]


def observe(baseline: Subject, candidate: Subject, payloads: Sequence[bytes], seconds: float) -> Observation | Fault:
    """Runs fresh processes of both sides in turns.

    What either side imports is imported in all of them before loading is timed.

    Args:
        baseline: the original, a Python function.
        candidate: what is compared with it.
        payloads: distinct inputs of one size: two for the first calls, then those of the row.
        seconds: that one call may take.

    Returns:
        what they showed, or the first fault of a process.
    """
    trees = [parse(subject.source) for subject in (baseline, candidate)]
    modules = list(dict.fromkeys(imported(*(tree for tree in trees if not isinstance(tree, Fault)))))
    sides: tuple[list[ObservedProcess], list[ObservedProcess]] = [], []
    for number in range(PROCESSES):
        for side, subject in zip(sides, (baseline, candidate), strict=True):
            found = _observe_process(subject, modules, payloads, number, seconds)
            if isinstance(found, Fault):
                return found
            side.append(found)
    ours, theirs = sides
    return Observation(tuple(ours), tuple(theirs))


def _observe_process(
    subject: Subject, modules: Sequence[str], payloads: Sequence[bytes], number: int, seconds: float
) -> ObservedProcess | Fault:
    live = subject.start(primed=modules)
    if isinstance(live, Fault):
        return live
    assert isinstance(live, LiveFunction)
    with closing(live):
        first, second, *others = payloads
        order = 1 if number % 2 == 0 else -1
        spent = _timed(live, [first, second][::order], seconds)
        if isinstance(spent, Fault):
            return spent
        row = _timed(live, others[::order], seconds)
        if isinstance(row, Fault):
            return row
        idle = _idle(live)
        kept = _kept(live, payloads, seconds) if number == PROCESSES - 1 else None
        if isinstance(kept, Fault):
            return kept
        return ObservedProcess(round(live.loading, DIGITS), spent[0], spent[1], tuple(row), idle, kept)


def _timed(live: LiveFunction, payloads: Sequence[bytes], seconds: float) -> list[float] | Fault:
    """Returns the seconds of each call, by the clock out here."""
    spent: list[float] = []
    for payload in payloads:
        start = time.perf_counter()
        answer = live.call(payload, seconds)
        if isinstance(answer, Fault):
            return answer
        spent.append(round(time.perf_counter() - start, DIGITS))
    return spent


def _idle(live: LiveFunction) -> float | None:
    """Returns the CPU seconds a second that its processes use while nothing is asked of them."""
    before, start = cpu_seconds(live), time.perf_counter()
    if before is None:
        return None
    time.sleep(IDLE_SECONDS)
    after = cpu_seconds(live)
    return None if after is None else round(max(0.0, after - before) / (time.perf_counter() - start), DIGITS)


def _kept(live: LiveFunction, payloads: Sequence[bytes], seconds: float) -> tuple[int, int] | Fault | None:
    """Returns by how many bytes the process grows in each of two halves of some calls, after as many before."""
    levels: list[int] = []
    for _ in range(3):
        end = time.perf_counter() + STEADY_SECONDS / 3
        for number in range(STEADY_CALLS // 3):
            answer = live.call(payloads[number % len(payloads)], seconds)
            if isinstance(answer, Fault):
                return answer
            if time.perf_counter() > end:
                break
        size = _resident(live)
        if size is None:
            return None
        levels.append(size)
    return levels[1] - levels[0], levels[2] - levels[1]


def _resident(live: LiveFunction) -> int | None:
    pids = live.session.pids()
    return sum(_anonymous(pid) for pid in pids) if pids else None


def _anonymous(pid: int) -> int:
    with suppress(*GONE):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) << 10
    return 0


def cpu_seconds(live: LiveFunction) -> float | None:
    """Returns the CPU seconds of all of its processes so far, as the kernel tells them; None where it does not."""
    pids = live.session.pids()
    return sum(map(running_seconds, pids)) if pids else None
