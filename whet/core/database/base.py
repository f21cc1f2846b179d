"""What a store asks of its database, which it names in one SQL that all of them take.

Statements have named parameters (``:name`` and a mapping), ``ON CONFLICT`` where a row may be there, ``RETURNING`` for
what a database filled in, and nothing of one database alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Protocol

NOTHING: Mapping[str, Any] = MappingProxyType({})


class DatabaseKind(StrEnum):
    """Kinds of databases, as people call them."""

    SQLITE = "SQLite"
    POSTGRESQL = "PostgreSQL"


class Rows(Protocol):
    """What a statement found."""

    def fetchone(self) -> Any:
        """Returns the next row, or None."""

    def fetchall(self) -> Sequence[Any]:
        """Returns all further rows."""

    def __iter__(self) -> Iterator[Any]:
        """Yields them."""


class Connection(Protocol):
    """A connection, given to one thread at a time."""

    def execute(self, sql: str, values: Mapping[str, Any] = NOTHING, /) -> Rows:
        """Runs one statement."""


class Database(Protocol):
    """A database, and the locks on the runs in it. Safe for several threads.

    Attributes:
        kind: what it is.
        name: where it is, for people: without password.
        elsewhere: how to use another one, for people.
        types: the names of column types that differ between databases, by what they hold.
    """

    kind: DatabaseKind
    name: str
    elsewhere: str
    types: Mapping[str, str]

    def connection(self) -> AbstractContextManager[Connection]:
        """Gives the database to one thread at a time; each statement commits by itself.

        Raises:
            StoreError: the database is full, or was lost, meanwhile.
        """

    def transaction(self, on_disk: bool = False) -> AbstractContextManager[Connection]:
        """As `connection`, but all statements become one commit, or none; not within another one.

        Args:
            on_disk: whether the commit, and all before it, outlive a power cut.
        """

    def hold(self, run: str) -> bool:
        """Takes the lock of a run, which ends with this process at the latest; False where it is taken."""

    def release(self, run: str) -> None:
        """Gives back the lock of a run, where this has it."""

    def is_held(self, run: str) -> bool:
        """Tells whether anybody has the lock of a run."""

    def version(self, db: Connection) -> int:
        """Returns the version of the schema; 0 where there is none."""

    def set_version(self, db: Connection, version: int) -> None:
        """Notes the version of the schema."""

    def tables(self, db: Connection) -> int:
        """Returns how many tables there are, whosesoever."""

    def alone(self, db: Connection) -> None:
        """Waits until nobody else changes the schema, and keeps others from it until the end of the transaction."""

    def now(self) -> float:
        """Returns seconds since the epoch by the clock of the database's host."""

    def size(self) -> int:
        """Returns the bytes of all that is stored."""

    def compact(self) -> None:
        """Gives the room of removed rows back to the disk; nothing where the database does so by itself."""

    def close(self) -> None:
        """Ends all connections and gives back all locks."""
