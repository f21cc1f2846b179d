"""How long a candidate is measured, and what is left to a later rung."""

from __future__ import annotations

from dataclasses import dataclass

from whet.core.measurement import Measurement
from whet.evaluators.timing.statistics import Stage

PILOT_TURNS = 3
"""Of equal programs, at most one in eight has three turns that all show a gain: it is confirmed, and not shown there.
Fewer turns would have more of them confirmed, for up to twenty turns each; with more, each rewrite that is faster takes
longer."""


def pilot(confidence: float) -> Stage:
    """Returns a look that asks whether a gain is worth confirming at once: each of its turns shows one.

    It may spend any error, since it claims nothing: what is claimed is what the confirm rung shows by itself.

    Args:
        confidence: 0 to 1, that is asked for.
    """
    return Stage(PILOT_TURNS, 1.0 / (1.0 - confidence))


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
