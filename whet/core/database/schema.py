"""The tables of a store, as numbered steps that each database takes alike."""

from __future__ import annotations

from dataclasses import dataclass

from whet.core.database.base import Connection, Database
from whet.core.errors import UsageError


@dataclass(frozen=True, slots=True)
class Migration:
    """One change of the schema.

    Attributes:
        version: of the schema after it.
        statements: what makes it; types in braces are of the database's own.
    """

    version: int
    statements: tuple[str, ...] = ()


STEPS = (
    Migration(
        2,
        (
            "CREATE TABLE runs (id TEXT PRIMARY KEY, command TEXT NOT NULL, target TEXT NOT NULL,"
            " request TEXT NOT NULL, started DOUBLE PRECISION NOT NULL, finished DOUBLE PRECISION, result TEXT)",
            "CREATE TABLE facts (run TEXT NOT NULL, key TEXT NOT NULL, value {blob} NOT NULL,"
            " at DOUBLE PRECISION NOT NULL, PRIMARY KEY (run, key))",
            "CREATE TABLE texts (name {blob} PRIMARY KEY, data {blob} NOT NULL)",
        ),
    ),
    Migration(3),  # values are packed against what they have in common: an older whet cannot read them
    Migration(
        4,
        ("CREATE TABLE results (key {blob} PRIMARY KEY, value {blob} NOT NULL, at DOUBLE PRECISION NOT NULL)",),
    ),
    # Before, these were made by whoever needed them first.
    Migration(
        5,
        (
            "CREATE TABLE IF NOT EXISTS calls (id {id}, run TEXT NOT NULL, key {blob} NOT NULL,"
            " question {blob} NOT NULL, attempt BIGINT NOT NULL, model TEXT NOT NULL, free BIGINT NOT NULL,"
            " role TEXT NOT NULL, sample BIGINT NOT NULL, prompt {blob} NOT NULL, state TEXT NOT NULL, error TEXT,"
            " fatal BIGINT NOT NULL DEFAULT 0, input BIGINT NOT NULL, cache_write BIGINT NOT NULL,"
            " cache_read BIGINT NOT NULL, output BIGINT NOT NULL, usd DOUBLE PRECISION,"
            " at DOUBLE PRECISION NOT NULL, seconds DOUBLE PRECISION, reply {blob}, UNIQUE (run, key, attempt))",
            "CREATE INDEX IF NOT EXISTS calls_by_question ON calls (run, question)",
            "CREATE TABLE IF NOT EXISTS experience (id {id}, run TEXT NOT NULL, language TEXT NOT NULL,"
            " metric TEXT NOT NULL, entry {blob} NOT NULL)",
            "CREATE INDEX IF NOT EXISTS experience_by_run ON experience (run)",
        ),
    ),
    Migration(
        6,
        ("CREATE TABLE baselines (key {blob} PRIMARY KEY, value {blob} NOT NULL, at DOUBLE PRECISION NOT NULL)",),
    ),
)
OLDEST, VERSION = STEPS[0].version, STEPS[-1].version
COMMAND = "whet store migrate"
MOST_NAMED = 3
"""Unfinished runs that the message names; the rest are counted. More only lengthen it."""


def migrate(database: Database, steps: tuple[Migration, ...] = STEPS) -> int:
    """Brings the schema of a database to this version; several processes may do so at once.

    Args:
        database: empty, or a store.
        steps: all changes up to the version that is wanted.

    Returns:
        the version that it had; 0 of an empty one.

    Raises:
        UsageError: no version of whet wrote it, or a newer one did; or it is to be changed while runs are under way.
    """
    wanted = steps[-1].version
    with database.connection() as db:
        if (found := database.version(db)) == wanted:
            return found
    with database.transaction() as db:
        database.alone(db)
        found = database.version(db)
        if found < wanted:
            _expect_ours(database, db, found)
            _expect_idle(database, db, found, wanted)
            for step in steps:
                if step.version > found:
                    for statement in step.statements:
                        db.execute(statement.format_map(database.types))
            database.set_version(db, wanted)
    if found > wanted:
        raise UsageError(
            f"the store {database.name} is of schema {found}, and this whet knows {wanted}: a newer whet wrote it;"
            f" update whet, or {database.elsewhere}"
        )
    return found


def _expect_ours(database: Database, db: Connection, found: int) -> None:
    if 0 < found < OLDEST or (found == 0 and database.tables(db)):
        raise UsageError(
            f"the store {database.name} was written by another version of whet, or by another program;"
            f" move it away, or {database.elsewhere}"
        )


def _expect_idle(database: Database, db: Connection, found: int, wanted: int) -> None:
    """An older whet that works on a run would go on writing rows of its own version."""
    if found == 0:
        return
    unfinished = db.execute("SELECT id FROM runs WHERE finished IS NULL ORDER BY started DESC, id DESC").fetchall()
    busy = [run for (run,) in unfinished if database.is_held(run)]
    if busy:
        named = ", ".join(busy[:MOST_NAMED]) + (f" and {len(busy) - MOST_NAMED} more" if busy[MOST_NAMED:] else "")
        raise UsageError(
            f"the store {database.name} is of schema {found}, this whet needs {wanted}, and an older whet works on"
            f" {named}; once that has ended: {COMMAND}"
        )
