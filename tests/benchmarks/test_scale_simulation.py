"""The simulation of one driver with many workers: what must hold whatever the costs are."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.benchmarks.self.scale.simulation import Costs, simulate

SECONDS = st.floats(0.0001, 0.05)
COSTS = st.builds(Costs, submit=SECONDS, outward=SECONDS, store=SECONDS, homeward=SECONDS, collect=SECONDS)
FREE = Costs(1e-9, 0.0, 1e-9, 0.0, 1e-9)
CYCLES = 20


@settings(max_examples=30, deadline=None)
@given(workers=st.integers(1, 60), duration=st.floats(0.01, 20), costs=COSTS)
@pytest.mark.corpus(one_in=8)
def test_no_part_does_more_than_it_can(workers, duration, costs):
    found = simulate(workers, [duration], costs, 1, CYCLES)
    more = 1 + 1e-9
    assert 0 < found.rate <= workers / (duration + costs.total) * more
    assert found.rate * costs.driver <= more
    assert found.rate * costs.store <= more
    assert all(0 <= share <= more for share in found.busy.values())


@pytest.mark.corpus
@settings(max_examples=20, deadline=None)
@given(duration=st.floats(0.01, 20), costs=COSTS)
def test_more_workers_never_do_less(duration, costs):
    rates = [simulate(workers, [duration], costs, 1, CYCLES).rate for workers in (1, 2, 5, 10, 30, 60)]
    # The one candidate that each worker has not yet finished at the end weighs 1/CYCLES.
    assert all(more >= less * (1 - 1 / CYCLES) for less, more in pairwise(rates))


@settings(max_examples=20, deadline=None)
@given(durations=st.lists(st.floats(0.01, 20), min_size=1, max_size=8), seed=st.integers(0, 99))
def test_workers_whom_nothing_holds_up_work_all_the_time(durations, seed):
    found = simulate(7, durations, FREE, seed, CYCLES)
    assert found.busy["workers"] <= 1 + 1e-9
    assert found.limit == ""
    if len(set(durations)) == 1:
        assert found.rate == pytest.approx(7 / durations[0], rel=1.5 / CYCLES)


@pytest.mark.parametrize(
    ("costs", "limit"),
    [
        (Costs(0.002, 0.001, 0.001, 0.001, 0.003), "driver"),
        (Costs(0.001, 0.001, 0.008, 0.001, 0.001), "store"),
    ],
)
def test_the_limit_has_its_cause_by_name(costs, limit):
    found = simulate(200, [0.1], costs, 1, CYCLES)
    assert found.limit == limit
    assert found.rate == pytest.approx(1 / max(costs.driver, costs.store), rel=0.05)
    assert simulate(2, [0.1], costs, 1, CYCLES).limit == ""


def test_a_lone_worker_waits_for_every_step():
    costs = Costs(0.01, 0.02, 0.03, 0.04, 0.05)
    assert simulate(1, [0.85], costs, 1, 100).rate == pytest.approx(1.0, rel=0.02)


def test_draws_are_those_of_the_seed():
    costs = Costs(0.01, 0.02, 0.03, 0.04, 0.05)
    assert simulate(5, [0.1, 2.0], costs, 3) == simulate(5, [0.1, 2.0], costs, 3)
    assert simulate(5, [0.1, 2.0], costs, 3) != simulate(5, [0.1, 2.0], costs, 4)
