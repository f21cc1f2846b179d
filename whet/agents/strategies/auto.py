"""Auto: starts cheap, spends where the verdicts show headroom, and looks elsewhere where it is stuck."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, cycle, islice, takewhile

from whet.agents.strategies.base import Aim, SearchState

STUCK = 2
"""Rounds in a row without a gain after which more of the same is worth little: one may have been bad luck."""
PLACES = 4
"""Hot lines that are worked on."""


class Auto:
    """Refines the best so far.

    The first round asks for one answer. The next ones are half as wide as they may be, work on the hottest lines, and
    save the Judge. A run that is stuck asks the Judge and for all that it may: what the Judge wants, the hottest line,
    an answer free of any wish, and one that goes back to the second best. After a gain it is narrow again.
    """

    feedback = True

    def plan(self, state: SearchState, number: int, most: int) -> Sequence[Aim]:
        """Returns aims at the best version, and at the second best too where the run is stuck."""
        best = state.best
        if number == 1:
            return [Aim(best)]
        hot = [Aim(best, focus=place, directed=False) for place in range(PLACES)]
        if _stale(state, number) < STUCK:
            return list(islice(cycle(hot), max(1, most // 2)))
        other = next((scored.id for scored in state.improved[1:]), state.baseline)
        wide = [Aim(best), hot[0], Aim(best, directed=False), Aim(other, directed=False)]
        return list(islice(cycle(wide), most))


def _stale(state: SearchState, number: int) -> int:
    """Returns how many rounds in a row before one brought no better version than those before them."""
    lows = [1.0] * number
    for one in state.tried:
        if one.improved and one.low is not None:
            lows[one.round] = max(lows[one.round], one.low)
    bests = list(accumulate(lows, max))
    return sum(1 for _ in takewhile(lambda low: low == bests[-1], reversed(bests[:-1])))
