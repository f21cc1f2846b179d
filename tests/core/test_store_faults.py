"""A database that cannot be opened, is full, or goes away: one clear line, no password, and no second driver."""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from pathlib import Path

import pytest

from whet.core.database.sqlite import FILE, SqliteDatabase
from whet.core.errors import StoreError, UsageError
from whet.core.store import Store
from whet.testing.postgres import PASSWORD

SECRET = "hard2guess"
FORM = r"postgresql://USER:PASSWORD@HOST:PORT/DATABASE"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (f"mysql://u:{SECRET}@host/db", f"a mysql database; whet takes {FORM}"),
        (f"u:{SECRET}@host/db", "no URL of a database"),
        (f"postgresql://u:{SECRET}@host", f"not of the form {FORM}"),
        (f"postgresql://u:{SECRET}@host:port/db", f"not of the form {FORM}"),
        (f"postgresql://u:a@{SECRET}/db", "not of the form|cannot be opened"),
        (f"postgresql://u:a@{SECRET}@host/db", "write @, / and : of a password as %40"),
        (f"postgresql://u:{SECRET}@127.0.0.1:1/db", "postgresql://127.0.0.1:1/db cannot be opened .*refused"),
        (f"postgresql://u:{SECRET}@127.0.0.1:1/db?sslmod=on", "cannot be opened .*sslmod"),
    ],
)
def test_what_no_store_is_at_is_one_line_without_the_password(tmp_path: Path, monkeypatch, url: str, said: str) -> None:
    monkeypatch.setenv("WHET_STORE", url)
    with pytest.raises(UsageError, match=said) as caught:
        Store(tmp_path)
    line = str(caught.value)
    assert "\n" not in line
    assert SECRET not in line or url.endswith(f"@{SECRET}/db"), "a host is told"


@pytest.mark.corpus
def test_a_server_that_refuses_is_told_in_its_own_words(tmp_path: Path, postgres, postgres_url: str, whet) -> None:
    cases = {
        postgres_url.replace(PASSWORD, SECRET): "password authentication failed",
        postgres.url("nowhere"): 'database "nowhere" does not exist',
        postgres.url(user="nobody", password=SECRET): "password authentication failed",
    }
    for url, said in cases.items():
        done = whet("runs", "list", "--debug", WHET_STORE=url)
        assert done.returncode == 2
        assert said in done.stderr.splitlines()[-1]
        assert done.stderr.splitlines()[-1].startswith("error: the store postgresql://127.0.0.1:")
        assert PASSWORD not in done.stderr
        assert SECRET not in done.stderr


def test_a_user_who_may_make_no_tables_is_told_so(tmp_path: Path, monkeypatch, postgres, postgres_url: str) -> None:
    postgres.run(f"CREATE ROLE reader LOGIN PASSWORD '{SECRET}'")
    name = postgres_url.rsplit("/", 1)[1]
    monkeypatch.setenv("WHET_STORE", postgres.url(name, user="reader", password=SECRET))
    try:
        with pytest.raises(StoreError, match=f"{name} .*permission denied"):
            Store(tmp_path)
    finally:
        postgres.run("DROP ROLE reader")


def test_a_password_file_may_hold_the_password(tmp_path: Path, monkeypatch, postgres_url: str) -> None:
    secret = tmp_path / "pgpass"
    secret.write_text(f"127.0.0.1:*:*:whet:{PASSWORD}\n")
    secret.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(secret))
    monkeypatch.setenv("WHET_STORE", postgres_url.replace(f":{PASSWORD}@", "@"))
    store = Store(tmp_path / "home")
    assert store.get(store.put("a")) == "a"
    assert PASSWORD not in store.name
    store.close()


def test_a_new_file_that_another_process_is_making_is_waited_for(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as maker:
        maker.execute("BEGIN IMMEDIATE")
        with ThreadPoolExecutor(1) as pool:
            opening = pool.submit(lambda: SqliteDatabase(tmp_path).close())
            refused, _ = wait([opening], timeout=0.2)
            maker.execute("COMMIT")
            assert not refused
            opening.result()


@pytest.mark.parametrize("text", ["PRAGMA journal_mode", "hello, I am a text\n" * 100])
def test_a_directory_that_is_none_or_holds_no_database_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "whet.db").write_text(text)
    for place in (tmp_path / "file", tmp_path):
        with pytest.raises(UsageError, match=f"{place} cannot be used .*; set WHET_HOME"):
            Store(place)


# full


def fill(store: Store) -> list[str]:
    """Stores texts until there is no place for one; returns the hashes of those that were."""
    rng = random.Random(1)
    stored: list[str] = []

    def put_all() -> None:
        for _ in range(200):
            stored.append(store.put(rng.randbytes(200_000).hex()))

    with pytest.raises(StoreError, match=r"is full \(.*\); what it holds is kept$"):
        put_all()
    return stored


def test_a_full_disk_under_sqlite_is_one_line_and_loses_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.connection() as db:
        db.execute("PRAGMA max_page_count = 500")
    stored = fill(store)
    assert stored
    with pytest.raises(StoreError, match="is full"), store.on_disk():
        store.put(random.Random(2).randbytes(2_000_000).hex())
    with store.connection() as db:
        db.execute("PRAGMA max_page_count = 100000")
    assert all(store.get(name) for name in stored)
    assert store.put("more") == store.put("more")
    store.close()


@pytest.fixture
def small_folder(postgres, monkeypatch):
    """The file system, of 24 MB, on which the database of the store is."""
    folder = Path(tempfile.mkdtemp(prefix="whet-small-"))
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=24m", "small", folder], check=False, capture_output=True
    )
    if mounted.returncode != 0:
        folder.rmdir()
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        shutil.chown(folder, *(value for value in (postgres.folder.owner(), postgres.folder.group())))
        postgres.run(f"CREATE TABLESPACE small LOCATION '{folder}'")
        postgres.run("CREATE DATABASE small TEMPLATE template0 TABLESPACE small")
        try:
            monkeypatch.setenv("WHET_STORE", postgres.url("small"))
            yield folder
        finally:
            postgres.drop(postgres.url("small"))
            postgres.run("DROP TABLESPACE small")
    finally:
        subprocess.run(["umount", folder], check=True)
        folder.rmdir()


@pytest.mark.corpus
def test_a_full_disk_under_postgresql_is_one_line_and_loses_nothing(tmp_path: Path, small_folder: Path) -> None:
    store = Store(tmp_path)
    run = store.begin("optimize", "t", {})
    stored = fill(store)
    assert stored
    # Of a full disk PostgreSQL reads only what it need not write down first to make room for it in memory.
    subprocess.run(["mount", "-o", "remount,size=64m", small_folder], check=True)
    assert all(store.get(name) for name in stored)
    assert store.run(run).status == "running", "a full disk ends no session"
    store.close()


# lost


def sessions(postgres, url: str) -> None:
    """Ends all sessions of a database, as a server does that goes down."""
    name = url.rsplit("/", 1)[1]
    postgres.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")


def test_a_driver_that_lost_its_hold_writes_nothing_more(tmp_path: Path, monkeypatch, postgres, postgres_url) -> None:
    monkeypatch.setenv("WHET_STORE", postgres_url)
    store, other = Store(tmp_path / "a"), Store(tmp_path / "b")
    run = store.begin("optimize", "t", {})
    store.set_fact(run, "a", 1)
    assert not other.hold(run)
    sessions(postgres, postgres_url)
    assert other.run(run).status == "interrupted", "who holds nothing is connected again"
    assert other.hold(run)
    for _ in range(2):
        with pytest.raises(StoreError, match=f"was lost .*, and with it the hold on {run}: another driver may go on"):
            store.set_fact(run, "a", 2)
        with pytest.raises(StoreError, match="was lost"), store.transaction():
            raise AssertionError("nothing is begun")
    store.close()
    assert other.fact(run, "a") == 1
    other.close()


def test_a_hold_that_is_lost_within_a_transaction_undoes_it(
    tmp_path: Path, monkeypatch, postgres, postgres_url
) -> None:
    monkeypatch.setenv("WHET_STORE", postgres_url)
    store, other = Store(tmp_path / "a"), Store(tmp_path / "b")
    run = store.begin("optimize", "t", {})

    def write() -> None:
        with store.on_disk():
            store.set_fact(run, "a", 1)
            sessions(postgres, postgres_url)
            store.set_fact(run, "b", 1)

    with pytest.raises(StoreError, match="was lost"):
        write()
    assert other.facts(run) == {}
    store.close()
    other.close()


def test_a_release_keeps_the_other_runs_held(tmp_path: Path, monkeypatch, postgres_url: str) -> None:
    monkeypatch.setenv("WHET_STORE", postgres_url)
    store, other = Store(tmp_path), Store(tmp_path)
    runs = [store.begin("optimize", "t", {}) for _ in range(2)]
    assert not store.hold(runs[0]), "it is held already"
    store.finish(runs[0], {"status": "improved"})
    assert other.hold(runs[0])
    assert not other.hold(runs[1])
    store.close()
    assert other.hold(runs[1])
    other.close()


@pytest.mark.corpus(one_in=8)
def test_what_a_closed_store_held_is_free_at_once(tmp_path: Path, monkeypatch, postgres_url: str) -> None:
    monkeypatch.setenv("WHET_STORE", postgres_url)
    with closing(Store(tmp_path)) as other:
        for _ in range(100):  # a server that is busy takes its time to notice that a session has ended
            store = Store(tmp_path)
            run = store.begin("optimize", "t", {})
            store.close()
            assert other.hold(run)
            other.release(run)


def test_drivers_that_store_the_same_texts_in_any_order_wait_for_nobody_for_ever(
    tmp_path: Path, monkeypatch, postgres_url: str
) -> None:
    monkeypatch.setenv("WHET_STORE", postgres_url)
    failed: list[BaseException] = []
    together = threading.Barrier(2)

    def work(step: int) -> None:
        store = Store(tmp_path)
        try:
            for turn in range(20):
                together.wait(20)
                with store.transaction():
                    for number in range(10)[::step]:
                        store.put(f"text {turn} {number}")
        except BaseException as error:
            failed.append(error)
        finally:
            store.close()

    threads = [threading.Thread(target=work, args=(step,)) for step in (1, -1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failed == []
