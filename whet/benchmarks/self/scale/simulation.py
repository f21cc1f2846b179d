"""A driver with many workers, simulated: which of its parts is the first that is busy all the time."""

from __future__ import annotations

import random
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import simpy

CYCLES = 50
"""Candidates that each worker would come to if it never waited for another one: the run's two ends weigh little."""
BUSY = 0.95
"""The share of the time from which on a part is called the limit."""


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds that the steps of one candidate take, beside the work itself.

    Attributes:
        submit: of the driver, until the work is on its way.
        outward: until a worker begins; nobody is busy with it meanwhile.
        store: of the store's one writer.
        homeward: until the driver hears of it; nobody is busy with it meanwhile.
        collect: of the driver, until it has the outcome.
    """

    submit: float
    outward: float
    store: float
    homeward: float
    collect: float

    @property
    def driver(self) -> float:
        """Seconds of the driver for one candidate."""
        return self.submit + self.collect

    @property
    def total(self) -> float:
        """Seconds that a worker waits between the ends of its work, where nobody else is there."""
        return self.driver + self.outward + self.store + self.homeward


@dataclass(frozen=True, slots=True)
class Simulated:
    """What came of a simulation.

    Attributes:
        workers: that there were.
        rate: candidates a second.
        busy: share of the time, by part: the driver, the store and the workers, of whom each counts alike.
    """

    workers: int
    rate: float
    busy: Mapping[str, float]

    @property
    def limit(self) -> str:
        """The part that more workers would wait for; empty where it is the workers who are too few."""
        shared = {part: share for part, share in self.busy.items() if part != "workers"}
        part = max(shared, key=shared.__getitem__)
        return part if shared[part] >= BUSY else ""


def simulate(workers: int, durations: Sequence[float], costs: Costs, seed: int, cycles: int = CYCLES) -> Simulated:
    """Simulates a driver that always has work for all of its workers.

    Args:
        workers: how many; each does one piece of work at a time.
        durations: seconds of work, drawn from with equal chance.
        costs: of the steps around it.
        seed: of the draws.
        cycles: candidates of each worker, as long as nobody waits.
    """
    import simpy

    mill = _Mill(simpy.Environment(), durations, costs, random.Random(seed))
    for _ in range(workers):
        mill.environment.process(mill.worker())
    cycle = max(mean(durations) + costs.total, workers * costs.driver, workers * costs.store)
    mill.environment.run(until=cycles * cycle)
    seconds = mill.environment.now
    busy = {part: spent / seconds for part, spent in mill.spent.items()}
    return Simulated(workers, mill.done / seconds, {**busy, "workers": busy["workers"] / workers})


class _Mill:
    """The parts, what they have spent, and how many candidates are done."""

    def __init__(
        self, environment: simpy.Environment, durations: Sequence[float], costs: Costs, drawn: random.Random
    ) -> None:
        import simpy

        self.environment = environment
        self.done = 0
        self.spent = {"driver": 0.0, "store": 0.0, "workers": 0.0}
        self._parts = {part: simpy.Resource(environment, 1) for part in ("driver", "store")}
        self._durations = durations
        self._costs = costs
        self._drawn = drawn

    def worker(self) -> Generator[simpy.Event, Any, None]:
        """Does one candidate after the other."""
        costs = self._costs
        while True:
            yield from self._alone("driver", costs.submit)
            yield self.environment.timeout(costs.outward)
            seconds = self._drawn.choice(self._durations)
            yield self.environment.timeout(seconds)
            self.spent["workers"] += seconds
            yield from self._alone("store", costs.store)
            yield self.environment.timeout(costs.homeward)
            yield from self._alone("driver", costs.collect)
            self.done += 1

    def _alone(self, part: str, seconds: float) -> Generator[simpy.Event, Any, None]:
        """Has a part for itself for some time."""
        with self._parts[part].request() as turn:
            yield turn
            yield self.environment.timeout(seconds)
            self.spent[part] += seconds
