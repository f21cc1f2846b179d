"""What the agents are told of known patterns of slow code: the cards that fit the best version's hot lines."""

from __future__ import annotations

from functools import lru_cache

from whet.agents.card_search import completed
from whet.agents.knowledge import Match, relevant
from whet.core.profile import Profile
from whet.core.same import Same
from whet.prompts import render

EXPLAINED = 3
"""Cards whose change the Coder is shown."""
NAMED = 5
"""Cards that the Judge is told of."""


def coder_advice(language: str, source: str, profile: Profile) -> str:
    """Returns the cards that fit best, with what they change; an empty string where none does."""
    return render("patterns", matches=_matches(language, source, Same(profile))[:EXPLAINED])


def judge_advice(language: str, source: str, profile: Profile) -> str:
    """Returns the cards that fit in a line each; an empty string where none does."""
    return render("patterns_named", matches=_matches(language, source, Same(profile)))


def named_patterns(language: str, source: str, profile: Profile) -> list[str]:
    """Returns the names of the cards that `judge_advice` tells of."""
    return [match.card.name for match in _matches(language, source, Same(profile))]


# Both agents ask about the same versions: a few, in each round.
@lru_cache(maxsize=16)
def _matches(language: str, source: str, known: Same) -> list[Match]:
    (profile,) = known.objects
    assert isinstance(profile, Profile)
    return completed(relevant(language, source, profile.lines, NAMED), language, source, profile.lines)
