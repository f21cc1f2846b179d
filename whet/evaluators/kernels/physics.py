"""What no call can be faster than: the bytes that it has to read and write, over what the device's memory moves.

The bound is in bytes alone. Weights do not count: an answer may lay them out anew, fold or narrow them in its
constructor. Results count only beyond the second-level cache, where the rest may still lie when the call ends. Inputs
count as far as they were seen to matter: a part that changes nothing need not be read. Floating-point operations are
no bound at all: the original's can be saved by algebra (folded weights, Winograd's convolutions, known structure).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from whet.core.verdict import Reason
from whet.evaluators.finding import Fault

CONFIDENCE = 0.999
"""Confidence, 0 to 1, of the lower bound of the share of inputs that matter: at most one draw in a thousand gives a
share that is too high, which could reject an honest answer. Nearer to 1 the bound is lower: fewer false alarms, and
more impossible times pass."""
STEPS = 60
"""Halvings of an interval: more than a float has bits."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What one call has to move; see `whet.sandbox.inside.needs.needs`.

    Attributes:
        tries: elements of inputs that were changed, one at a time, drawn at random over their bytes.
        shown: how many of the changes showed in the outcome.
        inputs: bytes of the inputs.
        results: bytes of the results that are no part of an input.
        cache: bytes of the second-level cache.
    """

    tries: int
    shown: int
    inputs: int
    results: int
    cache: int

    @property
    def moved(self) -> float:
        """Bytes that surely pass between the memory and a cold cache during a call."""
        share = lower_share(self.tries, self.shown, CONFIDENCE)
        return share * self.inputs + max(0, self.results - self.cache)


def lower_share(tries: int, shown: int, confidence: float) -> float:
    """Returns the least share that some hits among tries allow: the exact bound of Clopper and Pearson, one-sided.

    Args:
        tries: drawn at random.
        shown: hits among them.
        confidence: 0 to 1.
    """
    if not shown:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        share = (low + high) / 2
        at_least = sum(math.comb(tries, k) * share**k * (1 - share) ** (tries - k) for k in range(shown, tries + 1))
        low, high = (share, high) if at_least < 1 - confidence else (low, share)
    return low


def impossible(name: str, seconds: float, moved: float, bandwidth: float) -> Fault | None:
    """Returns the fault of a call that would have moved more bytes than the device can; None where it need not have.

    Args:
        name: of the workload.
        seconds: that one call of the candidate takes.
        moved: bytes that it has to move.
        bandwidth: bytes a second of the device's memory, at its highest clock.
    """
    if moved <= bandwidth * seconds:
        return None
    return Fault(
        Reason.CHEATING,
        f"{name}: {seconds * 1e6:.3g} us a call is faster than physics: the {moved / 1e6:.3g} MB that it has to move "
        f"would take {moved / bandwidth * 1e6:.3g} us at the {bandwidth / 1e9:.4g} GB/s of the GPU's memory",
    )
