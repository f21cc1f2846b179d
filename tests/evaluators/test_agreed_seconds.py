"""What counts of a pass, where handing over takes now this and now that, and a process may tell less than it took."""

from __future__ import annotations

import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.evaluators.timing.turns import agreed

HANDOVER, SPREAD = 2e-3, 3e-4
CALLS = 1e-3
SECONDS = st.floats(1e-5, 0.1)
HIDDEN = st.lists(st.floats(0.0, 0.05), min_size=1, max_size=20)


def taken(hidden: list[float], seed: int = 1, noise: float = 0.0) -> list[tuple[float, float, int]]:
    """Returns passes of calls of `CALLS` seconds, of which so many are hidden."""
    rng = random.Random(seed)
    return [(CALLS - one, CALLS + HANDOVER + abs(rng.gauss(0, noise)), 1) for one in hidden]


@given(SECONDS, HIDDEN)
def test_nobody_hides_more_than_handing_over_differs_by(calls: float, hidden: list[float]) -> None:
    told = [(max(0.0, calls - one), calls + HANDOVER, 1) for one in hidden]
    for counted in agreed(told, HANDOVER, SPREAD):
        assert counted >= calls - SPREAD - 1e-12


@given(st.integers(0, 20), st.integers(0, 20), st.floats(0.0, CALLS))
def test_what_is_hidden_in_some_turns_moves_no_median(hiding: int, honest: int, seconds: float) -> None:
    told = taken([seconds] * hiding + [0.0] * (honest + (hiding == honest)))
    assert statistics.median(agreed(told, HANDOVER, SPREAD)) >= CALLS * (1 - 1e-9)


def test_handing_over_that_differs_moves_short_calls_less_than_windows_do() -> None:
    told = taken([0.0] * 20, noise=2e-4)
    counted = agreed(told, HANDOVER, SPREAD)
    windows = [whole - HANDOVER for _, whole, _ in told]
    assert statistics.pstdev(counted) < statistics.pstdev(windows) / 2
    assert min(counted) >= CALLS


def test_what_handing_over_usually_takes_more_counts_in_each_window() -> None:
    more = 1e-4
    told = [(0.02, 0.02 + 5 * (HANDOVER + more), 5)] * 8
    assert agreed(told, HANDOVER, SPREAD) == [pytest.approx(0.02 + 5 * more)] * 8


def test_a_window_that_was_disturbed_is_that_turns_alone() -> None:
    told = [*taken([0.0] * 7), (CALLS, CALLS + HANDOVER + 0.01, 1)]
    *others, last = agreed(told, HANDOVER, SPREAD)
    assert others == [pytest.approx(CALLS)] * 7
    assert last == pytest.approx(CALLS + 0.01 - SPREAD)
