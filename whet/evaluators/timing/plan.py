"""How long a candidate is measured, and what is left to a later rung."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from whet.core.measurement import Measurement, Outcome
from whet.evaluators.timing.decision import InterimLook
from whet.evaluators.timing.statistics import Stage

PILOT_TURNS = 3
"""Of equal programs, at most one in eight has three turns that all show a gain: it is confirmed, and not shown there.
Fewer turns would have more of them confirmed, for up to twenty turns each; with more, each rewrite that is faster takes
longer."""
LARGE = 1.5
"""A gain that one turn is enough to show. From less on, more equal programs would be confirmed; from more on, more
gains would take three turns."""


def pilot(confidence: float) -> tuple[Stage, ...]:
    """Returns the looks that ask whether a gain is worth confirming at once; see `enough`.

    They may spend any error, since they claim nothing: what is claimed is what the confirm rung shows by itself.

    Args:
        confidence: 0 to 1, that is asked for.
    """
    error = 1.0 / (1.0 - confidence)
    return Stage(1, error), Stage(PILOT_TURNS, error)


def worth_confirming(look: InterimLook, stage: Stage) -> bool:
    """Whether what a look of a pilot shows is worth confirming at once."""
    found = look.measurement
    return enough(found) and look.settles(stage)


def enough(found: Measurement) -> bool:
    """Whether a gain is worth confirming at once: each of some turns shows one, or a single turn a large one."""
    speedup = found.speedup
    return found.outcome is Outcome.FASTER and (speedup.processes >= PILOT_TURNS or speedup.ratio >= LARGE)


@dataclass(frozen=True, slots=True)
class TimingPlan:
    """What one measuring of a candidate takes.

    Attributes:
        stages: when to look, and how much error each look may spend.
        begun: what fewer looks found with the same seed, to be gone on with; under the first flags only.
        looks: the most to be taken; None for as many as it needs.
        provisional: whether a gain is confirmed at once: what the candidate costs outside its calls is then judged
            there, and not here too.
        over: whether a look is the last one.
    """

    stages: tuple[Stage, ...]
    begun: Measurement | None = None
    looks: int | None = None
    provisional: bool = False
    over: Callable[[InterimLook, Stage], bool] = InterimLook.settles
