"""``whet bench self halving``: measuring time that successive halving saves in a round, and what is lost by it.

Rounds are simulated: rivals of known speed, turns with log-normal noise between processes, whet's own looks and rule.
The same turns are shown to both ways, so that nothing but the way differs.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from whet.agents.race import race
from whet.core.verdict import Verdict
from whet.evaluators.processes import Pass
from whet.evaluators.timing.decision import Rule, sequential
from whet.evaluators.timing.statistics import SEARCH_STAGES
from whet.evaluators.timing.turns import SIDES, Turn
from whet.evaluators.timing.workloads import TimedWorkload

SEED = 20260101
ROUNDS = 100  # simulated rounds of each row; more steady its means and take longer
RIVALS = (2, 4, 8)  # candidates of a round, a row each; more take more turns, and longer to simulate
NOISE = 0.016
"""Standard deviation of the logarithm of a process's time."""
SECONDS = 0.02  # seconds of the baseline's pass, without noise; they are simulated, so that more take no longer
WORK = (TimedWorkload("simulated", 1, lambda seed, count: [], True),)
RULE = Rule(1.01, 0.99, "itself")

ROUNDS_OF: Mapping[str, Callable[[random.Random, int], float]] = {
    "gains from 1x to 3x": lambda rng, number: math.exp(rng.uniform(0.0, math.log(3.0))),
    "all within 3 % of 1.5x": lambda rng, number: 1.5 * math.exp(rng.uniform(-0.03, 0.03)),
    "every other one no gain": lambda rng, number: 1.0 if number % 2 else rng.uniform(1.05, 2.0),
    "no gain at all": lambda rng, number: 1.0,
}
"""The true speed of a round's rivals, by what kind of round it is."""


def report(rounds: int = ROUNDS) -> Iterator[str]:
    """Yields the lines of the report while it simulates.

    Args:
        rounds: of each kind and number of rivals.
    """
    yield (
        f"{rounds} simulated rounds a row, noise {NOISE:.1%} between processes; turns include those thrown away; "
        "loss: how much slower the best found is in truth"
    )
    yield ""
    yield "| round | rivals | turns one by one | turns halved | saved | faster one found | loss, mean | loss, worst |"
    yield "|---|---|---|---|---|---|---|---|"
    for name, speed in ROUNDS_OF.items():
        for rivals in RIVALS:
            compared = [_compared(speed, rivals, f"{SEED} {name} {rivals} {number}") for number in range(rounds)]
            yield f"| {name} | {rivals} | {_row(compared)} |"


@dataclass(frozen=True, slots=True)
class HalvingResult:
    """What one way came to.

    Attributes:
        turns: that it measured.
        best: the true speed of the best that it found; 1 where it found none.
    """

    turns: int
    best: float


@dataclass(slots=True)
class Rival:
    """A simulated candidate; turns of one number are the same whoever asks for them.

    Attributes:
        speed: the true one.
        seed: of the noise.
        turns: that were measured so far, those thrown away included.
        begun: turns that count.
    """

    speed: float
    seed: str
    turns: int = 0
    begun: list[Turn] = field(default_factory=list)

    def measured(self, looks: int | None = None) -> Verdict:
        """Returns what so many looks show; goes on with the turns that there are."""
        found = sequential(self._turn, WORK, SEARCH_STAGES, RULE, tuple(self.begun), looks)
        return Verdict(self.seed, (), found)

    def _turn(self, number: int) -> Turn:
        self.turns += 1
        rng = random.Random(f"{self.seed} {number}")
        scale = {"baseline": 1.0, "candidate": 1.0 / self.speed, "again": 1.0}
        times = {side: SECONDS * scale[side] * math.exp(rng.gauss(0.0, NOISE)) for side in SIDES}
        turn = Turn(SIDES, 0.0, {"simulated": {side: Pass(s, s, s, ()) for side, s in times.items()}})
        if number:
            self.begun.append(turn)
        return turn


def _compared(
    speed: Callable[[random.Random, int], float], rivals: int, seed: str
) -> tuple[HalvingResult, HalvingResult]:
    """Returns what measuring one by one came to, and what halving did."""
    rng = random.Random(seed)
    speeds = [speed(rng, number) for number in range(rivals)]
    return _one_by_one(_rivals(speeds, seed)), _halved(_rivals(speeds, seed))


def _rivals(speeds: Sequence[float], seed: str) -> dict[str, Rival]:
    names = [f"{seed} rival {number}" for number in range(len(speeds))]
    return {name: Rival(speed, name) for name, speed in zip(names, speeds, strict=True)}


def _one_by_one(rivals: Mapping[str, Rival]) -> HalvingResult:
    return _came(rivals, {name: rival.measured() for name, rival in rivals.items()})


def _halved(rivals: Mapping[str, Rival]) -> HalvingResult:
    first = {name: rival.measured(1) for name, rival in rivals.items()}
    return _came(rivals, race(first, lambda name, looks: rivals[name].measured(looks), late=lambda: False))


def _came(rivals: Mapping[str, Rival], known: Mapping[str, Verdict]) -> HalvingResult:
    found = [(v.measurement.speedup.low, name) for name, v in known.items() if v.measurement and v.improved]
    return HalvingResult(sum(rival.turns for rival in rivals.values()), rivals[max(found)[1]].speed if found else 1.0)


def _row(compared: Sequence[tuple[HalvingResult, HalvingResult]]) -> str:
    whole, halved = (statistics.mean(came[way].turns for came in compared) for way in (0, 1))
    losses = [1.0 - halved.best / whole.best for whole, halved in compared]
    found = [sum(came[way].best > 1.0 for came in compared) for way in (0, 1)]
    return (
        f"{whole:.1f} | {halved:.1f} | {1 - halved / whole:.0%} | {found[1]} (one by one: {found[0]}) | "
        f"{statistics.mean(losses):.2%} | {max(losses):.1%}"
    )
