"""A store in one SQLite file of the state directory, for the processes of one host."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import MappingProxyType

from whet.core.database.base import Connection, DatabaseKind
from whet.core.database.file_locks import FileLocks
from whet.core.errors import StoreError, UsageError

FILE = "whet.db"
BUSY_SECONDS = 30
"""Seconds that a statement waits for another process's lock before it fails with a `StoreError`. A smaller
limit ends runs beside a slow transaction of another, a larger one makes a stuck process slower to report."""
BUSY_PAUSE = 0.01
"""Seconds between two attempts where SQLite itself does not wait. Larger ones make the second process that opens a
new store wait longer, smaller ones spend processor time on asking."""
BROKEN = {
    sqlite3.SQLITE_FULL: "is full",
    sqlite3.SQLITE_BUSY: f"was kept busy by another process for {BUSY_SECONDS} seconds",
    sqlite3.SQLITE_IOERR: "cannot be read or written",
    sqlite3.SQLITE_READONLY: "cannot be written",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened any more",
    sqlite3.SQLITE_CORRUPT: "is damaged",
    sqlite3.SQLITE_NOTADB: "is no database",
}
"""What the database is where SQLite raises these; whatever else it raises is a fault of ours."""


class SqliteDatabase:
    """The database of a state directory; see `whet.core.database.base.Database`.

    Args:
        home: the directory; made if need be.
    """

    kind = DatabaseKind.SQLITE
    elsewhere = "set WHET_HOME"
    types: Mapping[str, str] = MappingProxyType({"blob": "BLOB", "id": "INTEGER PRIMARY KEY"})

    def __init__(self, home: Path) -> None:
        self.name = str(home)
        try:
            self._locks = FileLocks(home / "locks")
            # The plain connection is handed out: it takes named parameters, and a wrapper would cost each statement.
            self._db = sqlite3.connect(home / FILE, check_same_thread=False, timeout=BUSY_SECONDS, isolation_level=None)
            _keep_log_beside(self._db)
            self._db.execute("PRAGMA synchronous=NORMAL")
        except (OSError, sqlite3.Error) as error:
            raise UsageError(f"the state directory {home} cannot be used ({error}); {self.elsewhere}") from None
        self._given = _SharedConnection(self._db, self.name)
        self.hold = self._locks.hold
        self.release = self._locks.release
        self.is_held = self._locks.is_held

    def connection(self) -> AbstractContextManager[Connection]:
        """Gives the database to one thread at a time; each statement commits by itself."""
        return self._given

    @contextmanager
    def transaction(self, on_disk: bool = False) -> Iterator[Connection]:
        """Gives the database to one thread whose statements become one commit, or none."""
        with self._given as db:
            if on_disk:
                db.execute("PRAGMA synchronous=FULL")
            try:
                db.execute("BEGIN IMMEDIATE")
                yield db
                db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # a full disk has ended it already
                    db.execute("ROLLBACK")
                raise
            finally:
                if on_disk:
                    db.execute("PRAGMA synchronous=NORMAL")

    def version(self, db: Connection) -> int:
        """Returns the version of the schema; 0 where there is none."""
        return int(db.execute("PRAGMA user_version").fetchone()[0])

    def set_version(self, db: Connection, version: int) -> None:
        """Notes the version of the schema."""
        db.execute(f"PRAGMA user_version={version}")

    def tables(self, db: Connection) -> int:
        """Returns how many tables there are."""
        return int(db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])

    def alone(self, db: Connection) -> None:
        """Does nothing: whoever writes is alone."""

    def now(self) -> float:
        """Returns seconds since the epoch; all that use the file are on this host."""
        return time.time()

    def size(self) -> int:
        """Returns the bytes of all that is stored."""
        with self.connection() as db:
            pages, page = (int(db.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("page_count", "page_size"))
        return pages * page

    def compact(self) -> None:
        """Writes the file anew without the pages that hold nothing, and empties the log beside it."""
        with self.connection() as db:
            db.execute("VACUUM")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Closes the file and gives back all locks."""
        self._locks.close()
        self._db.close()


def _keep_log_beside(db: sqlite3.Connection) -> None:
    """Has changes written to a log beside the file, so that readers and a writer do not wait for each other.

    SQLite does not wait for a lock here: of processes that open a new file at once all but one would be refused.
    """
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            db.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
        time.sleep(BUSY_PAUSE)


class _SharedConnection:
    """Gives a connection to one thread at a time, and tells in our words what befell it.

    Entered for each statement of a run; hence no generator.
    """

    __slots__ = ("_db", "_lock", "_name")

    def __init__(self, db: sqlite3.Connection, name: str) -> None:
        self._db = db
        self._name = name
        self._lock = threading.RLock()

    def __enter__(self) -> sqlite3.Connection:
        self._lock.acquire()
        return self._db

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._lock.release()
        # The lower byte of a code is the kind of error, the others are details of it; errors of Python's own have none.
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF if isinstance(error, sqlite3.Error) else 0
        if code in BROKEN:
            raise StoreError(f"the store {self._name} {BROKEN[code]} ({error}); what it holds is kept") from None
