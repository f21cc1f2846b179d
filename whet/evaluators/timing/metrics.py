"""All metrics that are asked for: the one that decides, and those beside it, held to their limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from whet.core.candidate import Candidate
from whet.core.events import Listener, null_listener
from whet.core.measurement import Measurement
from whet.core.options import Options
from whet.core.verdict import Rung
from whet.evaluators.artifacts import Builder
from whet.evaluators.baseline import Baseline
from whet.evaluators.inputs.source import InputSource, derive
from whet.evaluators.meters.base import Meter
from whet.evaluators.oracle import Oracle
from whet.evaluators.rungs import measured
from whet.evaluators.timing.constraints import constrained, wanted
from whet.evaluators.timing.instruments import Instruments
from whet.evaluators.timing.measuring import Measuring
from whet.evaluators.timing.plan import Plan
from whet.evaluators.timing.statistics import QUICK, Stage, StoppingPlan


def looks_at(meter: Meter, options: Options) -> StoppingPlan:
    """Returns when a metric is looked at."""
    return QUICK if options.quick else meter.looks


def looked_at_once(stages: Sequence[Stage], metrics: Sequence[str]) -> bool:
    """Whether a rewrite that is to be confirmed is measured by the first of several looks, where that shows it."""
    return len(metrics) == 1 and len(stages) > 1


class Metrics:
    """Measures the candidates of one task in several metrics.

    Args:
        builder: makes processes of both sides.
        source: draws the inputs.
        oracle: compares outcomes.
        options: as the user gave them.
        meters: of ``options.metrics[0]`` and ``options.beside``.
        instruments: that figures beside the meters' come from.
        listener: hears of each turn.

    Attributes:
        names: of the metrics, the one that decides first.
    """

    def __init__(
        self,
        builder: Builder,
        source: InputSource,
        oracle: Oracle,
        options: Options,
        meters: Sequence[Meter],
        instruments: Instruments,
        listener: Listener = null_listener,
    ) -> None:
        self._options = options
        first, *others = (
            (meter, Measuring(builder, source, oracle, options, meter, instruments, listener)) for meter in meters
        )
        self.names = tuple(meter.name for meter in meters)
        self._first = first[1]
        self._others = others

    def climb(
        self,
        name: str,
        candidate: Candidate,
        baseline: Baseline,
        plan: Plan,
        seed: int,
    ) -> tuple[Rung, Measurement | None]:
        """Measures a candidate that was found right; see `whet.evaluators.timing.measuring.Measuring.climb`.

        Returns:
            the rung, and the measurement of the metric that decides with those of the others beside it, once that has
            decided. None where the candidate showed a fault in any of them.
        """
        rung, first = self._first.climb(name, candidate, baseline, plan, seed)
        if first is None or first.undecided or not (self._others or self._options.constraints):
            return rung, first
        found: list[Measurement] = []
        evidence = {}
        seconds = rung.seconds
        for meter, measuring in self._others:
            if not wanted(meter.name, self._options.metrics, (first, *found)):
                continue
            looked = looks_at(meter, self._options)
            taken = Plan(looked.confirm if name == "confirm" else looked.beside)
            own, one = measuring.climb(name, candidate, replace(baseline, meter=meter), taken, derive(seed, meter.name))
            if one is None:
                return own, None
            found.append(one)
            evidence[meter.name] = own.evidence
            seconds += own.seconds
        joined = constrained(first, found, self._options.constraints)
        told = measured(name, joined, seconds)
        detail = "; ".join((told.detail, *map(_figures, found)))
        return replace(told, detail=detail, evidence={**rung.evidence, **told.evidence, "beside": evidence}), joined


def _figures(found: Measurement) -> str:
    speedup = found.speedup
    return f"{speedup.metric} {speedup.ratio:.3f}x ({speedup.low:.3f}x to {speedup.high:.3f}x)"
