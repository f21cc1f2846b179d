"""The databases that a store can live in: SQLite by default, PostgreSQL where several drivers share one."""

from __future__ import annotations

import os
from pathlib import Path

from whet.core.database.base import Database
from whet.core.database.sqlite import SqliteDatabase
from whet.core.errors import UsageError

VARIABLE = "WHET_STORE"


def open_database(home: Path) -> Database:
    """Opens what ``WHET_STORE`` names, else the SQLite database of a state directory.

    Args:
        home: the state directory; made if need be, for what is of this host has its place there in any case.

    Raises:
        UsageError: it cannot be used; says why in one line, without the password.
    """
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"the state directory {home} cannot be used ({error}); set WHET_HOME") from None
    if not (url := os.environ.get(VARIABLE, "")):
        return SqliteDatabase(home)
    try:
        from whet.core.database.postgres import PostgresDatabase
    except ImportError:
        raise UsageError(
            f"{VARIABLE} names a database that whet's extra is needed for: pip install 'whet[postgres]'"
        ) from None
    return PostgresDatabase(url)
