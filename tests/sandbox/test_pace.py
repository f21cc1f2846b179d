"""How fast a processor is, as a piece of work tells that runs on it."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest

from whet.sandbox.pace import MOST_READINGS, READING_SECONDS, REMEMBERED, Pacer, pace, pacer


def test_the_thread_comes_back_from_the_processor() -> None:
    usual = os.sched_getaffinity(0)
    for core in sorted(usual):
        assert pace(core) > 0
        assert os.sched_getaffinity(0) == usual


def test_a_processor_that_may_not_be_used_is_an_error() -> None:
    usual = os.sched_getaffinity(0)
    with pytest.raises(OSError, match="Invalid argument"):
        pace(max(usual) + 4096)
    assert os.sched_getaffinity(0) == usual


def scripted(paces: Sequence[float]) -> tuple[Pacer, list[float]]:
    """Returns what reads so many paces, and the list of how long it slept."""
    left, slept = iter(paces), list[float]()
    return Pacer(lambda: next(left), slept.append), slept


def test_it_waits_until_the_processor_is_about_as_fast_as_it_was() -> None:
    known, slept = scripted([1.0, 1.5, 1.2, 1.05, 9.0])
    assert known.settled() == 1.0, "nothing quicker is known"
    assert known.settled() == 1.05
    assert slept == [READING_SECONDS] * 2
    assert known.pace() == 9.0, "told as it is, at once"


def test_it_does_not_wait_for_ever() -> None:
    known, slept = scripted([1.0] * 6 + [1.5] * MOST_READINGS)
    for _ in range(6):
        known.pace()
    assert known.settled() == 1.5
    assert len(slept) == MOST_READINGS


def test_the_very_quickest_reading_of_many_is_not_waited_for() -> None:
    known, slept = scripted([0.9] + [1.0] * 20 + [1.05])
    for _ in range(21):
        known.pace()
    assert known.settled() == 1.05
    assert slept == []


def test_where_a_processor_is_fast_in_a_tenth_of_its_readings_it_is_waited_for() -> None:
    known, slept = scripted([1.8] * 18 + [1.0] * 3 + [1.8, 1.0])
    for _ in range(21):
        known.pace()
    assert known.settled() == 1.0
    assert slept == [READING_SECONDS]


def test_a_processor_that_is_slower_for_good_is_fast_again() -> None:
    known, slept = scripted([1.0] + [1.5] * (REMEMBERED + 1))
    for _ in range(REMEMBERED + 1):
        known.pace()
    assert known.settled() == 1.5
    assert slept == []


def test_what_is_known_of_a_processor_stays_known() -> None:
    core = min(os.sched_getaffinity(0))
    assert pacer(core) is pacer(core)
    assert pacer(core).settled() > 0
