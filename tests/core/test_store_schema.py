"""A store of another version is migrated, or refused in one line; on both databases."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zlib
from contextlib import closing
from pathlib import Path

import pytest

from whet.core.database import open_database
from whet.core.database.schema import STEPS, VERSION, migrate
from whet.core.errors import UsageError
from whet.core.store import Store

pytestmark = pytest.mark.usefixtures("database")
OLDER = [step.version for step in STEPS[:-1]]


def make(home: Path, version: int, *statements: str) -> None:
    """Leaves a store as a whet of this version left it."""
    with closing(open_database(home)) as database:
        migrate(database, tuple(step for step in STEPS if step.version <= version))
        with database.connection() as db:
            for statement in statements:
                db.execute(statement)


def begun(run: str) -> str:
    return f"INSERT INTO runs (id, command, target, request, started) VALUES ('{run}', 'optimize', 't', '{{}}', 1)"


def version_of(home: Path) -> int:
    with closing(open_database(home)) as database, database.connection() as db:
        return database.version(db)


@pytest.mark.parametrize("version", OLDER)
def test_an_older_store_is_migrated_and_keeps_what_it_holds(tmp_path: Path, version: int) -> None:
    make(tmp_path, version, begun("old"))
    with closing(open_database(tmp_path)) as database, database.connection() as db:
        value = zlib.compress(json.dumps({"a": [1, 2]}).encode())  # as it was before values were packed
        db.execute("INSERT INTO facts (run, key, value, at) VALUES ('old', 'a', :value, 1.0)", {"value": value})
    with closing(Store(tmp_path)) as store:
        assert store.run("old").status == "interrupted"
        store.set_fact("old", "b", {"a": 3})
        assert store.facts("old") == {"a": {"a": [1, 2]}, "b": {"a": 3}}
        assert store.keep_result("ab" * 32, 1) == 1
    assert version_of(tmp_path) == VERSION


def test_a_newer_store_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    make(tmp_path, VERSION)
    with closing(open_database(tmp_path)) as database, database.transaction() as db:
        database.set_version(db, VERSION + 1)
    with pytest.raises(
        UsageError, match=rf"is of schema {VERSION + 1}, and this whet knows {VERSION}: .*; update whet"
    ):
        Store(tmp_path)
    assert version_of(tmp_path) == VERSION + 1


def test_the_database_of_another_program_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    with closing(open_database(tmp_path)) as database, database.connection() as db:
        db.execute("CREATE TABLE runs (id TEXT PRIMARY KEY)")
    with pytest.raises(UsageError, match="another program; move it away, or set WHET_"):
        Store(tmp_path)
    with closing(open_database(tmp_path)) as database, database.connection() as db:
        assert database.tables(db) in (1, 2), "a table, and its index where that is told as one"


def test_a_store_before_the_first_that_is_read_is_refused(tmp_path: Path) -> None:
    with closing(open_database(tmp_path)) as database, database.transaction() as db:
        database.set_version(db, STEPS[0].version - 1)
    with pytest.raises(UsageError, match="another version of whet"):
        Store(tmp_path)


@pytest.mark.corpus
def test_nothing_is_migrated_under_a_run_and_the_command_does_it_afterwards(tmp_path: Path, whet) -> None:
    home = tmp_path / "home"
    make(home, OLDER[-1], begun("busy"), begun("idle"))
    with closing(open_database(home)) as older:
        assert older.hold("busy")
        with pytest.raises(UsageError, match=r"works on busy; once that has ended: whet store migrate$"):
            Store(home)
        refused = whet("store", "migrate")
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
        assert version_of(home) == OLDER[-1]
        older.release("busy")
    done = whet("store", "migrate")
    assert done.stdout.endswith(f"was of schema {OLDER[-1]} and is now of {VERSION}\n")
    assert whet("store", "migrate").stdout.endswith(f"is of schema {VERSION} already\n")
    shown = json.loads(whet("store", "show", "--json").stdout)
    assert (shown["schema"], shown["runs"], shown["running"]) == (VERSION, 2, 0)
    assert shown["bytes"] > 0


@pytest.mark.corpus
def test_several_processes_may_migrate_at_once(tmp_path: Path) -> None:
    make(tmp_path, OLDER[0], begun("old"))
    code = "import sys; from pathlib import Path; from whet.core.store import Store; Store(Path(sys.argv[1])).runs()[0]"
    opened = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], env=os.environ) for _ in range(4)]
    assert [process.wait() for process in opened] == [0] * 4
    assert version_of(tmp_path) == VERSION


def test_a_migration_that_fails_changes_nothing(tmp_path: Path) -> None:
    make(tmp_path, OLDER[0])
    with closing(open_database(tmp_path)) as database, database.connection() as db:
        db.execute("CREATE TABLE results (other TEXT)")  # in the way of a later step
    with pytest.raises(Exception, match="results"):
        Store(tmp_path)
    assert version_of(tmp_path) == OLDER[0]
