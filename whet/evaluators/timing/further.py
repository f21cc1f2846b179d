"""Further inputs of a candidate whose pass is over too soon to be timed as well as the baseline's.

Further inputs are drawn for one turn and lie among those that both sides get, at random places, so no candidate can
tell on which of them its outcomes are compared. What it costs to take them in and to hand outcomes over is seen on the
baseline, which gets them too and is not called on them.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from whet.evaluators.inputs.source import Input
from whet.evaluators.processes import Pass

WINDOW_OF_HANDOVERS = 50
"""How many times what it costs to hand over inputs and outcomes the candidate's window shall last: what is unsure of
that cost then moves a ratio by some per mille."""
MOST_PASSES = 100
"""How many times the baseline's inputs a pass of the candidate has at most: in as many calls hidden costs look for
parts of answers that are kept from one call to the next, and each of them is asked for by a message of its own."""
MOST_INPUTS = 2000
"""Of a pass of the candidate, as of one of the baseline."""
MOST_BYTES = 2 << 20
"""Of further inputs in a turn: to draw and read more would take longer than the rest of it."""
MOST_SECONDS = 0.005
"""That it may take to hand further inputs over: more of them are drawn and taken in by all three processes of each
turn, which makes a verdict longer, and its interval hardly narrower; with fewer it is wider."""


@dataclass(frozen=True, slots=True)
class Mixed:
    """Inputs of which some are checked.

    Attributes:
        items: all of them.
        checked: the places of those on which outcomes are compared, in ascending order.
    """

    items: Sequence[Input]
    checked: Sequence[int]

    def checked_of(self, taken: Pass) -> Pass:
        """Returns a pass with the outcomes that are compared; with all where it has not one for each input."""
        if len(taken.outcomes) != len(self.items):
            return taken
        return replace(taken, outcomes=self._of(taken.outcomes))

    def checked_of_new(self, taken: Pass) -> Pass:
        """Returns a pass with the outcomes on new inputs that are compared, likewise."""
        if len(taken.renewed_outcomes) != len(self.items):
            return taken
        return replace(taken, renewed_outcomes=self._of(taken.renewed_outcomes))

    def _of(self, outcomes: Sequence[bytes]) -> tuple[bytes, ...]:
        return tuple(outcomes[place] for place in self.checked)


def mix(checked: Sequence[Input], further: Sequence[Input], rng: random.Random) -> Mixed:
    """Returns inputs among further ones, each in its order, at random places."""
    count = len(checked) + len(further)
    places = sorted(rng.sample(range(count), len(checked)))
    chosen, ours, others = set(places), iter(checked), iter(further)
    return Mixed([next(ours if place in chosen else others) for place in range(count)], places)


def further_inputs(passes: Mapping[str, Pass], count: int, size: int, taken: int) -> int:
    """Returns how many further inputs make the candidate's window long beside what it costs to hand them over.

    Args:
        passes: of each side in a turn in which all took the same inputs in.
        count: of those that the baseline is called on.
        size: bytes of one.
        taken: inputs that the candidate was called on, and that all took in.
    """
    theirs, ours = passes["candidate"], baselines(passes)
    over = handover(passes)
    wanted = min(WINDOW_OF_HANDOVERS * over, *(one.outside for one in ours))
    if theirs.outside >= wanted and taken == count:
        return 0
    further = math.ceil(wanted / (in_calls(theirs, over) / taken)) - count
    bearable = int(MOST_SECONDS / (over / taken))
    most = (bearable, (MOST_PASSES - 1) * count, MOST_INPUTS - count, MOST_BYTES // max(size, 1))
    return max(0, min(further, *most))


def baselines(passes: Mapping[str, Pass]) -> tuple[Pass, Pass]:
    """Returns those of the baseline's two processes."""
    return passes["baseline"], passes["again"]


def handover(passes: Mapping[str, Pass]) -> float:
    """Returns the seconds that the baseline takes to take inputs in and to hand outcomes over.

    Of its two processes the shorter: what disturbs one adds to it, and fifty times that would be added to each window.
    """
    return max(0.0, min(one.outside - one.inside for one in baselines(passes)))


def in_calls(one: Pass, over: float) -> float:
    """Returns the seconds of a pass's calls where handing over takes so many."""
    return max(one.inside, one.outside - over, 1e-9)
