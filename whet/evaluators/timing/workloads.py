"""What is timed: inputs of one size, or one case, how many of them make a pass, and how they are drawn."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from whet.evaluators.inputs.source import Input

PASS_SECONDS = 0.025
"""That the baseline's pass shall last where the headline rests on it: a longer one is disturbed less by what a window
costs, and each of the three of a turn takes as long."""
LOOK_SECONDS = 0.006
"""As `PASS_SECONDS`, of a size that the headline does not rest on: longer is time for a figure that decides nothing."""
SHORTEST_PASS = 0.005
"""Seconds of the most inputs that a pass may have; a size whose pass would be shorter is not timed. Less would let the
cost of a window, and its noise, be a large part of the figure."""
MOST_BYTES = 64 << 20
"""Of the inputs of a pass, which lie in memory on both sides of the sandbox: more would not fit beside other
processes."""
MOST_INPUTS = 2000
"""Of a pass: each is drawn, handed over and compared, so more take longer than the pass itself."""
ROUND_SECONDS, ROUND_INPUTS = 0.001, 256
"""Of the distinct inputs of a native function, which are then repeated: each lies in pages of its own, and more of them
would time the look-up of pages."""
LOOK_INPUTS = 32
"""As `ROUND_INPUTS`, of a size that the headline does not rest on: to draw and hand over more takes longer than calls
of `LOOK_SECONDS`."""
ROUND_BYTES = 1 << 19
"""Of the distinct inputs of a native function, where there are several: the second cache of most processors holds as
much. Of a larger round, new inputs would come from memory, and those that come again from a cache; and to draw and hand
them over would take longer than all calls."""
MOST_REPEATS = 5000
"""Rounds of a pass of a native function: what is still too short then is a call of some nanoseconds, and each round
costs its own start."""


@dataclass(frozen=True, slots=True)
class TimedWorkload:
    """Inputs of one size, or one case, and how many make a pass.

    Attributes:
        name: for people.
        count: distinct inputs a pass.
        draw: makes inputs from a seed, as many as asked for.
        counts: whether it counts for the headline.
        rounds: how often a pass repeats its inputs: 1 where all are distinct.
        repeats: how often a process runs the inputs of a native function one round after the other, without them
            being handed over again; 0 for others.
    """

    name: str
    count: int
    draw: Callable[[int, int], Sequence[Input]]
    counts: bool = True
    rounds: int = 1
    repeats: int = 0


def pass_count(seconds: float, size: int, counts: bool = True, whole: float = PASS_SECONDS) -> int:
    """Returns how many inputs of a kind make a pass.

    Args:
        seconds: the baseline's time for one.
        size: bytes of one.
        counts: whether the headline rests on it; else a pass may be shorter.
        whole: seconds that a pass shall last.
    """
    wanted = math.ceil((whole if counts else min(whole, LOOK_SECONDS)) / max(seconds, 1e-7))
    return max(1, min(wanted, MOST_INPUTS, MOST_BYTES // max(size, 1)))


def repeated_count(seconds: float, size: int, counts: bool = True, whole: float = PASS_SECONDS) -> tuple[int, int]:
    """Returns how many inputs of a native function make a round, and how many rounds a pass; see `pass_count`."""
    most = min(ROUND_INPUTS if counts else LOOK_INPUTS, max(1, ROUND_BYTES // max(size, 1)))
    count = min(most, pass_count(seconds, size, counts, ROUND_SECONDS))
    wanted = (whole if counts else min(whole, LOOK_SECONDS)) / (count * max(seconds, 1e-9))
    return count, max(1, min(math.ceil(wanted), MOST_REPEATS))


def draw_each(workloads: Sequence[TimedWorkload], rng: random.Random) -> Iterator[tuple[str, Sequence[Input]]]:
    """Draws the inputs of a turn, by workload, which are the first that its generator is asked for."""
    for work in workloads:
        yield work.name, work.draw(rng.getrandbits(63), work.count)


def draw_renewing(
    workloads: Sequence[TimedWorkload], rounds: Mapping[str, int], rng: random.Random
) -> Iterator[tuple[str, Sequence[Input]]]:
    """Draws new inputs for each workload that repeats its own, as many as a round of its pass has.

    Args:
        workloads: all.
        rounds: how often the candidate repeats the inputs of some.
        rng: draws them.
    """
    return draw_each([work for work in workloads if max(work.repeats, rounds.get(work.name, 0)) > 1], rng)


def hashes(drawn: Mapping[str, Sequence[Input]]) -> dict[str, str]:
    """Returns a SHA-256 over the inputs of each workload, by which they are known again."""
    found = {}
    for name, items in drawn.items():
        parts = (hashlib.sha256(item.payload).digest() for item in items)
        found[name] = hashlib.sha256(b"".join(parts)).hexdigest()
    return found
