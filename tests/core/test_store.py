"""Runs, facts and texts survive, and a run has one holder."""

from __future__ import annotations

import fcntl
import hashlib
import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from driving import until
from hypothesis import given
from hypothesis import strategies as st

from whet.core.errors import UsageError
from whet.core.packed import pack, unpack
from whet.core.store import Store

pytestmark = pytest.mark.usefixtures("database")

HOLD = """
import sys, time
from pathlib import Path
from whet.core.store import Store
store = Store(Path(sys.argv[1]))
print(store.begin("optimize", "t", {}), flush=True)
time.sleep(60)
"""


def test_texts_keep_their_exact_bytes(tmp_path: Path) -> None:
    store = Store(tmp_path)
    text = "a\r\nb\x0c\u2028é"
    assert store.get(store.put(text)) == text
    assert store.put(text) == store.put(text)
    with pytest.raises(KeyError):
        store.get("0" * 64)


def test_facts_come_back_in_order_and_the_last_value_counts(tmp_path: Path) -> None:
    store = Store(tmp_path)
    run = store.begin("optimize", "t", {"a": 1})
    store.set_fact(run, "verdict:b", {"n": 1})
    store.set_fact(run, "verdict:a", [1])
    store.set_fact(run, "other", None)
    store.set_fact(run, "other", 2)
    assert list(store.facts(run, "verdict:")) == ["verdict:b", "verdict:a"]
    assert store.fact(run, "other") == 2
    assert store.fact(run, "missing") is None


def test_a_run_goes_from_running_to_finished(tmp_path: Path) -> None:
    store = Store(tmp_path)
    run = store.begin("verify", "t", {})
    assert store.run(run).status == "running"
    store.finish(run, {"status": "improved"})
    record = Store(tmp_path).run(run)
    assert record.status == "finished"
    assert record.result == {"status": "improved"}
    assert not list(tmp_path.glob("locks/*"))


def test_a_killed_run_is_interrupted_and_can_be_held_by_another(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    run = process.stdout.readline().strip()
    store = Store(tmp_path)
    try:
        assert store.run(run).status == "running"
        assert not store.hold(run)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    until(lambda: store.run(run).status != "running")  # a server is told by the kernel that the session has ended
    assert store.run(run).status == "interrupted"
    assert store.hold(run)
    assert not Store(tmp_path).hold(run)
    store.release(run)
    assert Store(tmp_path).hold(run)


def test_who_looks_whether_a_run_is_held_keeps_nobody_from_holding_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looking, resuming = Store(tmp_path), Store(tmp_path)
    run = looking.begin("optimize", "t", {})
    looking.release(run)
    (tmp_path / "locks").mkdir(exist_ok=True)
    (tmp_path / "locks" / f"{run}.lock").touch()  # as a run that was killed leaves it
    held = []
    ask, take = fcntl.fcntl, fcntl.flock

    def looked(call: Callable[..., object]) -> Callable[..., object]:
        def inner(*words: object) -> object:
            answer = call(*words)
            if not held:
                held.append(False)  # the calls of `hold` are not looked at
                held.append(resuming.hold(run))
            return answer

        return inner

    monkeypatch.setattr(fcntl, "fcntl", looked(ask))
    monkeypatch.setattr(fcntl, "flock", looked(take))
    status = looking.run(run).status
    monkeypatch.undo()
    assert status in ("running", "interrupted")
    if (tmp_path / "whet.db").exists():  # the other kind of database has no files to lock
        assert held == [False, True]
    assert looking.run(run).status == ("running" if held else "interrupted")
    for store in (looking, resuming):
        store.close()


def test_an_unknown_run_names_the_nearest(tmp_path: Path) -> None:
    store = Store(tmp_path)
    run = store.begin("optimize", "t", {})
    with pytest.raises(UsageError, match=f"did you mean '{run}'"):
        store.run(run[:-1])


@pytest.mark.corpus
def test_several_processes_may_make_the_database_at_once(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from whet.core.store import Store; Store(Path(sys.argv[1])).put('x')"
    made = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)]) for _ in range(4)]
    assert [process.wait() for process in made] == [0] * 4


def test_a_shortened_fact_keeps_its_time(tmp_path: Path) -> None:
    store = Store(tmp_path)
    run = store.begin("optimize", "t", {})
    for key in ("a", "b"):
        store.set_fact(run, key, {"raw": [1, 2, 3], "n": key})
    before = store.history(run)
    store.shorten_fact(run, "a", {"n": "a"})
    assert [(at, key) for at, key, _ in store.history(run)] == [(at, key) for at, key, _ in before]
    assert store.fact(run, "a") == {"n": "a"}


def test_a_transaction_is_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    store = Store(tmp_path)
    run = store.begin("optimize", "t", {})

    def fail() -> None:
        with store.transaction():
            store.set_fact(run, "a", 1)
            store.put("lost")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    lost = hashlib.sha256(b"lost").hexdigest()
    assert store.fact(run, "a") is None
    with pytest.raises(KeyError):
        store.get(lost)
    with store.transaction(), store.transaction():
        store.set_fact(run, "a", 2)
        assert store.put("lost") == lost
    other = Store(tmp_path)
    assert (other.fact(run, "a"), other.get(lost)) == (2, "lost")


def test_only_what_must_outlive_a_power_cut_waits_for_the_disk(tmp_path: Path, database: str) -> None:
    store = Store(tmp_path)
    question, weak, strong = {
        "sqlite": ("PRAGMA synchronous", 1, 2),
        "postgresql": ("SHOW synchronous_commit", "off", "on"),
    }[database]

    def level() -> object:
        with store.connection() as db:
            return db.execute(question).fetchone()[0]

    assert level() == weak
    with store.on_disk() as db:
        assert db.execute(question).fetchone()[0] == strong
    assert level() == weak
    store.close()


def test_what_is_stored_is_small_and_comes_back() -> None:
    hexadecimal = "".join(random.Random(1).choices("0123456789abcdef", k=64))
    rung = {"name": "screen", "status": "passed", "reason": None, "detail": "", "seconds": 0.25, "evidence": {}}
    for value in (None, "", "é\u2028", {"candidate": hexadecimal, "rungs": [rung] * 3, "measurement": None}):
        assert unpack(pack(value)) == value
    verdict = {"candidate": hexadecimal, "rungs": [rung] * 8, "measurement": None}
    assert len(pack(verdict)) < len(json.dumps(verdict)) / 4


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
"""JSON values, with infinities and NaN."""


@given(VALUES)
def test_any_json_value_comes_back_as_it_was(value: object) -> None:
    assert repr(unpack(pack(value))) == repr(value)


def test_half_of_a_surrogate_pair_comes_back() -> None:
    assert unpack(pack({"detail": "\ud800 and \u00e9"})) == {"detail": "\ud800 and \u00e9"}


def test_the_first_result_of_equal_work_stays(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.result("ab" * 32) is None
    assert store.keep_result("ab" * 32, {"a": 1}) == {"a": 1}
    assert store.keep_result("ab" * 32, {"a": 2}) == {"a": 1} == store.result("ab" * 32)
    store.close()
