"""Takes runs out of a store, and the texts that nothing refers to any more."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from whet.core.database.base import Connection
from whet.core.errors import UnaskedError, UsageError
from whet.core.packed import unpack
from whet.core.store import Store

NAME = re.compile(r"[0-9a-f]{64}")
"""A SHA-256 as records write it. Whatever looks like one keeps the text of that name."""


@dataclass(frozen=True, slots=True)
class Collected:
    """What a collection took away.

    Attributes:
        texts: how many.
        bytes: of them, compressed.
        busy: runs under way, on whose account nothing was collected.
    """

    texts: int = 0
    bytes: int = 0
    busy: tuple[str, ...] = ()


def drop_run(store: Store, run: str) -> None:
    """Removes a run with its facts and calls; texts stay."""
    with store.transaction() as db:
        for table, column in (("facts", "run"), ("calls", "run"), ("runs", "id")):
            db.execute(f"DELETE FROM {table} WHERE {column} = :run", {"run": run})


@contextmanager
def dropping_unusable(store: Store, run: str) -> Iterator[None]:
    """Removes a run that was just begun where it turns out that it cannot be done as it was asked for.

    One that has asked a model stays, for that may have cost; so does one that goes on once its model can be asked.
    """
    try:
        yield
    except UnaskedError:
        raise
    except UsageError:
        with store.connection() as db:
            called = db.execute("SELECT 1 FROM calls WHERE run = :run", {"run": run}).fetchone()
        if called is None:
            drop_run(store, run)
            store.release(run)
        raise


def collect_texts(store: Store) -> Collected:
    """Removes the texts that no run, fact, call, result or text that stays refers to.

    Nothing is removed while any run is under way: it may have stored what it has yet to refer to.
    """
    with store.changing() as db:
        if busy := tuple(record.id for record in store.runs() if record.status == "running"):
            return Collected(busy=busy)
        sizes = {bytes(name): size for name, size in db.execute("SELECT name, length(data) FROM texts")}
        unused = sizes.keys() - _used(store, db, sizes.keys())
        store.drop_texts(unused)
    return Collected(len(unused), sum(sizes[name] for name in unused))


def _used(store: Store, db: Connection, known: Iterable[bytes]) -> set[bytes]:
    """Returns the names of all known texts that something refers to, through other texts too."""
    known = set(known)
    used: set[bytes] = set()
    waiting = [name for text in _records(db) for name in _named(text)]
    waiting += [bytes(name) for (name,) in db.execute("SELECT DISTINCT prompt FROM calls")]
    while waiting:
        name = waiting.pop()
        if name in known and name not in used:
            used.add(name)
            waiting += _named(store.get(name.hex()))
    return used


def _records(db: Connection) -> Iterator[str]:
    """Yields what may name texts."""
    for request, result in db.execute("SELECT request, result FROM runs"):
        yield request
        yield result or ""
    for key, value in db.execute("SELECT key, value FROM facts"):
        yield key
        yield json.dumps(unpack(value))
    for table, column in (("results", "value"), ("experience", "entry")):
        for (value,) in db.execute(f"SELECT {column} FROM {table}"):
            yield json.dumps(unpack(value))


def _named(text: str) -> list[bytes]:
    return [bytes.fromhex(name) for name in NAME.findall(text)]
