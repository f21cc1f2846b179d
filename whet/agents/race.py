"""Successive halving: measuring time goes to those candidates of a round that may win.

Every right candidate gets its first look. A further look goes to the better half, by the ratio so far, the one after
that to the better quarter. Nobody's error share changes: a look is what it would have been, and whoever is left behind
is not called anything but not shown. Who leads is measured until it is decided; where the answer is not "faster", the
next one leads. So nobody is left behind but behind one that was shown faster, unless the time is up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial

from whet.agents.lanes import side_by_side
from whet.core.verdict import Verdict

BEHIND = "not measured further: others of its round were ahead of it"
TIME_IS_UP = "not measured further: the time is up"

Look = Callable[[str, int], Verdict]
"""Measures a candidate until so many looks were taken, or one of them decides."""


def undecided(verdict: Verdict) -> int:
    """Returns the looks after which a measurement is still open; 0 where it is over, or there is none."""
    return verdict.measurement.undecided if verdict.measurement is not None else 0


def race(first: Mapping[str, Verdict], look: Look, late: Callable[[], bool], lanes: int = 1) -> dict[str, Verdict]:
    """Returns what is known in the end of each candidate of a round; those still undecided were left behind.

    Args:
        first: what the first look showed, by id; where two are equal, the earlier one is ahead.
        look: takes a further look.
        late: whether the time is up: then only who leads is measured on.
        lanes: looks that may be taken at once.
    """
    known = dict(first)
    while going := _going(known, late()):
        further = [partial(look, id, undecided(known[id]) + 1) for id in going]
        for place, verdict in side_by_side(further, lanes, math.inf).items():
            known[going[place]] = verdict
    return known


def _going(known: Mapping[str, Verdict], late: bool) -> list[str]:
    """Returns who gets a further look."""
    field = [id for id, verdict in known.items() if verdict.improved or undecided(verdict)]
    field.sort(key=lambda id: _ratio(known[id]), reverse=True)
    return [
        id
        for place, id in enumerate(field)
        if (looks := undecided(known[id])) and place < (1 if late else math.ceil(len(known) / 2**looks))
    ]


def _ratio(verdict: Verdict) -> float:
    assert verdict.measurement is not None, "what has no measurement is not in the field"
    return verdict.measurement.speedup.ratio
