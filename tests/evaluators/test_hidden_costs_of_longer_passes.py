"""What is kept from call to call, judged where a candidate's passes have more calls than the baseline's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from whet.evaluators.finding import Fault, Skipped, found_by
from whet.evaluators.timing.hidden_costs import LOOKS, USUAL_SECONDS, HiddenCosts, assess
from whet.evaluators.timing.process_observation import Observation, ObservedProcess

PART, LONGER = 2, 10
"""Calls of a pass of the baseline, and how many times as many one of the candidate has."""
WHOLE = PART * LONGER
FIRST_LOOK, SECOND_LOOK = LOOKS
LATER = 5
LATE = 0.01


def side(first: float, later: float, processes: int) -> tuple[ObservedProcess, ...]:
    """Returns processes of which each makes a first pass and later ones, of so many seconds each."""
    one = ObservedProcess(0.0, 0.004, 0.004, (first, *[later] * LATER), 0.0, None)
    return (one,) * processes


def judged(
    first: float, later: float, ours: float = LATE, processes: int = FIRST_LOOK
) -> HiddenCosts | Fault | Skipped:
    """Judges such passes of a candidate beside a baseline whose first pass has calls of so many seconds."""
    seen = Observation(side(ours * PART, LATE * PART, processes), side(first, later, processes), LONGER)
    return found_by(lambda: assess(seen, PART))


def test_only_the_first_calls_may_take_what_is_usual_longer() -> None:
    late, extra = 1e-5, 1e-5
    found = judged(late * WHOLE + USUAL_SECONDS * PART, late * WHOLE)
    assert isinstance(found, HiddenCosts)
    assert found.evidence["by_earlier_calls"] == 0.0
    found = judged((late + extra) * WHOLE, late * WHOLE)
    assert isinstance(found, Fault), "10 us a call: less than is usual, but for all calls of a pass"
    assert "1.70 times within 120 calls" in found.detail


def test_what_is_charged_is_what_a_pass_of_the_baseline_would_be() -> None:
    found = judged(1.3 * LATE * WHOLE, LATE * WHOLE)
    assert isinstance(found, HiddenCosts)
    assert found.seconds == pytest.approx(0.3 * LATE * PART, rel=0.01)


@pytest.mark.parametrize(
    ("ours", "processes", "caught"),
    [
        (1.01 * LATE, SECOND_LOOK, True),
        (1.5 * LATE, SECOND_LOOK, False),
        (1.5 * LATE, FIRST_LOOK, True),
    ],
    ids=["it does not decline", "it declines", "it may be noise"],
)
def test_calls_may_get_cheaper_as_the_originals_are_shown_to(ours: float, processes: int, caught: bool) -> None:
    assert isinstance(judged(2 * LATE / 10 * WHOLE, LATE / 10 * WHOLE, ours, processes), Fault) == caught


@pytest.mark.parametrize(("slow", "caught"), [(1, False), (2, True)])
def test_one_slow_late_pass_of_the_original_hides_no_decline(slow: int, caught: bool) -> None:
    ours = side(1.5 * LATE * PART, LATE * PART, SECOND_LOOK)
    disturbed = replace(ours[0], passes=(1.5 * LATE * PART,) * (1 + LATER))
    # Every other process goes through the inputs in the same order.
    ours = tuple(disturbed if place in range(0, 2 * slow, 2) else one for place, one in enumerate(ours))
    theirs = side(2 * LATE / 10 * WHOLE, LATE / 10 * WHOLE, SECOND_LOOK)
    found = found_by(lambda: assess(Observation(ours, theirs, LONGER), PART))
    assert isinstance(found, Fault) == caught
