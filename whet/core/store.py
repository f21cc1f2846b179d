"""Where runs live: one SQLite database under the user's state directory, or the one that ``WHET_STORE`` names.

Everything that a run would need to be resumed or replayed is written here before it is used: verdicts,
profiles, prompts' directives. `facts` are named JSON values of a run; `texts` are named by their hash. Both are
compressed.

A commit is in the kernel's hands before it returns, or in the server's, so that no kill of a process loses it. It is
on the disk before it returns only within `Store.on_disk`: a power cut may lose the last moments of a run, which are
worked through again, but no reply that anything was built upon. What it leaves is always the state of one moment,
checkpoints included: they stand in the same database.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whet.core.database import open_database
from whet.core.database.base import Connection, DatabaseKind
from whet.core.database.schema import migrate
from whet.core.errors import UsageError, nearest
from whet.core.packed import pack, unpack

RUN = "id, command, target, request, started, finished, result"
BASELINE_SECONDS = 30 * 86400.0
"""For so long what was found of a baseline is used again; then it is found anew."""
TEXT_LEVEL = 3
"""Of zlib: half the time of its default for 7 % more bytes; a round's prompts are its longest texts."""


def new_run() -> str:
    """Returns an id for a run that begins now; ids sort by time."""
    return f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(3)}"


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
    """Runs, their facts, and texts by hash. Safe for several threads and processes.

    Args:
        home: the state directory, for what is of this host, and for the database where ``WHET_STORE`` names none.

    Raises:
        UsageError: the directory or the database cannot be used.
    """

    def __init__(self, home: Path | None = None) -> None:
        self.home = (home or default_home()).resolve()
        self._database = open_database(self.home)
        try:
            migrate(self._database)
        except BaseException:
            self._database.close()
            raise
        self._stored: set[bytes] = set()
        self._waiting: dict[bytes, bytes] | None = None

    def close(self) -> None:
        """Closes the database and lets go of the runs held by this process."""
        self._database.close()

    @property
    def kind(self) -> DatabaseKind:
        """What the database is."""
        return self._database.kind

    @property
    def name(self) -> str:
        """Where the database is, for people: the state directory, or a URL without its password."""
        return self._database.name

    @property
    def size(self) -> int:
        """Bytes of all that is stored."""
        return self._database.size()

    def connection(self) -> AbstractContextManager[Connection]:
        """Gives the database to one thread at a time; each statement commits by itself."""
        return self._database.connection()

    def transaction(self) -> AbstractContextManager[Connection]:
        """Gives the database to one thread whose statements become one commit, or none."""
        return self._transaction(False)

    def on_disk(self) -> AbstractContextManager[Connection]:
        """As `transaction`, but its commit, and all before it, outlive a power cut; not within another one."""
        return self._transaction(True)

    @contextmanager
    def changing(self) -> Iterator[Connection]:
        """As `transaction`, for changes of the tables: nobody else makes any until its end."""
        with self.transaction() as db:
            self._database.alone(db)
            yield db

    @contextmanager
    def _transaction(self, on_disk: bool) -> Iterator[Connection]:
        with self.connection() as outer:
            if self._waiting is not None:
                yield outer
                return
            self._waiting = {}
            try:
                with self._database.transaction(on_disk) as db:
                    yield db
                    # In one order: two drivers that store the same texts the other way round would wait for each other.
                    for name, data in sorted(self._waiting.items()):
                        self._insert(db, name, data)
                self._stored.update(self._waiting)
            finally:
                self._waiting = None

    # texts

    def put(self, text: str) -> str:
        """Stores a text and returns its SHA-256."""
        data = text.encode("utf-8")
        name = hashlib.sha256(data)
        with self.connection() as db:
            if (digest := name.digest()) in self._stored:
                return name.hexdigest()
            if self._waiting is not None:
                if digest not in self._waiting:
                    self._waiting[digest] = zlib.compress(data, TEXT_LEVEL)
            else:
                self._insert(db, digest, zlib.compress(data, TEXT_LEVEL))
                self._stored.add(digest)
        return name.hexdigest()

    def _insert(self, db: Connection, name: bytes, data: bytes) -> None:
        values = {"name": name, "data": data}
        db.execute("INSERT INTO texts (name, data) VALUES (:name, :data) ON CONFLICT (name) DO NOTHING", values)

    def get(self, name: str) -> str:
        """Returns the text with this SHA-256.

        Raises:
            KeyError: no such text is stored.
        """
        digest = bytes.fromhex(name)
        with self.connection() as db:
            data = self._waiting.get(digest) if self._waiting else None
            if data is None:
                row = db.execute("SELECT data FROM texts WHERE name = :name", {"name": digest}).fetchone()
                if row is None:
                    raise KeyError(name)
                data = row[0]
        return zlib.decompress(data).decode("utf-8")

    # results

    def result(self, key: str) -> Any | None:
        """Returns the result of work by its content key, or None."""
        with self.connection() as db:
            row = db.execute("SELECT value FROM results WHERE key = :key", {"key": bytes.fromhex(key)}).fetchone()
        return unpack(row[0]) if row else None

    def keep_result(self, key: str, value: Any) -> Any:
        """Stores the result of work, unless one is there; returns the one that is there then."""
        row = {"key": bytes.fromhex(key), "value": pack(value), "at": time.time()}
        with self.connection() as db:
            db.execute(
                "INSERT INTO results (key, value, at) VALUES (:key, :value, :at) ON CONFLICT (key) DO NOTHING", row
            )
        return self.result(key)

    # baselines

    def baseline(self, key: str) -> Any | None:
        """Returns what an earlier run found of a baseline by its content key; None where that is too old."""
        values = {"key": bytes.fromhex(key), "since": time.time() - BASELINE_SECONDS}
        with self.connection() as db:
            row = db.execute("SELECT value FROM baselines WHERE key = :key AND at > :since", values).fetchone()
        return unpack(row[0]) if row else None

    def keep_baseline(self, key: str, value: Any) -> None:
        """Stores what was found of a baseline, in the place of what was there, and removes what is too old."""
        now = time.time()
        with self.transaction() as db:
            db.execute("DELETE FROM baselines WHERE at <= :since", {"since": now - BASELINE_SECONDS})
            db.execute(
                "INSERT INTO baselines (key, value, at) VALUES (:key, :value, :at)"
                " ON CONFLICT (key) DO UPDATE SET value = excluded.value, at = excluded.at",
                {"key": bytes.fromhex(key), "value": pack(value), "at": now},
            )

    # runs

    def drop_texts(self, names: Iterable[bytes]) -> None:
        """Removes texts by their digests."""
        with self.transaction() as db:
            for name in names:
                db.execute("DELETE FROM texts WHERE name = :name", {"name": name})
                self._stored.discard(name)

    def compact(self) -> None:
        """Gives the room of what was removed back to the disk, where the database does not do so by itself."""
        self._database.compact()

    def begin(self, command: str, target: str, request: Mapping[str, Any], run: str = "") -> str:
        """Records a new run, held by this process until it is finished or the process ends.

        What the run refers to is stored after this, or once more: no collection takes it away from then on.

        Args:
            command: that it is of.
            target: as the user wrote it.
            request: what is needed to start it again.
            run: its id, where that was told before; empty for a new one.
        """
        run = run or new_run()
        if not self.hold(run):
            raise AssertionError(f"a new run {run} is held already")
        values = {"id": run, "command": command, "target": target, "request": json.dumps(request), "at": time.time()}
        with self.connection() as db:
            # While no run was under way, another process may have collected what this one remembers to have stored.
            self._stored.clear()
            db.execute(
                "INSERT INTO runs (id, command, target, request, started)"
                " VALUES (:id, :command, :target, :request, :at)",
                values,
            )
        return run

    def hold(self, run: str) -> bool:
        """Takes the run's lock for this process; False where another process works on it."""
        return self._database.hold(run)

    def now(self) -> float:
        """Returns seconds since the epoch by the store's clock, which all that share the store go by."""
        return self._database.now()

    def finish(self, run: str, result: Mapping[str, Any]) -> None:
        """Records the result of a run and lets it go."""
        with self.connection() as db:
            db.execute(
                "UPDATE runs SET finished = :at, result = :result WHERE id = :run",
                {"at": time.time(), "result": json.dumps(result), "run": run},
            )
        self.release(run)

    def reopen(self, run: str) -> None:
        """Takes back the result of a run, which this process holds and goes on with."""
        with self.connection() as db:
            db.execute("UPDATE runs SET finished = NULL, result = NULL WHERE id = :run", {"run": run})

    def release(self, run: str) -> None:
        """Lets go of a run that this process held."""
        self._database.release(run)

    def runs(self) -> list[RunRecord]:
        """Returns all runs, newest first."""
        with self.connection() as db:
            rows = db.execute(f"SELECT {RUN} FROM runs ORDER BY started DESC, id DESC").fetchall()
        return [self._record(row) for row in rows]

    def run(self, run: str) -> RunRecord:
        """Returns one run.

        Raises:
            UsageError: there is none with this id; names the nearest.
        """
        with self.connection() as db:
            row = db.execute(f"SELECT {RUN} FROM runs WHERE id = :run", {"run": run}).fetchone()
            if row is None:
                known = [name for (name,) in db.execute("SELECT id FROM runs ORDER BY started DESC LIMIT 1000")]
                raise UsageError(f"no run '{run}' in {self.name}{nearest(run, known)}")
        return self._record(row)

    def _record(self, row: tuple[Any, ...]) -> RunRecord:
        run, command, target, request, started, finished, result = row
        status = "finished" if finished is not None else "running" if self._database.is_held(run) else "interrupted"
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

    # facts

    def set_fact(self, run: str, key: str, value: Any) -> None:
        """Stores a JSON value under a name; a later value replaces an earlier one."""
        with self.connection() as db:
            self._set(db, {"run": run, "key": key, "value": pack(value), "at": time.time()})

    def shorten_fact(self, run: str, key: str, value: Any) -> None:
        """Replaces a stored value by a part of it; the fact keeps its time."""
        # A row of its own: shortened in its place, it would leave a page that is nearly empty.
        with self.transaction() as db:
            found = db.execute(
                "DELETE FROM facts WHERE run = :run AND key = :key RETURNING at", {"run": run, "key": key}
            )
            for (at,) in found.fetchall():
                self._set(db, {"run": run, "key": key, "value": pack(value), "at": at})

    def _set(self, db: Connection, values: Mapping[str, Any]) -> None:
        db.execute(
            "INSERT INTO facts (run, key, value, at) VALUES (:run, :key, :value, :at)"
            " ON CONFLICT (run, key) DO UPDATE SET value = excluded.value, at = excluded.at",
            values,
        )

    def drop_fact(self, run: str, key: str) -> None:
        """Forgets a value that another one holds too."""
        with self.connection() as db:
            db.execute("DELETE FROM facts WHERE run = :run AND key = :key", {"run": run, "key": key})

    def fact(self, run: str, key: str) -> Any | None:
        """Returns the value stored under a name, or None."""
        with self.connection() as db:
            found = db.execute("SELECT value FROM facts WHERE run = :run AND key = :key", {"run": run, "key": key})
            row = found.fetchone()
        return unpack(row[0]) if row else None

    def keys(self, run: str) -> set[str]:
        """Returns the names of all facts of a run."""
        with self.connection() as db:
            return {key for (key,) in db.execute("SELECT key FROM facts WHERE run = :run", {"run": run})}

    def facts(self, run: str, prefix: str = "") -> dict[str, Any]:
        """Returns all facts of a run whose names begin with ``prefix``, in the order they came."""
        return {key: value for _, key, value in self.history(run) if key.startswith(prefix)}

    def history(self, run: str) -> list[tuple[float, str, Any]]:
        """Returns (seconds since the epoch, name, value) of all facts of a run, in the order they came."""
        with self.connection() as db:
            rows = db.execute("SELECT at, key, value FROM facts WHERE run = :run ORDER BY at, key", {"run": run})
            return [(at, key, unpack(value)) for at, key, value in rows.fetchall()]
