"""Judges what a candidate saves when calls come again in one process: no gain, for a program makes each once.

Recorded calls are few, so a pass which is long enough to be timed repeats them. As many rounds are watched in fresh
processes of both sides. Where those that come again use less CPU time than new ones by more than those of the original
do, the difference is added to every round that comes again. Of inputs that can be drawn, new ones follow each pass
instead; see `whet.evaluators.timing.turns.as_if_new`.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any

from whet.core.plain import to_plain
from whet.evaluators.artifacts import Artifact
from whet.evaluators.timing.hidden_costs import DECLINE, HiddenCosts
from whet.evaluators.timing.round_observation import RoundObservation, RoundSeconds, observe_rounds
from whet.evaluators.timing.workloads import TimedWorkload


def repeat_costs(
    baseline: Artifact, candidate: Artifact, workloads: Sequence[TimedWorkload], seed: int, seconds: float
) -> HiddenCosts:
    """Returns what is to be added to a pass of the candidate: the most that any workload asks for.

    Looks twice where the first look shows anything.

    Args:
        baseline: the original, a function.
        candidate: what is compared with it.
        workloads: those that are timed; only what repeats its inputs is looked at.
        seed: of the order of the calls.
        seconds: that one call may take.

    Raises:
        RungEndedError: a process failed.
    """
    repeating = [work for work in workloads if work.rounds > 1]
    if not repeating:
        return HiddenCosts(0.0, {})

    def look() -> HiddenCosts:
        charged = 0.0
        evidence: dict[str, Any] = {}
        found = observe_rounds(baseline, candidate, repeating, seed, seconds)
        for work in repeating:
            seen = found[work.name]
            cost = assess_rounds(seen, work.count // work.rounds)
            charged = max(charged, cost)
            plain = {name: value for name, value in to_plain(seen).items() if value is not None}
            evidence[work.name] = {**plain, "charged_seconds": cost}
        return HiddenCosts(charged, evidence)

    return smaller(look)


def smaller(look: Callable[[], HiddenCosts]) -> HiddenCosts:
    """Returns what one look shows, or the smaller of two where the first shows anything."""
    first = look()
    return min(first, look(), key=lambda one: one.seconds) if first.seconds else first


def assess_rounds(seen: RoundObservation, count: int) -> float:
    """Judges one look at one workload: the seconds that are added to a pass of the candidate.

    Args:
        seen: what the processes of both sides showed.
        count: how many distinct inputs a pass has, which it then repeats.
    """
    ways = (seen.seconds_of_rounds, seen.seconds_in_a_pass)
    one = max(_saved_in(way) for way in ways if way is not None) * (seen.rounds - 1)
    return one if seen.inputs is None else one / seen.inputs * count


def _saved_in(way: RoundSeconds) -> float:
    """Returns what a round that comes again saves, see `saved`, beside the least of those on new inputs."""
    sides = ([(min(rounds[:-1]), rounds[-1]) for rounds in side] for side in (way.baseline, way.candidate))
    return saved(*sides)


def saved(ours: Sequence[tuple[float, float]], theirs: Sequence[tuple[float, float]]) -> float:
    """Returns the seconds that a round of the candidate saves at least, beyond what one of the original does.

    Both rounds of a pair are of one process, since processes differ by more. Of the candidate, the low end: the least
    over processes. Of the original, the median; where it seems to save less than nothing, that is chance: one that is
    many times as slow as the candidate would have it charged for its own noise. 0 for a few.

    Args:
        ours: seconds of the original's rounds in each process, of the first kind and of the one that may be cheaper.
        theirs: the candidate's.
    """
    usual = statistics.median(early - late for early, late in ours)
    excess = min(early - late for early, late in theirs) - max(0.0, usual)
    return excess if excess > (DECLINE - 1) * min(late for _, late in theirs) else 0.0
