"""Judges what a function costs outside its timed calls: while it is loaded, at its first call, and after its answer.

A process that makes one pass loads its module once and makes one first call. Work that a candidate has moved there
is added to its passes. What it imports is not its own work, so both sides have it imported and set up before; what it
computes at import is. Calls that are cheap because of earlier ones, on other inputs, are charged as if they were early.
A candidate whose calls live on earlier ones, that still works after its answer, or keeps ever more memory from call to
call, has not paid for its calls: its figures would be untrue however they were timed.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whet.core.plain import to_plain
from whet.core.verdict import Reason
from whet.evaluators.finding import Fault
from whet.evaluators.subjects import Subject
from whet.evaluators.timing.process_observation import STEADY_SECONDS, Observation, ObservedProcess, observe

LEAST_SECONDS = 0.001
"""Less than this beyond the baseline's, less than the median deviation, or not in each process: noise, not charged."""
DECLINE = 1.15
"""From how many times the seconds of a late call on, on the same inputs, an early one has the difference charged."""
USUAL_SECONDS = 3e-5
"""By so many seconds any early call takes longer: caches of the processor and of the interpreter fill."""
STATEFUL = 1.4
"""As `DECLINE`, for the candidate to be called stateful, which is cheating."""
PASSES = 6
"""Passes over distinct inputs whose first and last are compared."""
BUSY_SHARE = 0.3
"""CPU seconds a second from which on a process that has answered is called busy."""
LEAST_GROWTH = 1 << 20
"""Bytes: allocators round up, and caches of the interpreter fill, by less than this."""


@dataclass(frozen=True, slots=True)
class HiddenCosts:
    """What was found of a candidate beside the baseline.

    Attributes:
        seconds: that are added to a pass; 0 where none are shown.
        evidence: all that was measured, as plain JSON data.
    """

    seconds: float
    evidence: Mapping[str, Any]


def hidden_costs(
    baseline: Subject, candidate: Subject, payloads: Sequence[bytes], part: int, seconds: float
) -> HiddenCosts | Fault:
    """Looks at both sides in turns, each in fresh processes; twice where the first look shows anything.

    Args:
        baseline: the original, a Python function.
        candidate: what is compared with it.
        payloads: distinct inputs of one size: two, and those of several passes.
        part: how many of them make a pass.
        seconds: that one call may take.

    Returns:
        the costs, or the fault of a candidate that works or hoards after its calls.
    """

    def look() -> HiddenCosts | Fault:
        seen = observe(baseline, candidate, payloads, seconds)
        return seen if isinstance(seen, Fault) else assess(seen, part)

    return confirmed(look)


def confirmed(look: Callable[[], HiddenCosts | Fault]) -> HiddenCosts | Fault:
    """Returns what two looks show, the smaller of two costs; what the first shows where that is nothing.

    Only what both looks show counts: a busy machine, or a library that is still warming up, may look like a trick once.
    """
    first = look()
    suspected = first.reason is Reason.CHEATING if isinstance(first, Fault) else first.seconds > 0
    if not suspected:
        return first
    second = look()
    if isinstance(first, Fault) or isinstance(second, Fault):
        return first if isinstance(second, Fault) and second.reason is Reason.CHEATING else second
    return min(first, second, key=lambda one: one.seconds)


def assess(seen: Observation, part: int) -> HiddenCosts | Fault:
    """Judges one look: the seconds that are added to a pass of the candidate, or its fault.

    Args:
        seen: what the processes of both sides showed.
        part: how many inputs make a pass.
    """
    if fault := _unpaid(seen.baseline[-1], seen.candidate[-1]):
        return fault
    before = _before_the_calls(seen)
    decline = _decline(seen.baseline, seen.candidate, part)
    if isinstance(decline, Fault):
        return decline
    earlier = decline * part
    charged = before + (earlier if earlier > LEAST_SECONDS else 0.0)
    evidence = {
        "charged_seconds": charged,
        "before_the_calls": before,
        "by_earlier_calls": earlier,
        "sides": to_plain(seen),
    }
    return HiddenCosts(charged, evidence)


def _unpaid(ours: ObservedProcess, theirs: ObservedProcess) -> Fault | None:
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


def _before_the_calls(seen: Observation) -> float:
    """Returns the seconds that loading and a first call take beyond the baseline's; 0 where that may be noise."""
    # A first call of the original that seems cheaper than a later one is chance, and no debt of the candidate.
    excess = [
        (b.loading - a.loading) + (theirs_first - max(0.0, ours_first))
        for a, b, ours_first, theirs_first in zip(
            seen.baseline, seen.candidate, _of_first(seen.baseline), _of_first(seen.candidate), strict=True
        )
    ]
    middle = statistics.median(excess)
    spread = statistics.median(abs(value - middle) for value in excess)
    return middle if middle > max(LEAST_SECONDS, spread) and min(excess) > 0 else 0.0


def _of_first(processes: Sequence[ObservedProcess]) -> list[float]:
    """Returns what being the first costs a call in each process.

    Beside the calls on the same input that came second, in the processes of the other order: recorded inputs may differ
    by more than anything that is looked for here.
    """
    second = [statistics.median(one.second for one in processes[1 - order :: 2]) for order in (0, 1)]
    return [one.first - second[number % 2] for number, one in enumerate(processes)]


def _decline(ours: Sequence[ObservedProcess], theirs: Sequence[ObservedProcess], part: int) -> float | Fault:
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


def _early_and_late(processes: Sequence[ObservedProcess], part: int) -> tuple[list[float], list[float]]:
    """Returns the seconds of an early call in each of two orders, and of a late call on the same inputs.

    The least of all processes, for others disturb.
    """
    orders = [processes[offset::2] for offset in (0, 1)]
    early = [min(statistics.fmean(one.row[:part]) for one in order) for order in orders]
    late = [min(statistics.fmean(one.row[-part:]) for one in order) for order in reversed(orders)]
    return early, late


def _in_each_process(processes: Sequence[ObservedProcess], part: int, usual: float) -> bool:
    """Whether the early calls of each process are dearer than the late ones of any other: no chance of a busy machine.

    The late ones' median, which one call that was held up leaves alone.
    """
    orders = [processes[offset::2] for offset in (0, 1)]
    return all(
        min(statistics.fmean(one.row[:part]) for one in order)
        > max(statistics.median(one.row[-part:]) for one in other) + usual
        for order, other in (orders, reversed(orders))
    )
