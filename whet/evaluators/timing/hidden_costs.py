"""Judges what a function costs outside its timed calls: while it is loaded, at its first call, and after its answer.

A process that makes one pass loads its module once and makes one first call. Work that a candidate has moved there
is added to its passes. What it imports is not its own work, so both sides have it imported and set up before; what it
computes at import is. Calls that are cheap because of earlier ones, on other inputs, are charged as if they were early.
Only what an interval over processes shows is charged: its low end, the least of the candidate's processes less the
second greatest of what it is compared with.

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
from whet.evaluators.artifacts import Artifact
from whet.evaluators.finding import Fault, RungEndedError, Skipped, found_by, sound
from whet.evaluators.timing.process_observation import (
    LEAST_GROWTH,
    STEADY_SECONDS,
    Calls,
    Observation,
    ObservedProcess,
    observe,
)

LEAST_SECONDS = 0.001
"""Less than this is not charged: starting a thread, or compiling a regular expression, takes some tenths of it."""
DECLINE = 1.15
"""From how many times the seconds of a late call on, on the same inputs, an early one has the difference charged."""
USUAL_SECONDS = 3e-5
"""By so many seconds any of the first calls takes longer, as many as make a pass of the baseline: caches of the
processor and of the interpreter fill."""
STATEFUL = 1.4
"""As `DECLINE`, for the candidate to be called stateful, which is cheating."""
LOOKS = (4, 8)
"""Processes of each side in the first look, and in a second one at what the first shows. Fewer than four leave no room
for one that is disturbed; each costs a start with all imports."""
PASSES = 6
"""Passes over distinct inputs, whose first and last are compared."""
BUSY_SHARE = 0.3
"""CPU seconds a second from which on a process that has answered is called busy."""


@dataclass(frozen=True, slots=True)
class HiddenCosts:
    """What was found of a candidate beside the baseline.

    Attributes:
        seconds: that are added to a pass; 0 where none are shown.
        evidence: all that was measured, as plain JSON data.
    """

    seconds: float
    evidence: Mapping[str, Any]


def hidden_costs(baseline: Artifact, candidate: Artifact, calls: Calls) -> HiddenCosts:
    """Looks at both sides in turns, each in fresh processes; twice where the first look shows anything.

    Args:
        baseline: the original, a Python function.
        candidate: what is compared with it.
        calls: that their processes make, of several passes.

    Raises:
        RungEndedError: the candidate works or hoards after its calls, or a process failed.
    """
    return confirmed(lambda processes: assess(observe(baseline, candidate, calls, processes), calls.part))


def confirmed(look: Callable[[int], HiddenCosts]) -> HiddenCosts:
    """Returns what two looks show, the smaller of two costs; what the first shows where that is nothing.

    Only what both looks show counts: a library that is still warming up may look like a trick once.

    Args:
        look: takes so many processes of each side.

    Raises:
        RungEndedError: both looks show that the candidate cheats, or one was ended by something else.
    """
    first = found_by(lambda: look(LOOKS[0]))
    if not (_cheats(first) or (isinstance(first, HiddenCosts) and first.seconds)):
        return sound(first)
    second = found_by(lambda: look(LOOKS[1]))
    if isinstance(first, HiddenCosts) and isinstance(second, HiddenCosts):
        return min(first, second, key=lambda one: one.seconds)
    return sound(first if _cheats(second) else second)


def _cheats(found: HiddenCosts | Fault | Skipped) -> bool:
    return isinstance(found, Fault) and found.reason is Reason.CHEATING


def assess(seen: Observation, part: int) -> HiddenCosts:
    """Judges one look: the seconds that are added to a pass of the candidate.

    Args:
        seen: what the processes of both sides showed.
        part: how many inputs make a pass.

    Raises:
        RungEndedError: it shows that the candidate cheats.
    """
    _expect_paid(seen)
    before = _before_the_calls(seen)
    decline = _decline(seen, part)
    charged = before + (decline if decline > LEAST_SECONDS else 0.0)
    evidence = {
        "charged_seconds": charged,
        "before_the_calls": before,
        "by_earlier_calls": decline,
        "sides": to_plain(seen),
    }
    return HiddenCosts(charged, evidence)


def _expect_paid(seen: Observation) -> None:
    ours, theirs = ([one.idle for one in side if one.idle is not None] for side in (seen.baseline, seen.candidate))
    # No machine makes a process busy that has nothing to do; one that is full lets a busy one seem less so.
    if len(ours) > 1 and len(theirs) > 1 and second_greatest(theirs) > BUSY_SHARE > max(ours):
        raise _cheating(
            f"its process still works after its answer: {second_greatest(theirs):.0%} of a processor while it waits"
        )
    usual, kept = seen.baseline[-1].kept, seen.candidate[-1].kept
    if kept is not None and usual is not None:
        first, second = kept
        grown = first + second
        # Memory that has found its level grows in one half only.
        if min(first, second) > grown / 4 and grown > LEAST_GROWTH + 2 * max(0, sum(usual)):
            raise _cheating(
                f"it keeps memory from call to call: {grown / 2**20:.1f} MiB more after {STEADY_SECONDS:g} s of calls, "
                f"the original {max(0, sum(usual)) / 2**20:.1f} MiB"
            )


def _cheating(detail: str) -> RungEndedError:
    return RungEndedError(Fault(Reason.CHEATING, detail))


def _before_the_calls(seen: Observation) -> float:
    """Returns the seconds that loading and a first call take at least beyond the baseline's; 0 for a few."""
    loading = min(one.loading for one in seen.candidate) - second_greatest([one.loading for one in seen.baseline])
    excess = loading + max(0.0, min(_of_first(seen.candidate))) - _usual_of_first(seen.baseline)
    return excess if excess > LEAST_SECONDS else 0.0


def _usual_of_first(baseline: Sequence[ObservedProcess]) -> float:
    """Returns what being the first may cost a call of the candidate, since it costs the original's as much."""
    costs = _of_first(baseline)
    # Where the first call of any process seems cheaper than a later one, the original has no such costs, but noise.
    return second_greatest(costs) if min(costs) > 0 else 0.0


def _of_first(processes: Sequence[ObservedProcess]) -> list[float]:
    """Returns what being the first costs a call in each process.

    Beside the calls on the same input that came second, in the processes of the other order: recorded inputs may differ
    by more than anything that is looked for here.
    """
    second = [statistics.median(one.second for one in processes[1 - order :: 2]) for order in (0, 1)]
    return [one.first - second[number % 2] for number, one in enumerate(processes)]


def _decline(seen: Observation, part: int) -> float:
    """Returns by how many seconds a late pass is too cheap, because calls on other inputs went before it."""
    ours, theirs = seen.baseline, seen.candidate
    if min(len(one.passes) for one in (*ours, *theirs)) < 2:
        return 0.0
    (early, late), (early_ours, late_ours) = _early_and_late(theirs, second_greatest), _early_and_late(ours, min)
    usual = USUAL_SECONDS * part
    if _shown_to_decline(ours):
        # What the first calls cost comes once in a longer pass too; a decline of the original in all of it.
        times = seen.longer if sum(early_ours) > DECLINE * sum(late_ours) else 1
        usual = max(usual, times * (sum(early_ours) - sum(late_ours)) / 2)
    # In either order, since the inputs themselves may differ; in both together each input stands on both sides.
    if not all(a > b + usual for a, b in zip(early, late, strict=True)):
        return 0.0
    ratio = (sum(early) / 2 - usual) / (sum(late) / 2)
    if ratio > STATEFUL:
        raise _cheating(
            f"its calls get cheaper by what went before, on other inputs: {ratio:.2f} times "
            f"within {len(theirs[0].passes) * part * seen.longer} calls"
        )
    return ((sum(early) - sum(late)) / 2 - usual) / seen.longer if ratio > DECLINE else 0.0


def _shown_to_decline(ours: Sequence[ObservedProcess]) -> bool:
    """Whether late passes of the original are shown to be cheaper, as they are of a candidate.

    By the processes of a second look only: those of a first are so few that it may be noise, which is as large as what
    a candidate far faster than the original can save.
    """
    early, late = _early_and_late(ours, second_greatest)
    return len(ours) >= LOOKS[1] and all(a > b for a, b in zip(early, late, strict=True))


def _early_and_late(
    processes: Sequence[ObservedProcess], high: Callable[[Sequence[float]], float]
) -> tuple[list[float], list[float]]:
    """Returns the seconds of the first pass in each of two orders, and of the last pass on the same inputs.

    Of the first, the least over processes, since whatever disturbs one adds to it; of the last, as is asked for.
    """
    orders = [processes[offset::2] for offset in (0, 1)]
    early = [min(one.passes[0] for one in order) for order in orders]
    late = [high([one.passes[-1] for one in order]) for order in reversed(orders)]
    return early, late


def second_greatest(values: Sequence[float]) -> float:
    """Returns the high end of some values, of which one may be disturbed.

    By a rank test, whatever the distribution: all of some values lie above this of as many others of the same
    distribution in 5 of 70 cases for four, and in 9 of 12,870 for eight.
    """
    return sorted(values)[-2]
