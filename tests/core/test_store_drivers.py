"""Drivers with state directories of their own that share a PostgreSQL: what one recorded, the next one goes on from."""

from __future__ import annotations

import signal
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from places import WINNER, Place, in_process, kill, recorded, same

from whet.agents.optimize import replay
from whet.core.errors import UsageError
from whet.core.events import EventKind
from whet.core.store import Store


class Driver(Place):
    """A place whose state directory is this driver's alone."""

    def __init__(self, folder: Path, name: str) -> None:
        super().__init__(folder)
        self.home = folder / name


@pytest.fixture
def shared(monkeypatch, postgres_url):
    """Where all drivers of a test keep their runs."""
    monkeypatch.setenv("WHET_STORE", postgres_url)


def begun(folder: Path, lines: int):
    """Begins a run as driver A, in a process; returns that once it is under way, and holds it there."""
    code = "sys.path.insert(0, str(t.TESTS / 'core')); import test_store_drivers as d; "
    code += "d.Driver(t.Path(sys.argv[1]), 'a').optimize(0.1)"
    process = in_process(code, folder)
    journals = Driver(folder, "a")
    while process.poll() is None and len(journals.lines()) < lines:
        time.sleep(0.002)
    process.send_signal(signal.SIGSTOP)
    assert process.poll() is None, process.communicate()[1]
    return process


def rows(place: Place) -> tuple[set[tuple], set[tuple]]:
    """Returns the replies in the ledger, whole, and the verdicts by name and time."""
    with closing(Store(place.home)) as store, store.connection() as db:
        run = {"run": store.runs()[0].id}
        calls = db.execute("SELECT * FROM calls WHERE run = :run AND state = 'done'", run).fetchall()
        verdicts = db.execute("SELECT key, at FROM facts WHERE run = :run AND key LIKE 'verdict:%'", run).fetchall()
    return {tuple(row) for row in calls}, {tuple(row) for row in verdicts}


@pytest.mark.corpus
@pytest.mark.usefixtures("shared")
def test_a_run_of_a_driver_that_is_killed_is_gone_on_with_by_another(tmp_path, monkeypatch):
    process = begun(tmp_path, 8)
    other = Driver(tmp_path, "b")
    with pytest.raises(UsageError, match="another process"):
        other.resume()
    kill(process)
    replies, evaluations = recorded(other)
    calls, verdicts = rows(other)
    before = Counter(other.lines())
    assert replies
    result = other.resume()
    again = Counter(other.lines()) - before
    assert not replies & again.keys(), "a recorded reply was asked for again"
    assert not evaluations & again.keys(), "a finished evaluation was repeated"
    later_calls, later_verdicts = rows(other)
    assert calls <= later_calls
    assert verdicts <= later_verdicts | {row for row in verdicts if row[0].endswith(":check")}, "but what is said twice"
    assert result.candidate.id == WINNER
    monkeypatch.delenv("WHET_STORE")
    (tmp_path / "whole").mkdir()
    assert same(result, Place(tmp_path / "whole").optimize(), without=("run", "seconds", "task"))


@pytest.mark.usefixtures("shared")
def test_what_one_driver_found_answers_and_judges_for_another(tmp_path):
    one, other = Driver(tmp_path, "a"), Driver(tmp_path, "b")
    first = one.optimize()
    before = one.lines()
    again = replay(first.run, home=other.home)
    assert same(again, first, without=("run", "seconds", "cost"))
    assert other.optimize(model=f"replay:{first.run}").cost.calls == 0
    assert [line for line in one.lines()[len(before) :] if " " not in line] == [], "no model was asked"


@pytest.mark.usefixtures("shared")
def test_one_checkpoint_is_kept_while_a_run_is_under_way_and_none_after_it(tmp_path):
    place, counts = Driver(tmp_path, "a"), []

    def count() -> list[int]:
        with closing(Store(place.home)) as store, store.connection() as db:
            tables = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
            return [db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables]

    place.optimize(listener=lambda event: counts.append(count()) if event.kind is EventKind.ROUND else None)
    assert len(counts) == 3
    assert all(kept == 1 and writes == 0 for kept, _, writes in counts)
    assert max(blobs for _, blobs, _ in counts) <= 12, "of one state"
    assert count() == [0, 0, 0]


@pytest.mark.corpus
@pytest.mark.usefixtures("shared")
def test_a_run_that_is_killed_again_and_again_loses_and_repeats_nothing(tmp_path):
    process = in_process("print(t.kill_at_random(t.Path(sys.argv[1]) / '0', 1))", tmp_path)
    out, error = process.communicate()
    assert process.returncode == 0, error
    assert int(out) >= 2
    assert Place(tmp_path / "0").resume().candidate.id == WINNER
