"""Where runs live: a SQLite database and content-addressed texts under the user's state directory.

Everything that a run would need to be resumed or replayed is written here before it is used: verdicts,
profiles, prompts' directives. `facts` are named JSON values of a run; `blobs` are texts named by their hash.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whet.core.errors import UsageError, nearest

SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    id TEXT PRIMARY KEY, command TEXT NOT NULL, target TEXT NOT NULL, request TEXT NOT NULL,
    started REAL NOT NULL, finished REAL, result TEXT
);
CREATE TABLE IF NOT EXISTS facts (
    run TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, at REAL NOT NULL, PRIMARY KEY (run, key)
);
"""


def default_home() -> Path:
    """Returns ``WHET_HOME``, else ``whet`` under the XDG state directory."""
    if home := os.environ.get("WHET_HOME"):
        return Path(home).expanduser()
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "whet"


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One row of the list of runs.

    Attributes:
        id: sortable by time.
        command: optimize or verify.
        target: as the user wrote it.
        request: what is needed to start it again: plain JSON data.
        started: seconds since the epoch.
        finished: seconds since the epoch, or None.
        status: running, interrupted or finished.
        result: the ``whet.result/1`` document once there is one.
    """

    id: str
    command: str
    target: str
    request: Mapping[str, Any]
    started: float
    finished: float | None
    status: str
    result: Mapping[str, Any] | None


class Store:
    """Runs, their facts, and texts by hash. Safe for several threads and processes of one host."""

    def __init__(self, home: Path | None = None) -> None:
        self.home = (home or default_home()).resolve()
        try:
            (self.home / "blobs").mkdir(parents=True, exist_ok=True)
            (self.home / "locks").mkdir(exist_ok=True)
            self._db = sqlite3.connect(self.home / "whet.db", check_same_thread=False, timeout=30, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.executescript(SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise UsageError(f"the state directory {self.home} cannot be used ({error}); set WHET_HOME") from None
        self._lock = threading.RLock()
        self._held: dict[str, int] = {}

    def close(self) -> None:
        """Closes the database and lets go of the runs held by this process."""
        for descriptor in self._held.values():
            os.close(descriptor)
        self._held.clear()
        self._db.close()

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """Gives the database to one thread at a time; each statement commits by itself."""
        with self._lock:
            yield self._db

    # texts

    def put(self, text: str) -> str:
        """Stores a text and returns its SHA-256."""
        data = text.encode("utf-8")
        name = hashlib.sha256(data).hexdigest()
        path = self.home / "blobs" / name[:2] / name[2:]
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            partial = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}")
            partial.write_bytes(data)
            partial.replace(path)
        return name

    def get(self, name: str) -> str:
        """Returns the text with this SHA-256.

        Raises:
            KeyError: no such text is stored.
        """
        try:
            return (self.home / "blobs" / name[:2] / name[2:]).read_bytes().decode("utf-8")
        except FileNotFoundError:
            raise KeyError(name) from None

    # runs

    def begin(self, command: str, target: str, request: Mapping[str, Any]) -> str:
        """Records a new run, held by this process until it is finished or the process ends."""
        run = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(3)}"
        if not self.hold(run):
            raise AssertionError(f"a new run {run} is held already")
        with self.connection() as db:
            db.execute(
                "INSERT INTO runs (id, command, target, request, started) VALUES (?, ?, ?, ?, ?)",
                (run, command, target, json.dumps(request), time.time()),
            )
        return run

    def hold(self, run: str) -> bool:
        """Takes the run's lock for this process; False where another process works on it."""
        path = self.home / "locks" / f"{run}.lock"
        while True:
            descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                return False
            # Who let go of it meanwhile took the file away: a lock on that one keeps nobody out.
            if path.exists() and os.path.samestat(os.fstat(descriptor), path.stat()):
                self._held[run] = descriptor
                return True
            os.close(descriptor)

    def finish(self, run: str, result: Mapping[str, Any]) -> None:
        """Records the result of a run and lets it go."""
        with self.connection() as db:
            db.execute(
                "UPDATE runs SET finished = ?, result = ? WHERE id = ?",
                (time.time(), json.dumps(result), run),
            )
        self.release(run)

    def release(self, run: str) -> None:
        """Lets go of a run that this process held."""
        if (descriptor := self._held.pop(run, None)) is not None:
            (self.home / "locks" / f"{run}.lock").unlink(missing_ok=True)
            os.close(descriptor)

    def runs(self) -> list[RunRecord]:
        """Returns all runs, newest first."""
        with self.connection() as db:
            rows = db.execute("SELECT * FROM runs ORDER BY started DESC, id DESC").fetchall()
        return [self._record(row) for row in rows]

    def run(self, run: str) -> RunRecord:
        """Returns one run.

        Raises:
            UsageError: there is none with this id; names the nearest.
        """
        with self.connection() as db:
            row = db.execute("SELECT * FROM runs WHERE id = ?", (run,)).fetchone()
            if row is None:
                known = [name for (name,) in db.execute("SELECT id FROM runs ORDER BY started DESC LIMIT 1000")]
                raise UsageError(f"no run '{run}' in {self.home}{nearest(run, known)}")
        return self._record(row)

    def _record(self, row: tuple[Any, ...]) -> RunRecord:
        run, command, target, request, started, finished, result = row
        status = "finished" if finished is not None else "running" if self._is_held(run) else "interrupted"
        return RunRecord(
            run,
            command,
            target,
            json.loads(request),
            started,
            finished,
            status,
            json.loads(result) if result else None,
        )

    def _is_held(self, run: str) -> bool:
        if run in self._held:
            return True
        try:
            descriptor = os.open(self.home / "locks" / f"{run}.lock", os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    # facts

    def set_fact(self, run: str, key: str, value: Any) -> None:
        """Stores a JSON value under a name; a later value replaces an earlier one."""
        with self.connection() as db:
            db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?, ?, ?)", (run, key, json.dumps(value), time.time()))

    def fact(self, run: str, key: str) -> Any | None:
        """Returns the value stored under a name, or None."""
        with self.connection() as db:
            row = db.execute("SELECT value FROM facts WHERE run = ? AND key = ?", (run, key)).fetchone()
        return json.loads(row[0]) if row else None

    def facts(self, run: str, prefix: str = "") -> dict[str, Any]:
        """Returns all facts of a run whose names begin with ``prefix``, in the order they came."""
        return {key: value for _, key, value in self.history(run) if key.startswith(prefix)}

    def history(self, run: str) -> list[tuple[float, str, Any]]:
        """Returns (seconds since the epoch, name, value) of all facts of a run, in the order they came."""
        with self.connection() as db:
            rows = db.execute("SELECT at, key, value FROM facts WHERE run = ? ORDER BY at, rowid", (run,)).fetchall()
        return [(at, key, json.loads(value)) for at, key, value in rows]
