"""What a function costs outside its timed calls: while it is loaded, at its first call, and after its answer.

A process that makes one pass loads its module once and makes one first call. Work that a candidate has moved there
is added to its passes. What it imports is not its own work, so both sides have it imported and set up before; what it
computes at import is. Calls that are cheap because of earlier ones, on other inputs, are charged as if they were early.
A candidate whose calls live on earlier ones, that still works after its answer, or keeps ever more memory from call to
call, has not paid for its calls: its figures would be untrue however they were timed.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from whet.core.verdict import Reason
from whet.evaluators.finding import Fault
from whet.evaluators.live import LiveFunction
from whet.evaluators.preloads import imported
from whet.evaluators.screen import parse
from whet.evaluators.subjects import Subject
from whet.sandbox.process_tree import GONE, running_seconds

PROCESSES = 5
LEAST_SECONDS = 0.001
"""Less than this beyond the baseline's, less than the median deviation, or not in each process: noise, not charged."""
DECLINE = 1.15
"""How much dearer early calls must be than late ones on the same inputs to be charged."""
USUAL_SECONDS = 3e-5
"""By so much any early call is dearer: caches of the processor and of the interpreter fill."""
STATEFUL = 1.4
"""How much dearer they must be for the candidate to be called stateful."""
PASSES = 6
"""Passes over distinct inputs whose first and last are compared."""
IDLE_SECONDS = 0.03
BUSY_SHARE = 0.3
"""CPU seconds a second from which on a process that has answered is called busy."""
STEADY_SECONDS = 0.4
STEADY_CALLS = 400
LEAST_GROWTH = 1 << 20


@dataclass(frozen=True, slots=True)
class HiddenCosts:
    """What was found of a candidate beside the baseline.

    Attributes:
        seconds: that are added to a pass; 0 where none are shown.
        evidence: all that was measured, as plain JSON data.
    """

    seconds: float
    evidence: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Process:
    """What one process showed.

    Attributes:
        loading: seconds.
        first: seconds of the first call.
        second: seconds of the second, on the input that the first call has in the processes of the other order.
        row: seconds of the calls after those two.
        idle: CPU seconds a second while nothing is asked.
        kept: bytes that two rounds of calls keep.
    """

    loading: float
    first: float
    second: float
    row: tuple[float, ...]
    idle: float | None
    kept: tuple[int, int] | None

    def to_plain(self) -> dict[str, Any]:
        """Returns it as plain JSON data, to the nanosecond: no clock tells more."""
        rounded = {name: round(value, 9) if isinstance(value, float) else value for name, value in asdict(self).items()}
        return {**rounded, "row": [round(seconds, 9) for seconds in self.row]}


def hidden_costs(
    baseline: Subject, candidate: Subject, payloads: Sequence[bytes], part: int, seconds: float
) -> HiddenCosts | Fault:
    """Looks at both sides in turns, each in fresh processes; twice where the first look shows anything.

    Only what both looks show counts: a busy machine, or a library that is still warming up, may look like a trick once.

    Args:
        baseline: the original, a Python function.
        candidate: what is compared with it.
        payloads: distinct inputs of one size: two, and those of several passes.
        part: how many of them make a pass.
        seconds: that one call may take.

    Returns:
        the costs, or the fault of a candidate that works or hoards after its calls.
    """
    first = _look(baseline, candidate, payloads, part, seconds)
    suspected = first.reason is Reason.CHEATING if isinstance(first, Fault) else first.seconds > 0
    if not suspected:
        return first
    second = _look(baseline, candidate, payloads, part, seconds)
    if isinstance(first, Fault) or isinstance(second, Fault):
        return first if isinstance(second, Fault) and second.reason is Reason.CHEATING else second
    return min(first, second, key=lambda look: look.seconds)


def _look(
    baseline: Subject, candidate: Subject, payloads: Sequence[bytes], part: int, seconds: float
) -> HiddenCosts | Fault:
    trees = [parse(subject.source) for subject in (baseline, candidate)]
    modules = list(dict.fromkeys(imported(*(tree for tree in trees if not isinstance(tree, Fault)))))
    sides: dict[str, list[_Process]] = {"baseline": [], "candidate": []}
    for number in range(PROCESSES):
        for name, subject in (("baseline", baseline), ("candidate", candidate)):
            found = _observe(subject, modules, payloads, number, seconds)
            if isinstance(found, Fault):
                return found
            sides[name].append(found)
    ours, theirs = sides["baseline"], sides["candidate"]
    if fault := _unpaid(ours[-1], theirs[-1]):
        return fault
    # A first call of the original that seems cheaper than a later one is chance, and no debt of the candidate.
    excess = [
        (b.loading - a.loading) + (theirs_first - max(0.0, ours_first))
        for a, b, ours_first, theirs_first in zip(ours, theirs, _of_first(ours), _of_first(theirs), strict=True)
    ]
    middle = statistics.median(excess)
    spread = statistics.median(abs(value - middle) for value in excess)
    before = middle if middle > max(LEAST_SECONDS, spread) and min(excess) > 0 else 0.0
    decline = _decline(ours, theirs, part)
    if isinstance(decline, Fault):
        return decline
    earlier = decline * part
    charged = before + (earlier if earlier > LEAST_SECONDS else 0.0)
    evidence = {
        "charged_seconds": charged,
        "before_the_calls": before,
        "by_earlier_calls": earlier,
        "sides": {name: [one.to_plain() for one in processes] for name, processes in sides.items()},
    }
    return HiddenCosts(charged, evidence)


def _of_first(processes: Sequence[_Process]) -> list[float]:
    """Returns what being the first costs a call in each process.

    Beside the calls on the same input that came second, in the processes of the other order: recorded inputs may differ
    by more than anything that is looked for here.
    """
    second = [statistics.median(one.second for one in processes[1 - order :: 2]) for order in (0, 1)]
    return [one.first - second[number % 2] for number, one in enumerate(processes)]


def _decline(ours: Sequence[_Process], theirs: Sequence[_Process], part: int) -> float | Fault:
    """Returns by how many seconds a late call is too cheap, because calls on other inputs went before it."""
    if min(len(one.row) for one in (*ours, *theirs)) < 2 * part:
        return 0.0
    (early, late), (early_ours, late_ours) = _early_and_late(theirs, part), _early_and_late(ours, part)
    usual = max(USUAL_SECONDS, (sum(early_ours) - sum(late_ours)) / 2)
    # In either order, since the inputs themselves may differ; in both together each input stands on both sides.
    shown = all(a > b + usual for a, b in zip(early, late, strict=True))
    ratio = (sum(early) / 2 - usual) / (sum(late) / 2)
    if shown and ratio > STATEFUL and _in_each_process(theirs, part, usual):
        return Fault(
            Reason.CHEATING,
            f"its calls get cheaper by what went before, on other inputs: {ratio:.2f} times "
            f"within {len(theirs[0].row)} calls",
        )
    return (sum(early) - sum(late)) / 2 - usual if shown and ratio > DECLINE else 0.0


def _early_and_late(processes: Sequence[_Process], part: int) -> tuple[list[float], list[float]]:
    """Returns the seconds of an early call in each of two orders, and of a late call on the same inputs.

    The least of all processes, for others disturb.
    """
    orders = [processes[offset::2] for offset in (0, 1)]
    early = [min(statistics.fmean(one.row[:part]) for one in order) for order in orders]
    late = [min(statistics.fmean(one.row[-part:]) for one in order) for order in reversed(orders)]
    return early, late


def _in_each_process(processes: Sequence[_Process], part: int, usual: float) -> bool:
    """Whether the early calls of each process are dearer than the late ones of any other: no chance of a busy machine.

    The late ones' median, which one call that was held up leaves alone.
    """
    orders = [processes[offset::2] for offset in (0, 1)]
    return all(
        min(statistics.fmean(one.row[:part]) for one in order)
        > max(statistics.median(one.row[-part:]) for one in other) + usual
        for order, other in (orders, reversed(orders))
    )


def _observe(
    subject: Subject, modules: Sequence[str], payloads: Sequence[bytes], number: int, seconds: float
) -> _Process | Fault:
    live = subject.start(primed=modules)
    if isinstance(live, Fault):
        return live
    assert isinstance(live, LiveFunction)
    try:
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
        return _Process(live.loading, spent[0], spent[1], tuple(row), idle, kept)
    finally:
        live.close()


def _timed(live: LiveFunction, payloads: Sequence[bytes], seconds: float) -> list[float] | Fault:
    """Returns the seconds of each call, by the clock out here."""
    spent: list[float] = []
    for payload in payloads:
        start = time.perf_counter()
        answer = live.call(payload, seconds)
        if isinstance(answer, Fault):
            return answer
        spent.append(time.perf_counter() - start)
    return spent


def _unpaid(ours: _Process, theirs: _Process) -> Fault | None:
    if theirs.idle is not None and ours.idle is not None and theirs.idle > BUSY_SHARE > ours.idle:
        return Fault(
            Reason.CHEATING,
            f"its process still works after its answer: {theirs.idle:.0%} of a processor while it waits",
        )
    if theirs.kept is not None and ours.kept is not None:
        first, second = theirs.kept
        grown = first + second
        # Memory that has found its level grows in one half only.
        if min(first, second) > grown / 4 and grown > LEAST_GROWTH + 2 * max(0, sum(ours.kept)):
            return Fault(
                Reason.CHEATING,
                f"it keeps memory from call to call: {grown / 2**20:.1f} MiB more after {STEADY_SECONDS:g} s of calls, "
                f"the original {max(0, sum(ours.kept)) / 2**20:.1f} MiB",
            )
    return None


def _idle(live: LiveFunction) -> float | None:
    """Returns the CPU seconds a second that its processes use while nothing is asked of them."""
    before, start = cpu_seconds(live), time.perf_counter()
    if before is None:
        return None
    time.sleep(IDLE_SECONDS)
    after = cpu_seconds(live)
    return None if after is None else max(0.0, after - before) / (time.perf_counter() - start)


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
