"""What is timed: inputs of one size, or one case, how many of them make a pass, and how they are drawn."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from whet.evaluators.inputs.source import Input

PASS_SECONDS = 0.025
LOOK_SECONDS = 0.006
SHORTEST_PASS = 0.005
MOST_BYTES = 64 << 20
MOST_INPUTS = 2000
ROUND_SECONDS, ROUND_INPUTS = 0.001, 256
"""Of the distinct inputs of a native function, which are then repeated: each lies in pages of its own, and more of them
would time the look-up of pages."""
MOST_REPEATS = 5000


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
    count = min(ROUND_INPUTS, pass_count(seconds, size, counts, ROUND_SECONDS))
    wanted = (whole if counts else min(whole, LOOK_SECONDS)) / (count * max(seconds, 1e-9))
    return count, max(1, min(math.ceil(wanted), MOST_REPEATS))


def draw_all(workloads: Sequence[TimedWorkload], rng: random.Random) -> dict[str, Sequence[Input]]:
    """Draws the inputs of a turn, which are the first that its generator is asked for."""
    return {work.name: work.draw(rng.getrandbits(63), work.count) for work in workloads}


def hashes(drawn: Mapping[str, Sequence[Input]]) -> dict[str, str]:
    """Returns a SHA-256 over the inputs of each workload, by which they are known again."""
    found = {}
    for name, items in drawn.items():
        parts = (hashlib.sha256(item.payload).digest() for item in items)
        found[name] = hashlib.sha256(b"".join(parts)).hexdigest()
    return found
