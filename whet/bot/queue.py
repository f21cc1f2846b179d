"""The durable queue: what was accepted, how far it is, and what was posted. One SQLite database.

A delivery is on the disk before it is acknowledged. A job is `queued`, `running`, or ended. Whoever starts on the
queue of a process that is gone puts its running jobs back: what they found and posted stands here, so that they go on
where they were. An intent to post is written before the post: after a kill in between, whoever goes on looks on GitHub
for the post's marker first.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from whet.bot.request import WORK, DeliveryPlan, Request, Withdrawal
from whet.core.errors import UsageError
from whet.core.plain import from_plain, to_plain

LAYOUT = 1
SCHEMA = """
CREATE TABLE deliveries (id TEXT PRIMARY KEY, at REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY, origin TEXT NOT NULL UNIQUE, repository TEXT NOT NULL, number INTEGER NOT NULL,
    installation INTEGER, head TEXT, work INTEGER NOT NULL, request TEXT NOT NULL, state TEXT NOT NULL,
    note TEXT NOT NULL DEFAULT '', attempts INTEGER NOT NULL DEFAULT 0, due REAL NOT NULL, at REAL NOT NULL,
    owner INTEGER, cancelled TEXT
);
CREATE INDEX waiting ON jobs (state, due);
CREATE INDEX places ON jobs (repository, number);
CREATE TABLE facts (job INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (job, key)) WITHOUT ROWID;
CREATE TABLE posts (key TEXT PRIMARY KEY, remote TEXT) WITHOUT ROWID;
CREATE TABLE pauses (installation INTEGER PRIMARY KEY, until REAL NOT NULL);
"""
MOST_WAITING = 200
"""Jobs of one repository that may wait; further ones are refused, lest one repository fill the queue of all."""


class JobState(StrEnum):
    """How far a job is."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    WITHDRAWN = "withdrawn"
    REFUSED = "refused"


OPEN = (JobState.QUEUED, JobState.RUNNING)


@dataclass(frozen=True, slots=True)
class QueuedJob:
    """A request and how far it is.

    Attributes:
        id: counts up.
        request: what is to be done.
        state: how far it is.
        note: why it ended or waits, in one line.
        attempts: how often it was begun and failed.
        at: when it was accepted, seconds since the epoch.
    """

    id: int
    request: Request
    state: JobState
    note: str
    attempts: int
    at: float


class Queue:
    """The queue under a folder. Safe for several threads and processes of one host."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._db = sqlite3.connect(folder / "queue.db", check_same_thread=False, timeout=30, isolation_level=None)
            self._lock = threading.RLock()
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            with self._writing() as db:
                layout = db.execute("PRAGMA user_version").fetchone()[0]
                if layout == 0:
                    for statement in SCHEMA.split(";"):
                        db.execute(statement)
                    db.execute(f"PRAGMA user_version={LAYOUT}")
        except (OSError, sqlite3.Error) as error:
            raise UsageError(f"the bot's queue in {folder} cannot be used ({error}); set WHET_HOME") from None
        if layout not in (0, LAYOUT):
            raise UsageError(f"the bot's queue in {folder} was written by another whet; set WHET_HOME")

    def close(self) -> None:
        """Closes the database."""
        self._db.close()

    # what comes in

    def accept(self, deliveries: Sequence[tuple[str, DeliveryPlan]]) -> None:
        """Stores deliveries in one commit, on the disk once this returns; those that are known already do nothing.

        Args:
            deliveries: each one's id and what it comes to. The id is not covered by a signature: a replay under
                another one is known by its origin.
        """
        with self._writing() as db:
            for delivery, order in deliveries:
                new = db.execute("INSERT OR IGNORE INTO deliveries VALUES (?, ?)", (delivery, time.time()))
                if new.rowcount:
                    for withdrawal in order.withdrawals:
                        self._withdraw(db, withdrawal)
                    if order.request is not None:
                        self._enqueue(db, order.request)

    def _enqueue(self, db: sqlite3.Connection, request: Request) -> None:
        waiting = db.execute(
            "SELECT count(*) FROM jobs WHERE repository = ? AND state = ?", (request.repository, JobState.QUEUED)
        ).fetchone()[0]
        full = waiting >= MOST_WAITING
        now = time.time()
        db.execute(
            "INSERT OR IGNORE INTO jobs (origin, repository, number, installation, head, work, request, state, note,"
            " due, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                request.origin,
                request.repository,
                request.number,
                request.installation,
                request.head,
                request.kind in WORK,
                json.dumps(to_plain(request)),
                JobState.REFUSED if full else JobState.QUEUED,
                f"{MOST_WAITING} jobs of the repository wait already" if full else "",
                now,
                now,
            ),
        )

    def withdraw(self, withdrawal: Withdrawal, besides: int | None = None) -> int:
        """Ends the work that matches: what waits at once, what runs as soon as it notices. Returns how many jobs.

        Args:
            withdrawal: which work, and why.
            besides: a job that is left alone.
        """
        with self._writing() as db:
            return self._withdraw(db, withdrawal, besides)

    def _withdraw(self, db: sqlite3.Connection, withdrawal: Withdrawal, besides: int | None = None) -> int:
        asked = {name: getattr(withdrawal, name) for name in ("installation", "repository", "number", "head")}
        given = {name: value for name, value in asked.items() if value is not None}
        where = "".join(f" AND {name} = ?" for name in given) + " AND id IS NOT ?"
        values = (*given.values(), besides)
        ended = db.execute(
            f"UPDATE jobs SET state = ?, note = ? WHERE state = ? AND work{where}",
            (JobState.WITHDRAWN, withdrawal.why, JobState.QUEUED, *values),
        )
        told = db.execute(
            f"UPDATE jobs SET cancelled = ? WHERE state = ? AND work{where}",
            (withdrawal.why, JobState.RUNNING, *values),
        )
        return ended.rowcount + told.rowcount

    # what is worked on

    def claim(self, owner: int, *, work: bool | None = None) -> QueuedJob | None:
        """Takes the oldest job that is due; never two that work on one pull request.

        Args:
            owner: the process that takes it.
            work: only those that run code, or only those that do not; None takes both.
        """
        with self._writing() as db:
            row = db.execute(
                "SELECT id FROM jobs AS mine WHERE state = :queued AND due <= :now AND (:work IS NULL OR work = :work)"
                " AND NOT EXISTS (SELECT 1 FROM pauses WHERE installation = mine.installation AND until > :now)"
                " AND NOT (work AND EXISTS (SELECT 1 FROM jobs WHERE state = :running AND work"
                " AND repository = mine.repository AND number = mine.number)) ORDER BY work, id LIMIT 1",
                {"queued": JobState.QUEUED, "running": JobState.RUNNING, "now": time.time(), "work": work},
            ).fetchone()
            if row is None:
                return None
            db.execute("UPDATE jobs SET state = ?, owner = ? WHERE id = ?", (JobState.RUNNING, owner, row[0]))
            return self._jobs(db, "id = ?", row[0])[0]

    def finish(self, job: int, state: JobState, note: str = "") -> None:
        """Ends a job."""
        with self._writing() as db:
            db.execute("UPDATE jobs SET state = ?, note = ?, owner = NULL WHERE id = ?", (state, note, job))

    def postpone(self, job: QueuedJob, seconds: float, why: str, *, pause: bool = False) -> None:
        """Puts a job back for later.

        Args:
            job: was claimed.
            seconds: until it is due again.
            why: one line.
            pause: let all jobs of its installation wait as long.
        """
        until = time.time() + seconds
        with self._writing() as db:
            db.execute(
                "UPDATE jobs SET state = ?, note = ?, due = ?, owner = NULL, attempts = attempts + 1 WHERE id = ?",
                (JobState.QUEUED, why, until, job.id),
            )
            if pause and job.request.installation is not None:
                db.execute("INSERT OR REPLACE INTO pauses VALUES (?, ?)", (job.request.installation, until))

    def recover(self, owner: int | None = None) -> int:
        """Puts back what a process left that is gone: one worker's jobs, or all. Returns how many."""
        with self._writing() as db:
            left = db.execute(
                "UPDATE jobs SET state = CASE WHEN cancelled IS NULL THEN ? ELSE ? END, owner = NULL,"
                " note = coalesce(cancelled, ''), attempts = attempts + 1 WHERE state = ? AND (? IS NULL OR owner = ?)",
                (JobState.QUEUED, JobState.WITHDRAWN, JobState.RUNNING, owner, owner),
            )
            return left.rowcount

    def cancelled(self, job: int) -> str | None:
        """Returns why a running job should end, if it should."""
        with self._lock:
            row = self._db.execute("SELECT cancelled FROM jobs WHERE id = ?", (job,)).fetchone()
        return None if row is None else row[0]

    # what is known of a job, and what was posted

    def fact(self, job: int, key: str) -> Any:
        """Returns what was stored under a name, or None."""
        with self._lock:
            row = self._db.execute("SELECT value FROM facts WHERE job = ? AND key = ?", (job, key)).fetchone()
        return None if row is None else json.loads(row[0])

    def set_fact(self, job: int, key: str, value: Any) -> None:
        """Stores plain JSON data."""
        with self._writing() as db:
            db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?, ?)", (job, key, json.dumps(value)))

    def intend(self, key: str) -> bool:
        """Notes that something is about to be posted; returns whether that had been noted before."""
        with self._writing() as db:
            return db.execute("INSERT OR IGNORE INTO posts VALUES (?, NULL)", (key,)).rowcount == 0

    def posted(self, key: str) -> str | None:
        """Returns GitHub's name for what was posted under a key, once it is known."""
        with self._lock:
            row = self._db.execute("SELECT remote FROM posts WHERE key = ?", (key,)).fetchone()
        return None if row is None else row[0]

    def set_posted(self, key: str, remote: str) -> None:
        """Notes what GitHub calls a post."""
        with self._writing() as db:
            db.execute("INSERT OR REPLACE INTO posts VALUES (?, ?)", (key, remote))

    # what there is

    def jobs_at(self, repository: str, number: int) -> list[QueuedJob]:
        """Returns the jobs of a pull request, newest first."""
        with self._lock:
            return self._jobs(self._db, "repository = ? AND number = ?", repository, number)

    def counts(self) -> dict[str, Any]:
        """Returns how many deliveries were stored, and how many jobs are in each state."""
        with self._lock:
            deliveries = self._db.execute("SELECT count(*) FROM deliveries").fetchone()[0]
            states = dict(self._db.execute("SELECT state, count(*) FROM jobs GROUP BY state").fetchall())
        return {"deliveries": deliveries, "jobs": {state.value: states.get(state.value, 0) for state in JobState}}

    def _jobs(self, db: sqlite3.Connection, where: str, *values: Any) -> list[QueuedJob]:
        rows = db.execute(
            f"SELECT id, request, state, note, attempts, at FROM jobs WHERE {where} ORDER BY id DESC LIMIT 50", values
        )
        return [
            QueuedJob(id, from_plain(Request, json.loads(request)), JobState(state), *rest)
            for id, request, state, *rest in rows.fetchall()
        ]

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Gives the database to one thread whose statements become one commit, or none."""
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")
