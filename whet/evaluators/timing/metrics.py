"""All metrics that are asked for: the one that decides, and those beside it, held to their limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from whet.core.candidate import Candidate
from whet.core.events import Listener, null_listener
from whet.core.measurement import Measurement
from whet.core.options import Options
from whet.evaluators.artifacts import Builder
from whet.evaluators.baseline import Baseline
from whet.evaluators.inputs.source import InputSource, derive
from whet.evaluators.meters.base import Meter
from whet.evaluators.oracle import Oracle
from whet.evaluators.rungs import Timed
from whet.evaluators.timing.constraints import constrained, wanted
from whet.evaluators.timing.instruments import Instruments
from whet.evaluators.timing.measuring import Measuring
from whet.evaluators.timing.plan import TimingPlan
from whet.evaluators.timing.statistics import QUICK, StoppingPlan


def looks_at(meter: Meter, options: Options) -> StoppingPlan:
    """Returns when a metric is looked at."""
    return QUICK if options.quick else meter.looks


def piloted(metrics: Sequence[str]) -> bool:
    """Whether a rewrite that is to be confirmed at once is looked at in a pilot first.

    Where several metrics were asked for, the one that decides may be held against the others: all its looks are taken.
    """
    return len(metrics) == 1


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

    def build(self, candidate: Candidate) -> None:
        """Builds both sides, as `timed` will for the confirm rung; see `Measuring.build`."""
        self._first.build(candidate)

    def timed(self, name: str, candidate: Candidate, baseline: Baseline, plan: TimingPlan, seed: int) -> Timed:
        """Measures a candidate that was found right; see `whet.evaluators.timing.measuring.Measuring.timed`.

        The metrics beside the one that decides are measured once that has decided.
        """
        first = self._first.timed(name, candidate, baseline, plan, seed)
        if first.measurement.undecided or not (self._others or self._options.constraints):
            return first
        found: list[Measurement] = []
        beside = {}
        for meter, measuring in self._others:
            if not wanted(meter.name, self._options.metrics, (first.measurement, *found)):
                continue
            looked = looks_at(meter, self._options)
            taken = TimingPlan(looked.confirm if name == "confirm" else looked.beside)
            own_seed = derive(seed, meter.name)
            one = measuring.timed(name, candidate, replace(baseline, meter=meter), taken, own_seed)
            found.append(one.measurement)
            beside[meter.name] = one.facts
        joined = constrained(first.measurement, found, self._options.constraints)
        return Timed(joined, {**first.evidence, "beside": beside}, tuple(map(_figures, found)))


def _figures(found: Measurement) -> str:
    speedup = found.speedup
    return f"{speedup.metric} {speedup.ratio:.3f}x ({speedup.low:.3f}x to {speedup.high:.3f}x)"
