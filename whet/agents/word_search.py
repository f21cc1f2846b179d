"""The words of what runs found out, as each database searches them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from whet.core.database.base import Connection, DatabaseKind

OURS = "DELETE FROM experience_words WHERE {key} IN (SELECT id FROM experience WHERE run = :run)"


class WordSearch(Protocol):
    """Finds entries of the table ``experience`` by their words."""

    def make(self, db: Connection) -> None:
        """Makes what it keeps, unless that is there."""

    def put(self, db: Connection, entry: int, words: Sequence[str]) -> None:
        """Stores the words of an entry."""

    def forget(self, db: Connection, run: str) -> None:
        """Drops the words of a run's entries, which are there still."""

    def nearest(
        self, db: Connection, asked: Sequence[str], language: str, metric: str, most: int
    ) -> Sequence[tuple[bytes, str]]:
        """Returns the entries that have any of the words, and all of theirs; those that are most alike first."""


class Fts5:
    """SQLite's own search; not every SQLite has it."""

    def make(self, db: Connection) -> None:
        """Makes the index."""
        db.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS experience_words"
            " USING fts5(words, tokenize = \"unicode61 tokenchars '_'\")"
        )

    def put(self, db: Connection, entry: int, words: Sequence[str]) -> None:
        """Stores the words of an entry."""
        values = {"entry": entry, "words": " ".join(words)}
        db.execute("INSERT INTO experience_words (rowid, words) VALUES (:entry, :words)", values)

    def forget(self, db: Connection, run: str) -> None:
        """Drops the words of a run's entries."""
        db.execute(OURS.format(key="rowid"), {"run": run})

    def nearest(
        self, db: Connection, asked: Sequence[str], language: str, metric: str, most: int
    ) -> Sequence[tuple[bytes, str]]:
        """Returns the entries that are most alike by BM25."""
        question = " OR ".join(f'"{word}"' for word in asked)
        return db.execute(
            "SELECT entry, words FROM experience_words JOIN experience ON experience.id = experience_words.rowid"
            " WHERE experience_words MATCH :question AND language = :language AND metric = :metric"
            " ORDER BY bm25(experience_words), experience.id DESC LIMIT :most",
            _asked(question, language, metric, most),
        ).fetchall()


class TextSearch:
    """PostgreSQL's.

    Words go in as they are, and their parts at underscores stay together, as in `Fts5`: no configuration of a language
    touches them.
    """

    def make(self, db: Connection) -> None:
        """Makes the table and its index."""
        if db.execute("SELECT to_regclass('experience_words_found')").fetchone()[0] is not None:
            return
        db.execute(
            "CREATE TABLE IF NOT EXISTS experience_words"
            " (entry_id BIGINT PRIMARY KEY, words TEXT NOT NULL, found TSVECTOR NOT NULL)"
        )
        db.execute("CREATE INDEX IF NOT EXISTS experience_words_found ON experience_words USING gin (found)")

    def put(self, db: Connection, entry: int, words: Sequence[str]) -> None:
        """Stores the words of an entry."""
        values = {"entry": entry, "words": " ".join(words), "each": sorted({word.lower() for word in words})}
        db.execute(
            "INSERT INTO experience_words (entry_id, words, found)"
            " VALUES (:entry, :words, array_to_tsvector(CAST(:each AS text[])))",
            values,
        )

    def forget(self, db: Connection, run: str) -> None:
        """Drops the words of a run's entries."""
        db.execute(OURS.format(key="entry_id"), {"run": run})

    def nearest(
        self, db: Connection, asked: Sequence[str], language: str, metric: str, most: int
    ) -> Sequence[tuple[bytes, str]]:
        """Returns the entries that are most alike by rank, in which a long text counts for less than a short one."""
        question = " | ".join(_quoted(word.lower()) for word in asked)
        return db.execute(
            "SELECT entry, words FROM experience_words JOIN experience ON experience.id = entry_id"
            " WHERE found @@ CAST(:question AS tsquery) AND language = :language AND metric = :metric"
            " ORDER BY ts_rank(found, CAST(:question AS tsquery), 1) DESC, experience.id DESC LIMIT :most",
            _asked(question, language, metric, most),
        ).fetchall()


def word_search(kind: DatabaseKind) -> WordSearch:
    """Returns the search of a kind of database; see `whet.core.store.Store.kind`."""
    return Fts5() if kind is DatabaseKind.SQLITE else TextSearch()


def _asked(question: str, language: str, metric: str, most: int) -> dict[str, Any]:
    return {"question": question, "language": language, "metric": metric, "most": most}


def _quoted(word: str) -> str:
    return "'" + word.replace("\\", "\\\\").replace("'", "''") + "'"
