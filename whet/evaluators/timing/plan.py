"""How long a candidate is measured, and what is left to a later rung."""

from __future__ import annotations

from dataclasses import dataclass

from whet.core.measurement import Measurement
from whet.evaluators.timing.statistics import Stage


@dataclass(frozen=True, slots=True)
class TimingPlan:
    """What one measuring of a candidate takes.

    Attributes:
        stages: when to look, and how much error each look may spend.
        begun: what fewer looks found with the same seed, to be gone on with; under the first flags only.
        looks: the most to be taken; None for as many as it needs.
        provisional: whether a gain is confirmed at once: what the candidate costs outside its calls is then judged
            there, and not here too.
    """

    stages: tuple[Stage, ...]
    begun: Measurement | None = None
    looks: int | None = None
    provisional: bool = False
