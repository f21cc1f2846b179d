"""When a run ends, and when another model takes over: rules on what a run has come to, each with its reason.

They are asked after each round, in the order of this page. What a cap ends, a person, or a model that has nothing to
propose or cannot be asked, is found where it happens.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from whet.agents.diagnosis import Diagnosis
from whet.agents.predictions import Record

PATIENCE = 3
"""Rounds in a row without a gain beyond the resolution after which a run ends."""
STALLED = 2
"""The same after which another model takes over: that leaves it all the patience of the run."""
AGAINST = 2
"""Answers of the Judge in a row that speak against a further round, after which none follows."""
WORTH = 1.25
"""Speedup that is taken to be worth all that a cap allows. Rather too little: to go on costs a share of the cap, to
end too soon may cost a gain."""
NOTHING = "nothing"
"""How a run ends whose model has nothing to propose."""


@dataclass(frozen=True, slots=True)
class Ending:
    """Why no further round follows.

    Attributes:
        ended: in a word, see `whet.agents.loop.LoopState`.
        message: for people.
    """

    ended: str
    message: str


@dataclass(frozen=True, slots=True)
class Course:
    """What a run has come to after a round.

    Attributes:
        round: its number.
        rounds: the most there may be.
        feedback: whether what was found goes into the next question; see `whet.agents.strategies.base.Strategy`.
        stale: rounds in a row without a gain beyond the resolution.
        known_best: why the best known is reached; empty where it is not, or none is known.
        roofline: why nothing is left to gain on this device; empty where that is not known to be so.
    """

    round: int
    rounds: int
    feedback: bool
    stale: int
    known_best: str = ""
    roofline: str = ""


def takes_over(course: Course, ended: str) -> bool:
    """Whether another model, where one stands by, drafts from the next round on.

    Args:
        course: what the run has come to.
        ended: how the round ended the run by itself; empty where it did not.
    """
    if course.round >= course.rounds or ended not in ("", NOTHING):
        return False
    return ended == NOTHING or course.stale >= STALLED


def after_round(course: Course) -> Ending | None:
    """Returns why the Judge need not be asked, for no further round follows; None where one may."""
    if course.round >= course.rounds:
        done = "the last round is done" if course.round == 1 else f"the last of {course.round} rounds is done"
        return Ending("rounds", done)
    if course.known_best:
        return Ending("known best", course.known_best)
    if not course.feedback:
        return None  # independent samples owe nothing to what those before them came to
    if course.roofline:
        return Ending("roofline", course.roofline)
    if course.stale >= PATIENCE:
        return Ending("patience", f"{PATIENCE} rounds brought no further gain that could be told from noise")
    return None


def after_judge(said: Diagnosis, against: int, dear: str) -> Ending | None:
    """Returns why no round follows on what the Judge said; None where one does.

    Args:
        said: its last answer.
        against: answers in a row, this one included, that spoke against a further round.
        dear: why the next round is not worth its price; empty where it is.
    """
    if against < AGAINST:
        return None
    return Ending("judge", "the judge sees nothing left to try") if said.stop else Ending("cost", dear)


def too_dear(said: Diagnosis, record: Record, share: float) -> str:
    """Returns why the next round is not worth its price; empty where it is, or costs nothing.

    A round that takes 5 % of the cap has to be expected to bring 5 % of `WORTH`: its chance of a gain times the gain's
    logarithm to that base.

    Args:
        said: the Judge's answer.
        record: of its predictions, which calibrates the answer.
        share: of the cap that a round takes.
    """
    if said.by_rule or share <= 0.0:
        return ""
    chance, gain = record.chance(said.confidence), record.gain(said.expected_gain)
    worth = chance * math.log(max(gain, 1.0), WORTH)
    if worth >= share:
        return ""
    return (
        f"the next round is not worth its price: it takes {share:.1%} of the cap, and a chance of {chance:.0%} of "
        f"{gain:.3g}x, the judge's expectation calibrated by its record, is {worth:.1%} of what {WORTH}x is worth"
    )
