"""Whether the events that a GPU's driver records around calls agree with the clock that counts.

The clock that counts waits for all streams; events see the work of one. A candidate whose events tell much less has
work on streams that its caller does not wait for; one whose events tell more has touched a clock. What honest calls
differ by (the way from the host to the device and back) differs no less for the baseline, so that is the measure.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from whet.core.verdict import Reason
from whet.evaluators.finding import Fault
from whet.evaluators.processes import Pass

EVENT_SECONDS = 0.0002
"""By how much more than the baseline's a candidate's events may differ from the clock, at the least: some launches, and
the way back of what they say. More would let work of as many seconds go on where nobody waits for it."""
EVENT_OF_TIME = 0.1
"""The same, of the seconds that count: a candidate of fewer and longer launches has other gaps than the baseline."""
EVENT_OF_GAP = 0.5
"""The same, of the baseline's own difference, which is of the same order for honest calls."""


def disagreement(
    name: str, passes: Mapping[str, Sequence[Pass]], seconds: Mapping[str, Sequence[float]]
) -> Fault | None:
    """Returns the fault of a candidate whose clocks disagree; None where they agree, or there are no events.

    Args:
        name: of the workload.
        passes: of each side, a turn each.
        seconds: that count, of each of these passes.
    """
    gaps = {side: _gaps(passes[side], seconds[side]) for side in passes}
    ours = [*gaps["baseline"], *gaps["again"]]
    if not ours or not gaps["candidate"]:
        return None
    usual, theirs = statistics.median(ours), statistics.median(gaps["candidate"])
    time = statistics.median(seconds["candidate"])
    spread = statistics.quantiles(ours, n=10)[-1] - usual
    if abs(theirs - usual) <= EVENT_SECONDS + EVENT_OF_TIME * time + EVENT_OF_GAP * abs(usual) + spread:
        return None
    why = "it works on streams that nobody waits for" if theirs > usual else "one of them was touched"
    said = f"the device's events say {(time - theirs) * 1e3:.3g} ms, the clock {time * 1e3:.3g} ms"
    return Fault(Reason.CHEATING, f"{name}: {said}: {why}")


def _gaps(passes: Sequence[Pass], seconds: Sequence[float]) -> list[float]:
    return [counted - one.events for one, counted in zip(passes, seconds, strict=True) if one.events is not None]
