"""Cards found by full-text search, where few are found by their signs: those whose example reads like the hot code."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from whet.agents.knowledge import Card, Match, cards
from whet.agents.words import LEAST_SHARE, PLAIN, words_of
from whet.core.profile import HotLine

ENOUGH = 3
"""Cards with signs on the hot lines beside which no other is looked for."""
LOOKED_AT = 10
"""Cards that are nearest by BM25."""
LEAST_ALIKE = 1 / 2
"""Of the words of a card's example that the hot code must have too: with fewer, 2 of 56 cards fitted."""
LEAST_WORDS = 4
"""Words that both must have: a short example shares ``for_in``, ``append`` and ``return`` with anything."""
EXAMPLE = re.compile(r"```\w+\n(.*?)```", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Index:
    """The words of all cards' examples, to be searched.

    Attributes:
        db: a table ``examples`` of names and words.
        words: of each card's example, by its name.
        known: the words of all of them.
        lock: one thread at a time searches.
    """

    db: sqlite3.Connection
    words: Mapping[str, frozenset[str]]
    known: frozenset[str]
    lock: threading.Lock

    def nearest(self, words: Sequence[str]) -> list[str]:
        """Returns the names of the cards whose examples are nearest by BM25, the nearest first."""
        question = " OR ".join(f'"{word}"' for word in words)
        with self.lock:
            rows = self.db.execute(
                "SELECT name FROM examples WHERE examples MATCH ? ORDER BY bm25(examples), name LIMIT ?",
                (question, LOOKED_AT),
            )
            return [name for (name,) in rows]


@cache
def _index() -> _Index | None:
    """Returns the index; None where Python's SQLite has no FTS5."""
    db = sqlite3.connect(":memory:", check_same_thread=False)
    try:
        db.execute(
            "CREATE VIRTUAL TABLE examples USING fts5(name UNINDEXED, words, tokenize = \"unicode61 tokenchars '_'\")"
        )
    except sqlite3.DatabaseError:
        return None
    words = {card.name: words_of(card.languages[0], _slow(card)) for card in cards()}
    db.executemany("INSERT INTO examples VALUES (?, ?)", [(name, " ".join(said)) for name, said in words.items()])
    telling = {name: frozenset(said).difference(PLAIN) for name, said in words.items()}
    return _Index(db, telling, frozenset().union(*telling.values()), threading.Lock())


def _slow(card: Card) -> str:
    """Returns the example of what a card mends."""
    found = EXAMPLE.search(card.change)
    return found[1] if found else ""


def completed(found: Sequence[Match], language: str, source: str, hot: Sequence[HotLine]) -> list[Match]:
    """Returns the cards found by their signs, and after them, where they are few, those that read like the hot code.

    Args:
        found: by their signs.
        language: of the source.
        source: the text.
        hot: its hot lines; where none are known, nothing is searched for.
    """
    lines = tuple(sorted(line.line for line in hot if line.share >= LEAST_SHARE))
    index = _index()
    if len(found) >= ENOUGH or not lines or index is None:
        return list(found)
    asked = tuple(dict.fromkeys(words_of(language, source, hot)))
    if len(index.known.intersection(asked)) < LEAST_WORDS:
        return list(found)  # no card could have as many
    known = {match.card.name for match in found}
    fitting = {card.name: card for card in cards() if language in card.languages and card.name not in known}
    more = []
    for name in index.nearest(asked):
        theirs = index.words[name]
        alike = [word for word in asked if word in theirs]
        if name in fitting and len(alike) >= max(LEAST_WORDS, LEAST_ALIKE * len(theirs)):
            more.append(Match(fitting[name], (f"reads like its example: {', '.join(alike)}",), lines, 0.0))
    return [*found, *more][: max(ENOUGH, len(found))]
