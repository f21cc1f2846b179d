"""What a function costs outside its timed calls: while it is loaded, at its first call, and after its answer.

A process that makes one pass loads its module once and makes one first call. Work that a candidate has moved there
is added to its passes. What it imports is not its own work, so both sides have it imported and set up before; what it
computes at import is. Calls that
are cheap because of earlier ones, on other inputs, are charged as if they were early. A candidate that still works
after its answer, or keeps ever more memory from call to call, has not paid for its calls: its figures would be untrue
however they were timed.
"""

from __future__ import annotations

import ast
import statistics
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from whet.core.verdict import Reason
from whet.evaluators.finding import Fault
from whet.evaluators.screen import parse
from whet.evaluators.subjects import LiveFunction, Subject
from whet.sandbox.process_tree import GONE

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
        first: seconds of the first call beyond those of the second.
        row: seconds of the calls after those two.
        idle: CPU seconds a second while nothing is asked.
        kept: bytes that two rounds of calls keep.
    """

    loading: float
    first: float
    row: tuple[float, ...]
    idle: float | None
    kept: tuple[int, int] | None

    @property
    def before(self) -> float:
        return self.loading + self.first


def hidden_costs(
    baseline: Subject, candidate: Subject, payloads: Sequence[bytes], part: int, seconds: float
) -> HiddenCosts | Fault:
    """Looks at both sides in turns, each in fresh processes.

    Args:
        baseline: the original, a Python function.
        candidate: what is compared with it.
        payloads: distinct inputs of one size: two, and those of several passes.
        part: how many of them make a pass.
        seconds: that one call may take.

    Returns:
        the costs, or the fault of a candidate that works or hoards after its calls.
    """
    modules = imported(baseline.source, candidate.source)
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
    excess = [b.before - a.before for a, b in zip(ours, theirs, strict=True)]
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
        "sides": {name: [asdict(one) for one in processes] for name, processes in sides.items()},
    }
    return HiddenCosts(charged, evidence)


def _decline(ours: Sequence[_Process], theirs: Sequence[_Process], part: int) -> float | Fault:
    """Returns by how many seconds a late call is too cheap, because calls on other inputs went before it."""
    if min(len(one.row) for one in (*ours, *theirs)) < 2 * part:
        return 0.0
    (early, late), (early_ours, late_ours) = _early_and_late(theirs, part), _early_and_late(ours, part)
    usual = max(USUAL_SECONDS, (sum(early_ours) - sum(late_ours)) / 2)
    # In either order, since the inputs themselves may differ; in both together each input stands on both sides.
    shown = all(a > b + usual for a, b in zip(early, late, strict=True))
    ratio = (sum(early) / 2 - usual) / (sum(late) / 2)
    if shown and ratio > STATEFUL:
        return Fault(
            Reason.CHEATING,
            f"its calls get cheaper by what went before, on other inputs: {ratio:.2f} times "
            f"within {len(theirs[0].row)} calls",
        )
    return (sum(early) - sum(late)) / 2 - usual if shown and ratio > DECLINE else 0.0


def _early_and_late(processes: Sequence[_Process], part: int) -> tuple[list[float], list[float]]:
    """Returns the seconds of an early call in each of two orders, and of a late call on the same inputs."""
    orders = [processes[offset::2] for offset in (0, 1)]
    early = [statistics.median(statistics.fmean(one.row[:part]) for one in order) for order in orders]
    late = [statistics.median(statistics.fmean(one.row[-part:]) for one in order) for order in reversed(orders)]
    return early, late


def _observe(
    subject: Subject, modules: Sequence[str], payloads: Sequence[bytes], number: int, seconds: float
) -> _Process | Fault:
    live = subject.start(primed=modules)
    if isinstance(live, Fault):
        return live
    assert isinstance(live, LiveFunction)
    try:
        first, second, *others = payloads
        spent = _timed(live, [first, second], seconds)
        if isinstance(spent, Fault):
            return spent
        row = _timed(live, others[:: 1 if number % 2 else -1], seconds)
        if isinstance(row, Fault):
            return row
        idle = _idle(live)
        kept = _kept(live, payloads, seconds) if number == PROCESSES - 1 else None
        if isinstance(kept, Fault):
            return kept
        return _Process(live.loading, spent[0] - spent[1], tuple(row), idle, kept)
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
    before, start = _cpu_seconds(live), time.perf_counter()
    if before is None:
        return None
    time.sleep(IDLE_SECONDS)
    after = _cpu_seconds(live)
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


def _cpu_seconds(live: LiveFunction) -> float | None:
    pids = live.session.pids()
    return sum(_thread_seconds(pid) for pid in pids) if pids else None


def _thread_seconds(pid: int) -> float:
    """Returns what all threads of a process have run, to the nanosecond (``schedstat``, proc(5))."""
    total = 0
    with suppress(*GONE):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(*GONE):
                total += int((thread / "schedstat").read_text().split()[0])
    return total / 1e9


def imported(*sources: str) -> list[str]:
    """Returns the modules that source texts import anywhere, in the order of their first mention."""
    names: dict[str, None] = {}
    for source in sources:
        module = parse(source)
        assert not isinstance(module, Fault), "it was screened"
        for node in ast.walk(module):
            if isinstance(node, ast.Import):
                names.update(dict.fromkeys(alias.name for alias in node.names))
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names[node.module] = None
                names.update(dict.fromkeys(f"{node.module}.{alias.name}" for alias in node.names))
    return list(names)
