"""What a kernel waits for: rooflines and the five classes, on plain figures."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.agents.bottlenecks import (
    DRAM,
    FP32,
    L2_HITS,
    METRICS,
    TENSOR,
    WARPS,
    Class,
    Trace,
    classify,
    reached,
    roofline,
    roofline_of,
)
from whet.agents.hardware import card_named, gpu_cards
from whet.core.circumstances import ModuleCost

H200 = card_named("NVIDIA H200")
assert H200 is not None


def test_what_moves_much_is_bound_by_memory():
    found = roofline(flops=1e9, moved=4.8e9, seconds=2e-3, card=H200)
    assert found.bound is Class.MEMORY
    assert found.least == pytest.approx(1e-3)
    assert found.share == pytest.approx(0.5)
    assert found.left == pytest.approx(2.0)
    assert found.intensity == pytest.approx(1e9 / 4.8e9)


def test_what_computes_much_is_bound_by_arithmetic_of_its_type():
    single = roofline(67e12, 1e9, 2.0, H200)
    half = roofline(67e12, 1e9, 2.0, H200, "bf16")
    assert (single.bound, half.bound) == (Class.COMPUTE, Class.COMPUTE)
    assert single.share == pytest.approx(0.5)
    assert half.share == pytest.approx(67 / 989 / 2)


def test_elementwise_work_without_counted_operations_has_a_roofline():
    assert roofline(0, 4.8e9, 1e-3, H200).share == pytest.approx(1.0)


@given(st.floats(1, 1e15), st.floats(1, 1e12), st.floats(1e-7, 10), st.sampled_from(gpu_cards()))
def test_a_slower_call_is_farther_from_its_roofline(flops, moved, seconds, card):
    one, other = (roofline(flops, moved, time, card) for time in (seconds, seconds * 2))
    assert one.least == other.least
    assert one.share == pytest.approx(2 * other.share)
    assert one.share * one.left == pytest.approx(1)


@pytest.mark.parametrize(
    "cost",
    [ModuleCost(1, 1, 1, 1, "complex64"), ModuleCost(1, 0, 0, 1, "float32"), ModuleCost(1, 1, 1, 1, "")],
)
def test_what_is_not_known_has_no_roofline(cost):
    assert roofline_of(cost, 1.0, H200) is None
    assert not reached(roofline_of(cost, 1.0, H200))


def test_a_type_that_a_card_has_no_peak_of_has_no_roofline():
    assert roofline_of(ModuleCost(1, 1, 1, 1, "float64"), 1.0, card_named("NVIDIA L4")) is None
    assert roofline_of(ModuleCost(1, 1, 1, 1, "float32"), 1.0, None) is None


def test_a_call_faster_than_its_roofline_has_none():
    cost = ModuleCost(0, 4_800_000_000, 1, 1, "float32")
    assert reached(roofline_of(cost, 1e-3, H200))
    assert roofline_of(cost, 0.9e-3, H200) is None


@pytest.mark.parametrize(("share", "stop"), [(0.94, False), (0.96, True), (1.0, True)])
def test_a_run_may_stop_near_the_roofline(share, stop):
    assert reached(roofline(0, 4.8e9, 1e-3 / share, H200)) is stop
    assert not reached(None)


def kind(found):
    return found.kind if found is not None else None


NEAR = roofline(0, 4.8e9, 1.25e-3, H200)
FAR = roofline(0, 4.8e9, 1e-2, H200)
DENSE = roofline(67e12, 1e9, 1.2, H200)


@pytest.mark.parametrize(
    ("seconds", "found", "trace", "expected"),
    [
        (1e-4, FAR, Trace(launches=20, busy=0.2), Class.LAUNCH),
        (1e-1, FAR, Trace(launches=20, busy=0.2), Class.HOST),
        (1e-1, FAR, Trace(busy=0.2), Class.HOST),
        (1e-1, FAR, Trace(launches=0, busy=0.0), Class.HOST),
        (1e-2, FAR, Trace(busy=0.9, counters={DRAM: 85, FP32: 20}), Class.MEMORY),
        (1e-2, FAR, Trace(busy=0.9, counters={DRAM: 30, FP32: 20, TENSOR: 88}), Class.COMPUTE),
        (1e-2, NEAR, Trace(counters={DRAM: 30, FP32: 20}), Class.LATENCY),
        (1e-2, NEAR, Trace(counters={WARPS: 10}), Class.MEMORY),
        (1e-2, NEAR, Trace(), Class.MEMORY),
        (1.2, DENSE, Trace(), Class.COMPUTE),
        (1e-2, FAR, Trace(spills=64), Class.MEMORY),
        (1e-2, FAR, Trace(occupancy=0.1), Class.LATENCY),
        (1e-2, None, Trace(occupancy=0.1), Class.LATENCY),
        (1e-2, FAR, Trace(occupancy=0.9), None),
        (1e-2, None, Trace(), None),
    ],
)
def test_the_class_follows_from_the_figures(seconds, found, trace, expected):
    assert kind(classify(seconds, found, trace)) == expected


def test_a_class_tells_why_and_the_counters_that_matter():
    found = classify(1e-2, FAR, Trace(busy=0.9, counters={DRAM: 85.0, FP32: 20.0, L2_HITS: 40.0, WARPS: 50.0}))
    assert "85 %" in found.because
    assert dict(found.metrics) == {DRAM: 85.0, L2_HITS: 40.0}
    launch = classify(1e-4, None, Trace(launches=20, busy=0.2))
    assert ("microseconds a launch", pytest.approx(5.0)) in launch.metrics
    assert "20%" in launch.because


def test_no_class_has_more_than_four_counters():
    assert set(METRICS) == set(Class)
    assert all(len(names) <= 4 for names in METRICS.values())
