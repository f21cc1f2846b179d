"""What reads a clock, or counts, on the way to a verdict, gathered behind one seam."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from whet.evaluators.artifacts import Artifact, Builder
from whet.evaluators.meters.base import Meter
from whet.evaluators.meters.registry import open_meter
from whet.evaluators.timing.hidden_costs import HiddenCosts, hidden_costs
from whet.evaluators.timing.process_observation import Calls
from whet.evaluators.timing.repeats import repeat_costs
from whet.evaluators.timing.workloads import TimedWorkload

if TYPE_CHECKING:
    from whet.evaluators.baseline import Baseline


class Instruments:
    """Those of this machine. Another source of figures overrides all methods."""

    def meter(self, name: str, builder: Builder) -> Meter:
        """Returns the meter of a metric.

        Raises:
            UsageError: see `whet.evaluators.meters.registry.open_meter`.
        """
        return open_meter(name, builder)

    def paced(self, baseline: Baseline) -> Baseline:
        """Returns a baseline with the seconds of its calls that the lengths of passes follow from."""
        return baseline

    def hidden_costs(self, baseline: Artifact, candidate: Artifact, calls: Calls) -> HiddenCosts:
        """See `whet.evaluators.timing.hidden_costs.hidden_costs`."""
        return hidden_costs(baseline, candidate, calls)

    def repeat_costs(
        self, baseline: Artifact, candidate: Artifact, workloads: Sequence[TimedWorkload], seed: int, seconds: float
    ) -> HiddenCosts:
        """See `whet.evaluators.timing.repeats.repeat_costs`."""
        return repeat_costs(baseline, candidate, workloads, seed, seconds)

    def call_seconds(self, size: int, measured: float) -> float:
        """Returns the seconds that a call on inputs of a size counts as, where sizes follow from them."""
        return measured

    def command_seconds(self, side: str, turn: int, measured: float) -> float:
        """Returns the seconds that a run of a repository's command counts as.

        Args:
            side: baseline, candidate or again.
            turn: its number.
            measured: seconds from its start to its end.
        """
        return measured


INSTRUMENTS = Instruments()


def default_instruments() -> Instruments:
    """Returns those that figures come from where a caller gives none."""
    return INSTRUMENTS
