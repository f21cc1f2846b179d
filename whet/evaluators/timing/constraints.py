"""Whether a candidate keeps the limits that were put on its metrics."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from whet.core.constraint import Constraint
from whet.core.measurement import Measurement, Outcome, WorkloadRatio
from whet.core.profile import in_bytes
from whet.evaluators.timing.statistics import interval, widened
from whet.evaluators.timing.turns import amounts, used


@dataclass(frozen=True, slots=True)
class _Unkept:
    """A limit that was not shown to be kept: whether it was shown to be broken, and by what figure."""

    broken: bool
    line: str


def wanted(metric: str, named: Sequence[str], so_far: Sequence[Measurement]) -> bool:
    """Whether a metric is measured of a candidate: it is named, or it is limited and there is a gain to lose.

    Args:
        metric: the next one.
        named: those that are to be improved, which come first.
        so_far: what was measured of the candidate.
    """
    return metric in named or any(one.faster for one in so_far)


def constrained(measured: Measurement, beside: Sequence[Measurement], constraints: Sequence[Constraint]) -> Measurement:
    """Returns a measurement with others beside it; a gain that does not keep the limits counts as not shown.

    Args:
        measured: of the metric that decides.
        beside: of the other metrics.
        constraints: on any metric; what was not measured, since there is no gain to lose, is not looked at.
    """
    known = {one.speedup.metric: one for one in (measured, *beside)}
    limits = [limit for limit in constraints if limit.metric in known]
    unkept = [said for limit in limits if (said := _unkept(limit, known[limit.metric]))]
    joined = replace(
        measured,
        beside=tuple(replace(one, raw={}) for one in beside),
        unkept="; ".join(one.line for one in unkept),
        over_limit=any(one.broken for one in unkept),
    )
    if not unkept:
        return joined
    outcome = Outcome.NOT_SHOWN if measured.faster else measured.outcome
    return replace(joined, outcome=outcome, note=f"{measured.note}; {joined.unkept}")


def _unkept(limit: Constraint, found: Measurement) -> _Unkept | None:
    """Returns what is said against a limit's being kept on each timed workload; None where nothing is."""
    taken = list(_amounts(found) if limit.absolute else _shares(found))
    if over := [one for one in taken if one.low > limit.most]:
        worst = max(over, key=lambda one: one.low)
        return _Unkept(True, f"breaks {limit.option}: {_figure(worst, limit)}")
    if unclear := [one for one in taken if one.high > limit.most]:
        worst = max(unclear, key=lambda one: one.high)
        return _Unkept(False, f"not shown to keep {limit.option}: {_figure(worst, limit)}")
    return None


def _shares(found: Measurement) -> Iterator[WorkloadRatio]:
    """Yields candidate / baseline on each timed workload."""
    for one in found.speedup.workloads:
        yield WorkloadRatio(one.name, 1 / one.ratio, 1 / one.high, 1 / one.low)


def _amounts(found: Measurement) -> Iterator[WorkloadRatio]:
    """Yields what the candidate itself took on each timed workload."""
    turns = used(found.raw)
    for one in found.speedup.workloads:
        column = [math.log(amount) for amount in amounts(turns, one.name).candidate]
        # As far as the baseline's amounts differ from themselves, the candidate's may.
        amount = interval([column], found.speedup.confidence)
        yield WorkloadRatio(one.name, *widened(amount, math.log(found.widened)))


def _figure(one: WorkloadRatio, limit: Constraint) -> str:
    if limit.absolute:
        middle, low, high = (in_bytes(round(value)) for value in (one.ratio, one.low, one.high))
        return f"{middle} ({low} to {high}) on {one.name}"
    return f"{one.ratio:.3f}x the original's ({one.low:.3f}x to {one.high:.3f}x) on {one.name}"
