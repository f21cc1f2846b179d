"""What is charged for scripted rounds of the same calls, and what modules a text imports: no clock."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.plain import from_plain, to_plain
from whet.core.verdict import Reason
from whet.evaluators.finding import Fault, found_by, sound
from whet.evaluators.timing.hidden_costs import HiddenCosts
from whet.evaluators.timing.repeats import assess_rounds, saved, smaller
from whet.evaluators.timing.round_observation import RoundObservation, RoundSeconds

FLAT = ((1.0, 1.0),) * 3


@pytest.mark.parametrize(
    ("ours", "theirs", "charged"),
    [
        ((100.0, 100.0), (9.0, 3.0), 6.0),
        ((102.0, 100.0), (9.0, 3.0), 4.0),
        ((100.0, 160.0), (3.1, 3.0), 0.0),
        ((100.0, 160.0), (9.0, 3.0), 6.0),
        ((100.0, 100.0), (3.4, 3.0), 0.0),
    ],
    ids=["saves", "the original saves too", "the original's noise", "noise and a saving", "a few per cent"],
)
def test_what_later_rounds_save_is_the_candidates_alone(
    ours: tuple[float, float], theirs: tuple[float, float], charged: float
) -> None:
    for processes in (2, 5):
        assert saved([ours] * processes, [theirs] * processes) == charged


@pytest.mark.parametrize(
    ("theirs", "charged"),
    [
        (((9.0, 3.0), (20.0, 3.0), (9.0, 4.0)), 5.0),
        (((9.0, 3.0), (18.0, 6.0), (4.5, 1.5)), 3.0),
        (((9.0, 3.0), (9.0, 9.0), (9.0, 3.0)), 0.0),
    ],
    ids=["the least", "processes of different speed", "not in one"],
)
def test_the_low_end_of_what_is_saved_counts(theirs: tuple[tuple[float, float], ...], charged: float) -> None:
    assert saved([(100.0, 100.0), (100.0, 60.0), (60.0, 100.0)], theirs) == charged


@pytest.mark.parametrize(("first", "charged"), [(1.149, 0.0), (1.151, 0.151)])
def test_a_round_that_is_a_few_per_cent_cheaper_saves_nothing(first: float, charged: float) -> None:
    assert saved([(1.0, 1.0)] * 5, [(first, 1.0)] * 5) == pytest.approx(charged)


def test_what_later_rounds_save_is_added_to_each_round_that_comes_again() -> None:
    theirs = ((0.5, 0.125), (0.5, 0.125), (1.0, 0.5))
    for rounds, charged in ((1, 0.0), (2, 0.375), (10, 3.375)):
        seen = RoundObservation(rounds, RoundSeconds(FLAT, theirs))
        assert assess_rounds(seen, 2000) == charged


def test_the_least_of_several_new_rounds_is_beside_those_that_come_again() -> None:
    # New ones take 0.5 s and more, known ones 0.125; a round of 8 inputs, a pass of 4 that come 11 times.
    theirs = ((0.5, 0.75, 0.5, 0.125),) * 3
    ours = ((1.0,) * 4,) * 2
    seen = RoundObservation(11, RoundSeconds(ours, theirs), inputs=8)
    assert assess_rounds(seen, 4) == 0.375 / 8 * 4 * 10
    assert assess_rounds(RoundObservation(11, RoundSeconds(theirs, theirs), inputs=8), 4) == 0.0


def test_what_shows_in_calls_that_are_close_to_each_other_counts_too() -> None:
    ours, level, saving = (RoundSeconds(FLAT, (pair,) * 3) for pair in ((1.0, 1.0), (0.5, 0.5), (0.5, 0.125)))
    for later, in_a_pass, charged in ((level, saving, 3.375), (saving, level, 3.375), (level, ours, 0.0)):
        assert assess_rounds(RoundObservation(10, later, 1, in_a_pass), 1) == charged


CRASH, CHEAT = Fault(Reason.CRASH, "it died"), Fault(Reason.CHEATING, "no answer of its own")
NONE, SOME, MORE = (HiddenCosts(seconds, {}) for seconds in (0.0, 0.002, 0.5))


@pytest.mark.parametrize(
    ("looks", "shown"),
    [
        ([NONE], NONE),
        ([CRASH], CRASH),
        ([CHEAT], CHEAT),
        ([MORE, SOME], SOME),
        ([SOME, MORE], SOME),
        ([MORE, NONE], NONE),
        ([MORE, CRASH], CRASH),
        ([MORE, CHEAT], CHEAT),
    ],
)
def test_what_one_look_at_repeats_shows_is_looked_for_once_more(
    looks: list[HiddenCosts | Fault], shown: HiddenCosts | Fault
) -> None:
    left = list(looks)
    assert found_by(lambda: smaller(lambda: sound(left.pop(0)))) is shown
    assert not left, "no look too few"


ROUNDS = st.lists(st.tuples(*[st.floats(1e-9, 10.0)] * 4), min_size=2, max_size=5).map(tuple)


@given(ROUNDS, ROUNDS, st.integers(1, 5000), st.none() | st.integers(1, 500), st.integers(1, 2000))
def test_nobody_is_charged_for_its_own_rounds_and_observations_are_plain_json(
    ours: tuple[tuple[float, ...], ...],
    theirs: tuple[tuple[float, ...], ...],
    rounds: int,
    inputs: int | None,
    count: int,
) -> None:
    seen = RoundObservation(rounds, RoundSeconds(ours, theirs), inputs)
    again = from_plain(RoundObservation, json.loads(json.dumps(to_plain(seen))))
    assert again == seen
    assert assess_rounds(again, count) == assess_rounds(seen, count) >= 0.0
    # No round of either side is cheaper for what went before.
    level = tuple((min(one),) * 4 for one in theirs)
    assert assess_rounds(RoundObservation(rounds, RoundSeconds(ours, level), inputs), count) == 0.0
    assert assess_rounds(RoundObservation(rounds, RoundSeconds(ours, ours), inputs), count) == 0.0
