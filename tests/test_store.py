"""Runs, facts and texts survive, and a run has one holder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from whet.core.errors import UsageError
from whet.core.store import Store

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
    assert not list((tmp_path / "locks").iterdir())


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
    assert store.run(run).status == "interrupted"
    assert store.hold(run)
    assert not Store(tmp_path).hold(run)
    store.release(run)
    assert Store(tmp_path).hold(run)


def test_an_unknown_run_names_the_nearest(tmp_path: Path) -> None:
    store = Store(tmp_path)
    run = store.begin("optimize", "t", {})
    with pytest.raises(UsageError, match=f"did you mean '{run}'"):
        store.run(run[:-1])


def test_a_state_directory_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="WHET_HOME"):
        Store(tmp_path / "file")
