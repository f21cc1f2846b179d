"""How long a prompt may become, and what is left out of one that is longer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from whet.agents.models.base import Message

BYTES_PER_TOKEN = 3
"""Of code and prose, on the safe side: common tokenisers make a token of some four."""
PROMPT = 22_000
"""Tokens of a prompt beside the file itself, which is always whole. With a file of 100 kB and an answer of the same
size it fits a context of 128,000, and four candidates are told of in full."""
CACHED = 0.7
"""Of a prompt, what should stand in the messages that recur, and that a provider's cache serves."""
SUPPORT = 20_000
"""Characters of other files that a task shows."""
GENERATOR = 6_000
"""Characters of the generator of its inputs."""


@dataclass(frozen=True, slots=True)
class Cut:
    """What a round's message holds of the candidates before it.

    Attributes:
        detail: characters of the diagnostics of each one that is shown.
        diff: characters of the change of each.
        siblings: those of earlier rounds that are shown so too, at most.
        tried: earlier ones in a line each, at most.
    """

    detail: int
    diff: int
    siblings: int
    tried: int


WHOLE = Cut(detail=2500, diff=4000, siblings=3, tried=10)
SPARING = Cut(detail=2500, diff=4000, siblings=0, tried=10)
RICH = (WHOLE, Cut(2500, 4000, 1, 10))
"""Where there is room to spare, from more to less."""
LEAN = (Cut(2500, 1000, 0, 10), Cut(1500, 500, 0, 10), Cut(800, 0, 0, 5), Cut(300, 0, 0, 0))
"""Where there is none: long changes go first, what was wrong with the newest last; a line is cheap."""


def tokens(text: str) -> int:
    """Returns about how many tokens a text is."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def fitted(before: Iterable[Message], file: str, siblings: int, tried: int, rendered: Callable[[Cut], str]) -> str:
    """Returns a round's message with as much as there is room for.

    It is shortened for a provider's cache too, but of the newest neither the change nor what was wrong is left out for
    that: who cannot read what was tried can only guess.

    Args:
        before: the messages before it, whose parts have bounds of their own.
        file: the text that one of them shows whole.
        siblings: how many there are to show.
        tried: how many earlier ones there are.
        rendered: gives the message for a cut.
    """
    known = sum(tokens(message.text) for message in before)
    most = PROMPT + tokens(file) - known
    wished = min(most, known * (1 - CACHED) / CACHED)

    def given(cut: Cut) -> str:
        return rendered(replace(cut, siblings=min(cut.siblings, siblings), tried=min(cut.tried, tried)))

    spare = given(SPARING)
    # With siblings it is longer still.
    for cut in RICH if siblings and tokens(spare) <= wished else ():
        if tokens(text := given(cut)) <= wished:
            return text
    text = spare
    for cut in LEAN:
        if tokens(text) <= most:
            break
        text = given(cut)
    return text
