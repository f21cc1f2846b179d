"""Whether what lies outside the timed calls follows from what was observed of both sides' processes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from whet.core.plain import from_plain
from whet.evaluators.finding import found_by
from whet.evaluators.timing.hidden_costs import HiddenCosts, assess
from whet.evaluators.timing.process_observation import Observation
from whet.evaluators.timing.repeats import assess_rounds
from whet.evaluators.timing.round_observation import RoundObservation
from whet.evaluators.timing.starts import without_start

CLOSE_SECONDS = 1e-5
"""How far seconds that are worked out again may lie apart: earlier versions judged before they rounded to nanoseconds,
and a pass has up to 2,000 calls. It is a hundredth of the least that is charged."""


def odd_costs(raw: Mapping[str, Any]) -> Iterator[str]:
    """Yields what of the hidden costs of a measurement does not follow from their observations, a line each.

    Args:
        raw: of a measurement.

    Raises:
        ValueError, TypeError, LookupError, ArithmeticError: the observations have another form.
    """
    costs, works = raw.get("hidden_costs", {}), raw["workloads"]
    described = {work["name"]: work for work in works}
    if costs:
        yield from _odd_charge(costs, raw["turns"], works[0]["count"])
    for name, facts in costs.get("by_repeats", {}).items():
        seen, work = from_plain(RoundObservation, facts), described[name]
        # Calls of a native function are counted once, others as often as they come.
        distinct = work["count"] if work.get("repeats") else work["count"] // seen.rounds
        if not _close(facts["charged_seconds"], assess_rounds(seen, distinct)):
            yield f"its costs by repeats of {name} are not as their observations show"


def _odd_charge(costs: Mapping[str, Any], turns: Sequence[Mapping[str, Any]], count: int) -> Iterator[str]:
    again = found_by(lambda: assess(from_plain(Observation, costs["sides"]), count))
    if not isinstance(again, HiddenCosts):
        yield f"its hidden costs show {again.reason}"
        return
    if not costs.get("start_charged", True):
        again = without_start(again)
        if not _on_device(turns):
            yield "its hidden costs leave out the start of processes that ran on no GPU"
    if any(not _close(costs[name], again.evidence[name]) for name in again.evidence if name != "sides"):
        yield "its hidden costs are not as their observations show"


def _on_device(turns: Sequence[Mapping[str, Any]]) -> bool:
    """Whether each pass has a device's own time."""
    passes = [one for turn in turns for sides in turn["passes"].values() for one in sides.values()]
    return all(one.get("events") is not None for one in passes)


def charged_seconds(costs: Mapping[str, Any]) -> float:
    """Returns the seconds that hidden costs say are added to each pass of the candidate."""
    repeats = (facts["charged_seconds"] for facts in costs.get("by_repeats", {}).values())
    return float(costs.get("charged_seconds", 0.0) + max(repeats, default=0.0))


def _close(said: float, shown: float) -> bool:
    return math.isclose(said, shown, rel_tol=0, abs_tol=CLOSE_SECONDS)
