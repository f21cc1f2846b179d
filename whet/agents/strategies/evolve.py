"""Evolve: islands of versions that are kept diverse, crossed with each other and, now and then, across islands."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

from whet.agents.strategies.base import Aim, SearchState, Tried, drawn
from whet.core.same import Same

ISLANDS = 2
"""Archives that evolve apart. More keep more different versions, but each is asked about less often in the same number
of rounds; with one there is no migration."""
CROSSED = 0.3
"""Share of the questions that join two versions of an island, where it has two."""
MIGRATION = 3
"""Each so many rounds the second version comes from the next island."""
GREED = 0.5
"""Probability that the best of an island is built upon, then the second, and so on."""
EVEN = 1.1
"""Ratio of a version's best workload to its worst below which it is as good on all of them."""
MODULE = re.compile(r"^\s*(?:import|from|#\s*include)\s+[<\"]?([\w./]+)", re.MULTILINE)
LOOP = re.compile(r"\b(?:for|while)\b")

Niche: TypeAlias = tuple[object, ...]


class Evolve:
    """An archive an island, which keeps the best version of each niche: of each label, family and behaviour.

    The first versions that were made from the original found the islands in turn; a child lives where its parent does.
    """

    feedback = True

    def plan(self, state: SearchState, number: int, most: int) -> Sequence[Aim]:
        """Returns questions to the islands in turn, beginning with another one each round."""
        chance = drawn(state, number)
        islands = _islands(Same(state))
        return [self._aim(state, islands, (number + place) % ISLANDS, number, chance) for place in range(most)]

    def _aim(
        self, state: SearchState, islands: Sequence[Sequence[str]], home: int, number: int, chance: random.Random
    ) -> Aim:
        living = islands[home]
        parent = _picked(living, chance) if living else state.baseline
        if number % MIGRATION == 0:
            others = islands[(home + 1) % ISLANDS][:1]
        else:
            others = [id for id in living if id != parent] if chance.random() < CROSSED else []
        if living and others:
            return Aim(parent, partner=_picked(others, chance), directed=False)
        return Aim(parent, directed=parent == state.best)


def _picked(ranked: Sequence[str], chance: random.Random) -> str:
    place = 0
    while place < len(ranked) - 1 and chance.random() > GREED:
        place += 1
    return ranked[place]


# A state is asked about twice: whether the Judge is needed after a round, and what follows it.
@lru_cache(maxsize=2)
def _islands(same: Same) -> list[list[str]]:
    """Returns the ids in each island's archive, best first."""
    (state,) = same.objects
    assert isinstance(state, SearchState)
    homes: dict[str, int] = {}
    archives: list[dict[Niche, Tried]] = [{} for _ in range(ISLANDS)]
    founders = 0
    for one in state.tried:
        if not one.correct or one.low is None:
            continue
        if one.parent not in homes:  # made from the original, or from what a person does not want
            homes[one.id] = founders % ISLANDS
            founders += 1
        else:
            homes[one.id] = homes[one.parent]
        archive, niche = archives[homes[one.id]], _niche(one)
        if niche not in archive or _low(archive[niche]) < one.low:
            archive[niche] = one
    return [[one.id for one in sorted(archive.values(), key=_low, reverse=True)] for archive in archives]


def _low(one: Tried) -> float:
    return one.low or 0.0


def _niche(one: Tried) -> Niche:
    return (frozenset(one.labels), *_family(one.source), _behaviour(one.ratios))


@lru_cache(maxsize=512)
def _family(source: str) -> Niche:
    """Returns a rough sign of a text's algorithm: what it imports, and how many loops it has."""
    return frozenset(MODULE.findall(source)), len(LOOP.findall(source))


def _behaviour(ratios: Sequence[float]) -> int | None:
    """Returns the workload on which a version gains most; None where it gains as much on all."""
    if not ratios or max(ratios) < EVEN * min(ratios):
        return None
    return ratios.index(max(ratios))
