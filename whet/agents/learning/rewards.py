"""From a verdict to one number between -1 and 1, for training.

Wrong candidates get the three negative steps of CodeRL (Le et al., NeurIPS 2022, arXiv:2207.01780): -1 for
what does not build, -0.6 for what does not run to its end, -0.3 for a wrong answer. What breaks a rule instead of being
wrong (cheating, the sandbox) is put on the lowest step too, so that no policy gains by it.

CodeRL's one step for right programs tells nothing of speed. Here a right candidate with the speedup ``s`` (baseline /
candidate) gets ``s / (1 + s)``, the logistic function of ``ln s``: between 0 and 1, one half for no gain, and twice as
fast lies as far above that half as half as fast lies below. ``s`` is the end of the confidence interval that is nearest
to 1, and 1 where the interval holds 1 or the measurement was disturbed: noise is no reward. Above 1 it must have been
shown faster by the test that decides verdicts. Below 1 the interval is enough: a search stops looking at what is
clearly slower before that test could show it.
"""

from __future__ import annotations

from whet.core.measurement import Measurement
from whet.core.verdict import Reason, RungStatus, Verdict

UNUSABLE, BROKEN, WRONG = -1.0, -0.6, -0.3
UNJUDGED = 0.0
"""Nothing of it was run here (no device, no tool, another processor): neither right nor wrong."""
NO_GAIN = 0.5
"""Right, and not shown to be faster or slower; also where no time was asked for."""

STEPS = {
    Reason.CRASH: BROKEN,
    Reason.TIMEOUT: BROKEN,
    Reason.OUT_OF_MEMORY: BROKEN,
    Reason.OUTPUT_FLOOD: BROKEN,
    Reason.MEMORY_ERROR: BROKEN,
    Reason.ABI_VIOLATION: BROKEN,
    Reason.WRONG_OUTPUT: WRONG,
    Reason.WRONG_EXCEPTION: WRONG,
    Reason.MUTATED_INPUT: WRONG,
    Reason.NONDETERMINISTIC: WRONG,
    Reason.TEST_FAILURE: WRONG,
    Reason.COUNTEREXAMPLE: WRONG,
}
"""The rewards of wrong candidates; any other reason is worth `UNUSABLE`."""


def reward_of(verdict: Verdict) -> float:
    """Returns what a verdict is worth, from -1 to 1."""
    if verdict.rejected:
        fallen = verdict.failed
        assert fallen is not None, "a candidate that fell from no rung is right"
        return STEPS.get(fallen.reason, UNUSABLE) if fallen.reason is not None else UNUSABLE
    if not was_compared(verdict):
        return UNJUDGED
    if verdict.measurement is None:
        return NO_GAIN
    return speed_reward(verdict.measurement)


def speed_reward(measurement: Measurement) -> float:
    """Returns what a right candidate's measurement is worth, above 0 and up to 1."""
    if measurement.faster:
        shown = max(1.0, measurement.speedup.low)
    elif measurement.disturbed:
        shown = 1.0
    else:
        shown = min(1.0, measurement.speedup.high)
    return 1.0 - 1.0 / (1.0 + shown)


def was_compared(verdict: Verdict) -> bool:
    """Whether the candidate was run beside the baseline and agreed with it."""
    compared = verdict.rung("differential")
    return compared is not None and compared.status is RungStatus.PASSED


def outcome_of(verdict: Verdict) -> str:
    """Returns rejected, untimed, faster, not_shown or slower."""
    if verdict.rejected:
        return "rejected"
    return "untimed" if verdict.measurement is None else verdict.measurement.outcome.value
