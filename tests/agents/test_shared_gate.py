"""What a provider takes, shared by all processes of a store: slots, rates and pauses."""

from __future__ import annotations

import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from driving import CONTEXT, Provider, Workspace, until

from whet.agents.gates import Abandoned
from whet.agents.limits import ProviderGates
from whet.agents.shared_gate import ARRIVAL, SharedGate
from whet.core.config import ProviderLimits
from whet.core.store import Store
from whet.testing.fake_provider import ProviderFailure
from whet.testing.scripted import ScriptedModel

sandboxed = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
LONG = 30.0


class Clock:
    """The clock of a store, as a test sets it."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def gates(tmp_path, database):
    """Opens gates to one provider, each through a store of its own, as other processes would."""
    stores = []

    def opened(clock=None, **limits) -> SharedGate:
        stores.append(Store(tmp_path / "home"))
        return SharedGate(stores[-1], "somebody", ProviderLimits.model_validate(limits), clock)

    yield opened
    for store in stores:
        store.close()


def expect(gate: SharedGate, passes: bool, tokens: int = 1) -> None:
    """Asserts that a call may pass now, or that it has to wait."""

    def attempt() -> None:
        with gate.passage(tokens):
            pass

    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(attempt)
        if passes:
            asked.result(LONG)
            return
        with pytest.raises(TimeoutError):
            asked.result(0.4)
        gate.close()
        with pytest.raises(Abandoned):
            asked.result(LONG)


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("limits", "used", "next_one"),
    [({"requests-per-minute": 2}, [1, 1], 1), ({"tokens-per-minute": 100}, [60], 41)],
)
def test_the_rates_hold_over_all(gates, limits, used, next_one):
    clock = Clock()
    for tokens in used:
        with gates(clock, **limits).passage(tokens):
            pass
    clock.now += 59.0
    expect(gates(clock, **limits), False, next_one)
    clock.now += 1.0
    expect(gates(clock, **limits), True, next_one)


def test_a_call_under_way_may_arrive_late(gates):
    clock, limits = Clock(), {"requests-per-minute": 1}
    with gates(clock, **limits).passage(1):
        clock.now += 60.0
        expect(gates(clock, **limits), False)
        clock.now += ARRIVAL
        expect(gates(clock, **limits), True)


def test_tokens_count_as_they_came_to(gates):
    limits = {"tokens-per-minute": 100}
    with gates(**limits).passage(90) as passage:
        passage.tokens = 10
    expect(gates(**limits), True, 90)
    expect(gates(**limits), False, 1)


def test_a_pause_holds_for_all_until_it_is_over(gates):
    clock = Clock()
    gates(clock).pause(10.0)
    gates(clock).pause(1.0)
    expect(gates(clock), False)
    clock.now += 10.0
    expect(gates(clock), True)


def test_a_slot_is_one_calls_at_a_time(gates):
    with gates(slots=2).passage(1), gates(slots=2).passage(1):
        expect(gates(slots=2), False)
    expect(gates(slots=2), True)


def hold_slots(home, passed) -> None:
    gate = SharedGate(Store(home), "somebody", ProviderLimits(slots=1))
    with gate.passage(1):
        passed.set()
        time.sleep(LONG)


@pytest.mark.corpus
def test_the_slot_of_a_process_that_died_is_free(tmp_path):
    passed = CONTEXT.Event()
    holder = CONTEXT.Process(target=hold_slots, args=(tmp_path, passed))
    holder.start()
    assert passed.wait(LONG)
    with closing(Store(tmp_path)) as store:
        gate = SharedGate(store, "somebody", ProviderLimits(slots=1))
        waiting = threading.Thread(target=lambda: expect(gate, True))
        waiting.start()
        waiting.join(0.4)
        assert waiting.is_alive()
        holder.kill()
        waiting.join(LONG)
        assert not waiting.is_alive()


def test_models_that_cost_nothing_pass_gates_of_their_own(tmp_path):
    with closing(Store(tmp_path)) as store:
        limits = ProviderGates(shared=store)
        assert isinstance(limits.gate(ScriptedModel({}, "paid", free=False)), SharedGate)
        assert not isinstance(limits.gate(ScriptedModel({}, "free")), SharedGate)
        assert not isinstance(ProviderGates().gate(ScriptedModel({}, "paid", free=False)), SharedGate)


@pytest.mark.corpus
@sandboxed
def test_a_provider_sees_no_more_calls_at_once_than_its_slots(tmp_path):
    with Provider(0.2) as provider:
        place = Workspace(tmp_path, provider.openai_url, {"problems": 6, "rounds": 1, "limits": "slots = 2"})
        for driver in [place.driver(name) for name in "abc"]:
            driver.end()
        assert (len(provider.requests), provider.most) == (12, 2)


@pytest.mark.corpus
@sandboxed
def test_what_a_provider_asks_of_one_driver_holds_for_all(tmp_path):
    with Provider(0.1, retry_after=3.0) as provider:
        place = Workspace(tmp_path, provider.openai_url, {"problems": 6, "rounds": 2, "limits": "slots = 1"})
        drivers = [place.driver(name) for name in "ab"]
        until(lambda: len(provider.arrived) >= 3)
        provider.plan(ProviderFailure.RATE_LIMIT)
        for driver in drivers:
            driver.end()
        # The refused call is not among those that arrived, but the pause after it is.
        assert max(b - a for a, b in zip(provider.arrived, provider.arrived[1:], strict=False)) >= 3.0
        assert len(provider.requests) == 6 * 4 + 1


@sandboxed
@pytest.mark.exhaustive
def test_a_provider_sees_no_more_calls_a_minute_than_it_takes(tmp_path):
    with Provider() as provider:
        words = {"problems": 8, "rounds": 1, "limits": "requests-per-minute = 6"}
        place = Workspace(tmp_path, provider.openai_url, words)
        for driver in [place.driver(name) for name in "abc"]:
            driver.end()
        assert len(provider.arrived) == 16
        assert all(after - before > 60.0 for before, after in zip(provider.arrived, provider.arrived[6:], strict=False))
