"""What reads a clock on the way from a right candidate to a verdict, gathered behind one seam."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from whet.evaluators.finding import Fault
from whet.evaluators.meters.base import Meter
from whet.evaluators.meters.registry import open_meter
from whet.evaluators.subjects import Subject, Workshop
from whet.evaluators.timing.hidden_costs import HiddenCosts, hidden_costs
from whet.evaluators.timing.repeats import repeat_costs
from whet.evaluators.timing.turns import TimedWorkload

if TYPE_CHECKING:
    from whet.evaluators.baseline import Baseline


class Instruments:
    """Those of this machine. Another source of figures overrides all four methods."""

    def meter(self, name: str, workshop: Workshop) -> Meter:
        """Returns the meter of a metric.

        Raises:
            UsageError: see `whet.evaluators.meters.registry.open_meter`.
        """
        return open_meter(name, workshop)

    def paced(self, baseline: Baseline) -> Baseline:
        """Returns a baseline with the seconds of its calls that the lengths of passes follow from."""
        return baseline

    def hidden_costs(
        self, baseline: Subject, candidate: Subject, payloads: Sequence[bytes], part: int, seconds: float
    ) -> HiddenCosts | Fault:
        """See `whet.evaluators.timing.hidden_costs.hidden_costs`."""
        return hidden_costs(baseline, candidate, payloads, part, seconds)

    def repeat_costs(
        self, baseline: Subject, candidate: Subject, workloads: Sequence[TimedWorkload], seed: int, seconds: float
    ) -> HiddenCosts | Fault:
        """See `whet.evaluators.timing.repeats.repeat_costs`."""
        return repeat_costs(baseline, candidate, workloads, seed, seconds)


INSTRUMENTS = Instruments()
