"""The cards of `whet/prompts/knowledge/patterns`: patterns of slow code and their mends, and which fit a source text.

A card is a small Markdown file with a TOML header between lines of ``+++``. Its signs are regular expressions for
single lines, so that anybody can see why a card was chosen.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from whet.agents.embedded import Part, embedded
from whet.agents.surroundings import Surroundings, surroundings
from whet.core.config import describe_invalid
from whet.core.label import Label
from whet.core.profile import HotLine

BAR = "+++\n"
LONGEST_LINE = 300
"""Characters of a line that signs look at: the text is anybody's, and expressions may backtrack."""


Within = Literal["anywhere", "loop", "nested loop", "recursion"]
DEPTHS = {"loop": 1, "nested loop": 2}
"""Loops that a line must stand in at least."""


class CardKind(StrEnum):
    """What a card is about."""

    ALGORITHM = "algorithm"
    DATA_STRUCTURE = "data structure"
    MEMORY_LAYOUT = "memory layout"
    VECTORISATION = "vectorisation"
    PARALLELISM = "parallelism"
    IO = "I/O"
    LANGUAGE = "language-specific"
    NUMERICS = "numerics"
    KERNEL = "kernel"


class Sign(BaseModel):
    """What gives a pattern away in a source text.

    Attributes:
        says: what was seen, in a few words.
        pattern: found anywhere in a line; empty for any line that is not blank.
        within: what the line must stand in.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    says: str = Field(min_length=1, max_length=100)
    pattern: re.Pattern[str]
    within: Within = "anywhere"


class Gain(BaseModel):
    """What a change may bring.

    Attributes:
        expected: an order of magnitude or of growth, or "depends" and on what.
        source: what says so.
        growth: whether it changes how time grows with the input.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    expected: str = Field(min_length=1, max_length=200)
    source: str = Field(min_length=1, max_length=200)
    growth: bool = False


class Header(BaseModel):
    """What programs read of a card.

    Attributes:
        name: that of the file.
        kind: what it is about.
        languages: those of the sources that it fits; the examples are in the first.
        labels: of a win by it.
        needs: what must hold for it to be right.
        signs: what gives it away; one is enough.
        edits: the catalogue's edits that do it, or a part of it.
        unsafe_when: when the new code may behave otherwise.
        gain: what it may bring.
        sources: title and author, section or address of what states the facts.
        trial: code that follows either example and prints what must be alike; for C and C++ the body of ``main``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    kind: CardKind
    languages: tuple[Literal["python", "c", "cpp", "asm", "cuda", "triton"], ...] = Field(min_length=1)
    labels: tuple[Label, ...] = Field(min_length=1)
    needs: str = Field(min_length=1, max_length=300)
    signs: tuple[Sign, ...] = Field(min_length=1)
    edits: tuple[str, ...] = ()
    unsafe_when: str = Field(min_length=1, max_length=300)
    gain: Gain
    sources: tuple[str, ...] = Field(min_length=1)
    trial: str = Field(min_length=1)


class Card(Header):
    """A pattern of slow code and its mend.

    Attributes:
        text: the part under the header, for people and models.
    """

    text: str = Field(min_length=1)

    @property
    def change(self) -> str:
        """The part of the text that tells what to write instead, with the example."""
        return self.text.partition("## Change\n")[2].partition("\n## ")[0].strip()


@dataclass(frozen=True, slots=True)
class Match:
    """A card that fits a source text.

    Attributes:
        card: which.
        signs: what was seen, in the words of the card.
        lines: where, in the order of the text.
        share: of the hot lines among them, 0 to 1.
    """

    card: Card
    signs: tuple[str, ...]
    lines: tuple[int, ...]
    share: float


def parse_card(name: str, text: str) -> Card:
    """Reads a card.

    Args:
        name: that of the file, without its suffix.
        text: the file.

    Raises:
        ValueError: the header is missing, is not TOML or does not fit, or the card has another name than its file.
    """
    try:
        header, body = front_matter(text)
        card = Card(**Header.model_validate(header).model_dump(), text=body)
    except ValidationError as error:
        raise ValueError(f"card {name}: {describe_invalid(error, Header)}") from None
    except ValueError as error:
        raise ValueError(f"card {name}: {error}") from None
    if card.name != name:
        raise ValueError(f"card {name} calls itself {card.name}")
    return card


def front_matter(text: str) -> tuple[dict[str, Any], str]:
    """Returns the header of a card as it stands, and the text under it.

    Raises:
        ValueError: the header is missing or is not TOML.
    """
    start, *parts = text.split(BAR, 2)
    if start or len(parts) != 2:
        raise ValueError("no header between lines of +++")
    try:
        return tomllib.loads(parts[0]), parts[1].strip()
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"the header is not valid TOML: {error}") from None


def folder_texts(folder: str) -> dict[str, str]:
    """Returns the cards of a folder of `whet/prompts/knowledge` as they stand, by name."""
    found = files("whet.prompts").joinpath("knowledge", folder).iterdir()
    paths = sorted((path for path in found if path.name.endswith(".md")), key=lambda path: path.name)
    return {path.name.removesuffix(".md"): path.read_text(encoding="utf-8") for path in paths}


@cache
def cards() -> tuple[Card, ...]:
    """Returns all cards, by name.

    Raises:
        ValueError: one of them does not parse.
    """
    return tuple(parse_card(name, text) for name, text in folder_texts("patterns").items())


@cache
def _showing(language: str) -> Mapping[str, set[str]]:
    """Returns the names of the cards of a language by the patterns of their signs."""
    found: dict[str, set[str]] = {}
    for card in cards():
        for sign in card.signs if language in card.languages else ():
            found.setdefault(sign.pattern.pattern, set()).add(card.name)
    return found


@cache
def _patterns(language: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern) for pattern in _showing(language))


@lru_cache(maxsize=4096)
def _shown_by(language: str, line: str) -> tuple[str, ...]:
    """Returns the patterns of signs that are found in a line; versions of a target share most of theirs."""
    return tuple(pattern.pattern for pattern in _patterns(language) if pattern.search(line))


class _Looked:
    """The lines of a text that are looked at, by the patterns that they show.

    Args:
        part: the text.
        shares: of its hot lines, where they are known: then no others are looked at.
    """

    def __init__(self, part: Part, shares: Mapping[int, float]) -> None:
        self._part = part
        self._shares = shares
        self._showing: dict[str, list[int]] = {}
        for number, text in enumerate(part.text.split("\n"), 1):
            if text and (number in shares or not shares):
                for pattern in _shown_by(part.language, text[:LONGEST_LINE]):
                    self._showing.setdefault(pattern, []).append(number)

    def cards(self) -> set[str]:
        """Returns the names of the cards that some line shows a pattern of."""
        showing = _showing(self._part.language)
        return set().union(*(showing[pattern] for pattern in self._showing))

    def match(self, card: Card) -> Match | None:
        """Returns what of a card is seen; None where nothing is."""
        seen = {sign.says: found for sign in card.signs if (found := self._lines_with(sign))}
        if not seen:
            return None
        lines = tuple(sorted(set().union(*seen.values())))
        return Match(card, tuple(seen), lines, sum(self._shares.get(line, 0.0) for line in lines))

    def _lines_with(self, sign: Sign) -> list[int]:
        return [number for number in self._showing.get(sign.pattern.pattern, ()) if self._stands(number, sign.within)]

    def _stands(self, line: int, within: Within) -> bool:
        if within == "anywhere":
            return True
        if within == "recursion":
            return self._around.in_recursion(line)
        return self._around.depth(line) >= DEPTHS[within]

    @cached_property
    def _around(self) -> Surroundings:
        # Parsed at need: most texts show nothing that depends on it.
        return surroundings(self._part.language, self._part.text)


@cache
def card_of(edit: str) -> Card | None:
    """Returns the card of an edit of the catalogue, one that speaks of growth first; None where there is none."""
    named = (card for card in cards() if edit in card.edits)
    return min(named, key=lambda card: not card.gain.growth, default=None)


def relevant(language: str, source: str, hot: Sequence[HotLine] = (), limit: int = 5) -> list[Match]:
    """Returns the cards that fit a source text.

    Those whose signs stand on hotter lines come first, then those that change how time grows with the input, then
    those with more signs, then those with fewer lines. Where hot lines are known, no others are looked at.

    Args:
        language: python, c, cpp, asm, cuda or triton.
        source: the text, whatever stands in it. Kernels in a Python text are looked at too: no profile of Python knows
            their lines, so all of them are.
        hot: its hot lines, where they are known.
        limit: the most cards that are returned.
    """
    shares = {line.line: line.share for line in hot}
    found: dict[str, Match] = {}
    for part in (Part(language, source), *embedded(language, source)):
        looked = _Looked(part, shares if part.language == language else {})
        shown = looked.cards() - found.keys()
        for card in cards():
            if card.name in shown and (match := looked.match(card)) is not None:
                found[card.name] = match
    return sorted(found.values(), key=_rank)[:limit]


def _rank(match: Match) -> tuple[float, bool, int, int, str]:
    card = match.card
    return -match.share, not card.gain.growth, -len(match.signs), len(match.lines), card.name
