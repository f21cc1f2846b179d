"""What an earlier run found of a baseline is used again, as long as nothing that it follows from has changed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from whet.core.config import Options
from whet.core.errors import BaselineError
from whet.core.events import Event
from whet.core.store import BASELINE_SECONDS, Store
from whet.evaluators import known_baselines, ladder
from whet.evaluators.ladder import Ladder, open_ladder
from whet.evaluators.targets import read_task

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

SOURCE = "def double(items: list[int]) -> list[int]:\n    return [2 * item for item in items]\n"
WORKLOAD = """\
sizes = [4, 20]
def make_input(size, rng):
    return ([rng.randrange(size) for _ in range(size)],)
"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store(tmp_path / "home")) as made:
        yield made


@pytest.fixture
def target(tmp_path: Path) -> Path:
    (tmp_path / "slow.py").write_text(SOURCE)
    (tmp_path / "workload.py").write_text(WORKLOAD)
    return tmp_path / "slow.py"


def validated(target: Path, store: Store | None, told: list[Event] | None = None) -> Ladder:
    """Returns a closed ladder with a validated baseline."""
    options = Options(workload=target.with_name("workload.py"), until="differential", sandbox="bubblewrap")
    heard = [] if told is None else told
    task = read_task(f"{target}::double", options)
    with closing(open_ladder(task, options, 1, heard.append, store=store)) as opened:
        opened.validate()
        return opened


@pytest.fixture
def examined(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows by one with each baseline that is examined."""
    made: list[str] = []

    def examine(*given, **more):
        made.append("examined")
        return known_examine(*given, **more)

    known_examine = ladder.examine
    monkeypatch.setattr(ladder, "examine", examine)
    return made


def changed(store: Store, **columns: object) -> None:
    with store.connection() as db:
        for column, value in columns.items():
            db.execute(f"UPDATE baselines SET {column} = :value", {"value": value})


def test_the_second_run_does_not_validate_it_again_and_says_so(target, store, examined) -> None:
    told: list[Event] = []
    first, second = validated(target, store), validated(target, store, told)
    assert len(examined) == 1
    assert second.baseline.costs == first.baseline.costs
    assert second.baseline.sizes == first.baseline.sizes
    assert second.baseline.nulls == first.baseline.nulls
    assert first.baseline.validated == ""
    assert f"the baseline is as it was validated at {second.baseline.validated}" in [event.text for event in told]


def test_evidence_says_when_it_was_validated(target, store) -> None:
    options = Options(workload=target.with_name("workload.py"), until="differential", sandbox="bubblewrap")
    said = []
    for _ in range(2):
        with closing(open_ladder(read_task(f"{target}::double", options), options, 1, store=store)) as opened:
            opened.validate()
            said.append(opened.provenance(store.put).validated)
    assert said[0] == ""
    assert said[1].startswith("20")


def test_without_a_store_it_is_found_anew(target, store, examined) -> None:
    validated(target, store)
    validated(target, None)
    assert len(examined) == 2


@pytest.mark.parametrize("file", ["slow.py", "workload.py"])
def test_another_target_or_workload_is_another_baseline(target, store, examined, file) -> None:
    validated(target, store)
    path = target.with_name(file)
    path.write_text(f"{path.read_text()}# changed\n")
    validated(target, store)
    assert len(examined) == 2


@pytest.mark.parametrize("name", ["machine", "toolchain", "tools"])
def test_another_machine_interpreter_or_version_is_another_baseline(target, store, examined, monkeypatch, name) -> None:
    validated(target, store)
    other = {
        "machine": lambda: replace(before(), cpu="another"),
        "toolchain": lambda *given: replace(before(*given), packages={"numpy": "0.1"}),
        "tools": lambda: {**before(), "harness": "another"},
    }
    before = getattr(known_baselines, name)
    monkeypatch.setattr(known_baselines, name, other[name])
    validated(target, store)
    assert len(examined) == 2


@pytest.mark.parametrize("damage", [{"value": b"rubbish"}, {"at": 0.0}])
def test_what_cannot_be_read_or_is_too_old_is_found_anew(target, store, examined, damage) -> None:
    validated(target, store)
    changed(store, **damage)
    validated(target, store)
    validated(target, store)
    assert len(examined) == 2


def test_entries_of_another_form_are_found_anew(target, store, examined, monkeypatch) -> None:
    validated(target, store)
    monkeypatch.setattr(store, "baseline", lambda key: {"seconds": "many"})
    validated(target, store)
    assert len(examined) == 2


def test_a_baseline_that_fails_now_is_examined(target, store, examined, monkeypatch) -> None:
    def fail(*_: object) -> None:
        raise BaselineError("it does not load", "crash")

    validated(target, store)
    monkeypatch.setattr(known_baselines, "retimed", fail)
    validated(target, store)
    assert len(examined) == 2


def test_a_figure_of_a_busy_machine_is_taken_anew_where_it_matters(target, store, monkeypatch) -> None:
    validated(target, store)
    known = store.baseline

    def slowed(key):
        return {**known(key), "seconds": {"size 4": 0.03, "size 20": 5.0}}

    monkeypatch.setattr(store, "baseline", slowed)
    seconds = validated(target, store).baseline.seconds
    assert seconds["size 4"] != 0.03
    assert seconds["size 20"] == 5.0, "one input makes a pass in any case"


def test_an_oracle_that_accepts_what_does_no_work_is_not_kept(target, store, examined) -> None:
    target.write_text("def double(items: list[int]) -> list[int]:\n    return items\n")
    for _ in range(2):
        with pytest.raises(BaselineError, match="does no work"):
            validated(target, store)
    assert len(examined) == 2


def test_sizes_that_were_found_are_kept(target, store, monkeypatch) -> None:
    target.with_name("workload.py").write_text(WORKLOAD.replace("sizes = [4, 20]\n", ""))
    first = validated(target, store)
    monkeypatch.setattr(known_baselines, "calibrated", None)
    assert validated(target, store).task == first.task


def test_old_entries_are_removed(store) -> None:
    keys = ["00" * 32, "11" * 32]
    store.keep_baseline(keys[0], {"a": 1})
    with store.connection() as db:
        db.execute("UPDATE baselines SET at = at - :age", {"age": 2 * BASELINE_SECONDS})
    store.keep_baseline(keys[1], {"a": 2})
    with store.connection() as db:
        assert [bytes(key).hex() for (key,) in db.execute("SELECT key FROM baselines")] == [keys[1]]
