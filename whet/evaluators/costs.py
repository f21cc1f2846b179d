"""What a call of the baseline costs, in coarse classes: how many inputs are tried follows from these, not from a clock.

A class is a bound of CPU seconds that is ten times the one before it. A busy machine changes the CPU time of a call by
less than twofold, the least of several calls by much less; so the same inputs are tried on it as on an idle one, but
for targets whose cost lies at a bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from whet.core.task import Kind
from whet.evaluators.artifacts import Artifact
from whet.evaluators.inputs.plan import SMALL
from whet.evaluators.inputs.source import SMALL_SIZES, Input, InputSource, derive
from whet.evaluators.languages.registry import language_of_task
from whet.evaluators.pairs import Side
from whet.evaluators.processes import Pass

CHEAP, MODERATE, SLOW, SLOWEST = CLASSES = (0.006, 0.06, 0.6, 6.0)
"""CPU seconds of a call at most; the last class holds whatever is slower. An interpreter starts in the middle of the
second. Bounds that are nearer to each other would let the same target fall into two classes more often."""
CALLS = 3
"""Calls of one input of which the least counts, where the first is not cheap."""
SAMPLED = 8
"""Recorded cases, and examples of type hints or known calls, that stand for all of them."""
UNUSED = 8.0
"""Wall seconds a CPU second above which a call that gives its core up more often than it loses it is one that sleeps;
its wall time is its cost then. On a busy machine a call that computes loses its core instead."""
HASH_SEED = 1
SEED = 0
"""Of the inputs that are measured: the same in every run, and met by no candidate."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Costs:
    """The classes of a baseline's inputs.

    Attributes:
        sizes: of an input, by its size: of the smallest sizes and those that the workload lists.
        cases: of a recorded case or call.
        given: of a known call, or an example of the type hints.
    """

    sizes: Mapping[int, float]
    cases: float = CHEAP
    given: float = CHEAP

    def of(self, item: Input) -> float:
        """Returns the class of an input that was drawn or recorded; of a size between two, that of the larger."""
        if item.size is None:
            return self.cases
        return self.of_size(item.size)

    def of_size(self, size: int) -> float:
        """Returns the class of inputs of a size."""
        above = [known for known in self.sizes if known >= size]
        return self.sizes[min(above)] if above else max(self.sizes.values(), default=SLOWEST)


def cost_class(seconds: float) -> float:
    """Returns the least class that is no less than some CPU seconds."""
    return next((bound for bound in CLASSES if seconds <= bound), SLOWEST)


def affordable(cost: float, budget: float, fewest: int, most: int) -> int:
    """Returns how many inputs of a class are tried: as a budget of CPU seconds allows, within bounds.

    Args:
        cost: of one, a class.
        budget: CPU seconds of the baseline for all of them.
        fewest: that are tried however slow they are.
        most: that are tried however cheap they are.
    """
    return min(most, max(fewest, int(budget / cost)))


def spread(items: Sequence[T], count: int) -> list[T]:
    """Returns so many of some items, from all over them."""
    if len(items) <= count:
        return list(items)
    return [items[i * len(items) // count] for i in range(count)]


def measured(baseline: Artifact, source: InputSource, seconds: float) -> Costs:
    """Returns the classes of a baseline's inputs.

    Args:
        baseline: is called.
        source: draws the inputs.
        seconds: that one call may take.
    """
    with closing(Side(baseline, HASH_SEED)) as side:
        sizes = {}
        for size, items in _drawn(source):
            sizes[size] = _class(side, items, seconds)
        cases = _class(side, spread([*source.cases, *source.recorded], SAMPLED), seconds)
        typed = islice(source.typed(SEED, SAMPLED), SAMPLED)
        given = _class(side, [*spread(source.calls, SAMPLED), *typed], seconds)
    if source.task.kind is Kind.PROGRAM and language_of_task(source.task).interpreted:
        cases = max(cases, MODERATE)  # the interpreter alone is near the bound
        sizes = {size: max(cost, MODERATE) for size, cost in sizes.items()}
    return Costs(sizes, cases, given)


def _drawn(source: InputSource) -> Iterator[tuple[int, list[Input]]]:
    """Yields an input of each of the smallest sizes that there are, and of a small one; then one of each listed size.

    Without the small ones, sizes between a small listed one and a large one would count as slow as the large one.
    """
    if not source.sizes:
        return
    for size in (*SMALL_SIZES, SMALL):
        unlisted = size not in source.sizes and size < source.sizes[-1]
        if unlisted and (items := source.try_draw(size, [derive(SEED, "cost", size)])):
            yield size, items
    for size in source.sizes:
        yield size, source.draw(size, [derive(SEED, "cost", size)])


def _class(side: Side, items: Iterable[Input], seconds: float) -> float:
    """Returns the class of the mean of some inputs; of none, the cheapest."""
    costs = [_cost(side, item.payload, seconds) for item in items]
    return cost_class(math.fsum(costs) / len(costs)) if costs else CHEAP


def _cost(side: Side, payload: bytes, seconds: float) -> float:
    """Returns the CPU seconds of a call; infinite where it does not end well: whoever meets the input next says so."""
    least = math.inf
    for _ in range(CALLS):
        found = side.timed(payload, seconds)
        if not isinstance(found, Pass):
            return math.inf
        sleeps = found.waits > found.preemptions and found.inside > UNUSED * found.cpu
        least = min(least, found.inside if sleeps else found.cpu)
        if least <= CHEAP:
            break
    return least
