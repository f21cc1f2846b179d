"""What a process does once before its calls on a GPU is told, and not charged.

Kernels are compiled at the first launch of a process (Triton's, PTX by the driver) and brought to the device then:
whoever uses one pays for that once and keeps the process, or the compiler's cache. Nor does charging it protect
anything: what a module's constructor works out ahead of its calls is not timed either, and a launch of PTX leaves
nothing to the next one.
"""

from __future__ import annotations

from whet.evaluators.timing.hidden_costs import LEAST_SECONDS, HiddenCosts


def without_start(costs: HiddenCosts) -> HiddenCosts:
    """Returns costs in which loading and the first call stand, but are not charged."""
    earlier = costs.evidence["by_earlier_calls"]
    charged = earlier if earlier > LEAST_SECONDS else 0.0
    return HiddenCosts(charged, {**costs.evidence, "charged_seconds": charged, "start_charged": False})
