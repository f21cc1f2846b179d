"""Ends a run whose time is up, whatever it is doing, and tells what it has come to."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from whet.agents.evaluations import Evaluations
from whet.agents.history import TIME_IS_UP, Caps, History
from whet.agents.lanes import side_by_side
from whet.agents.ledger import Ledger
from whet.core.errors import UsageError
from whet.core.store import Store

if TYPE_CHECKING:
    from whet.agents.loop import LoopState

CUT = "cut"
GRACE_SECONDS = 1.0
"""After the time is up, for a loop that is about to end by itself; what ends by itself replays to the letter."""


def turned(
    turn: Callable[[], LoopState], caps: Caps, store: Store, run: str, evaluations: Evaluations, ledger: Ledger
) -> LoopState:
    """Runs a loop to its end, or until the time is up: then what is under way is ended, processes included.

    Args:
        turn: runs the loop.
        caps: know the time that is left.
        store: holds the run.
        run: its id.
        evaluations: of the run; closed where the time is up.
        ledger: of the run; closed for good where the time is up.

    Returns:
        the state in the end; its winner is the best of what was confirmed in time.
    """
    if math.isinf(caps.seconds_left):
        return turn()
    came = side_by_side([turn], 1, caps.seconds_left + GRACE_SECONDS) if caps.seconds_left > 0.0 else {}
    if came:
        return came[0]
    ledger.abandon()
    evaluations.close()
    state = _left(store, run, evaluations)
    store.set_fact(run, CUT, state["winner"])
    return state


def replayed(turn: Callable[[], LoopState], store: Store, run: str, past: str, evaluations: Evaluations) -> LoopState:
    """Runs the loop of a replay; where the time cut the past run short, so does the end of its record."""
    try:
        return turn()
    except UsageError:
        winner = store.fact(past, CUT)
        if winner is None:
            raise
        if winner:
            evaluations.confirm(winner)
        return _left(store, run, evaluations)


def _left(store: Store, run: str, evaluations: Evaluations) -> LoopState:
    """Returns the state of a run that was cut short, from its facts."""
    history, number = History(store, run), 0
    while history.recorded(number + 1) is not None:
        number += 1
    known = {id: evaluations.confirm(id) for id in history.seen(number) if evaluations.is_settled(id)}
    ratios = {id: one.measurement.speedup.ratio for id, one in known.items() if one.confirmed and one.measurement}
    return {
        "round": number,
        "ended": "budget",
        "message": TIME_IS_UP,
        "confirming": list(known),
        "winner": max(ratios, key=lambda id: ratios[id], default=""),
    }
