"""What the runs of a store found out: wins and lessons, found again by the words of the code that they are about.

Nothing of another repository's text is ever told: neither code nor what a model wrote about it, only whet's own words
and figures. Notes are told within the repository that they are about.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from whet.agents.word_search import word_search
from whet.agents.words import PLAIN
from whet.core.packed import pack, unpack
from whet.core.plain import from_plain, to_plain
from whet.core.store import Store

LOOKED_AT = 50
"""Entries that are nearest by the database's search, among which those that are told are looked for."""
TOLD = 2
"""Entries of a kind that a prompt tells of."""
LEAST_ALIKE = 1 / 3
"""Of the words of the hot code that an entry must have too."""
MOST_WORDS = 64
"""Words that are searched for."""


class EntryKind(StrEnum):
    """Whether it was a gain."""

    WIN = "win"
    LESSON = "lesson"


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that a run found out.

    Attributes:
        kind: a confirmed win, or a right candidate that was slower or no faster.
        run: id of the run.
        candidate: id of the candidate; with the run it names the evidence.
        repository: see `whet.core.belonging.repository_of`.
        language: of the target.
        metric: what was measured.
        labels: what kind of change it was.
        patterns: names of the cards whose signs stood where it was made.
        note: what its author said of it; empty where that is another repository's.
        because: why, by rule; empty where no figure tells.
        ratio: the original's figure by the candidate's; of a lesson its parent's.
        low: the interval's lower end.
        high: its upper end.
        confidence: of the interval.
        machine: the processor.
    """

    kind: EntryKind
    run: str
    candidate: str
    repository: str
    language: str
    metric: str
    labels: tuple[str, ...]
    patterns: tuple[str, ...]
    note: str
    because: str
    ratio: float
    low: float
    high: float
    confidence: float
    machine: str


@dataclass(frozen=True, slots=True)
class Recalled:
    """An entry, and what of it is found in the code that somebody works on now.

    Attributes:
        entry: its note is empty where it is of another repository.
        alike: words that both codes have.
        own: whether it is of the same repository.
    """

    entry: Entry
    alike: tuple[str, ...]
    own: bool


class Experience:
    """The wins and lessons of a store.

    Args:
        store: where they live.

    Attributes:
        lacking: why nothing can be searched here; empty where it can.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._search = word_search(store.kind)
        self.lacking = ""
        try:
            with store.changing() as db:
                self._search.make(db)
        except sqlite3.DatabaseError as error:
            self.lacking = str(error)

    def put(self, run: str, words: Sequence[str], entries: Sequence[Entry]) -> None:
        """Stores what a run found out, in place of what it had found before.

        Args:
            run: its id.
            words: of the hot code of its target; see `whet.agents.words.words_of`.
            entries: what it found.
        """
        with self._store.transaction() as db:
            self._search.forget(db, run)
            db.execute("DELETE FROM experience WHERE run = :run", {"run": run})
            for one in entries:
                values = {"run": run, "language": one.language, "metric": one.metric, "entry": pack(to_plain(one))}
                ((row,),) = db.execute(
                    "INSERT INTO experience (run, language, metric, entry) VALUES (:run, :language, :metric, :entry)"
                    " RETURNING id",
                    values,
                ).fetchall()
                self._search.put(db, row, words)

    def forget(self, run: str) -> None:
        """Drops what a run found out."""
        with self._store.transaction() as db:
            if not self.lacking:
                self._search.forget(db, run)
            db.execute("DELETE FROM experience WHERE run = :run", {"run": run})

    def like(self, words: Sequence[str], language: str, metric: str, repository: str) -> tuple[Recalled, ...]:
        """Returns the wins and lessons about the code that is most alike, wins first.

        Args:
            words: of the hot code that is worked on.
            language: of the target.
            metric: what counts.
            repository: that it belongs to.
        """
        asked = tuple(dict.fromkeys(words))[:MOST_WORDS]
        if not asked:
            return ()
        least = LEAST_ALIKE * len(set(asked).difference(PLAIN))
        found: list[Recalled] = []
        for entry, theirs in self._nearest(asked, language, metric):
            alike = tuple(word for word in asked if word in theirs and word not in PLAIN)
            own = entry.repository == repository
            others = [one.entry for one in found if one.entry.kind is entry.kind]
            new = len(others) < TOLD and all(one.candidate != entry.candidate for one in others)
            # Without its note, a lesson that no pattern goes with would tell of nothing.
            if new and alike and len(alike) >= least and (own or entry.patterns or entry.kind is EntryKind.WIN):
                found.append(Recalled(entry if own else replace(entry, note=""), alike, own))
        return tuple(sorted(found, key=lambda one: one.entry.kind is not EntryKind.WIN))

    def _nearest(self, asked: Sequence[str], language: str, metric: str) -> Iterator[tuple[Entry, set[str]]]:
        with self._store.connection() as db:
            rows = self._search.nearest(db, asked, language, metric, LOOKED_AT)
        for entry, words in rows:
            yield from_plain(Entry, unpack(entry)), set(words.split())
