"""What an earlier run found of a baseline is used again, as long as nothing that it follows from has changed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from whet.core.audit import NullOutcome
from whet.core.errors import BaselineError
from whet.core.events import Event
from whet.core.options import Options
from whet.core.store import BASELINE_SECONDS, Store
from whet.core.task import Task
from whet.evaluators import known_baselines
from whet.evaluators.artifacts import Builder
from whet.evaluators.baseline import Baseline
from whet.evaluators.known_baselines import KnownBaselines
from whet.evaluators.ladder import Ladder, open_ladder
from whet.evaluators.meters.time import TIME
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


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    folder = tmp_path_factory.mktemp("known")
    (folder / "slow.py").write_text(SOURCE)
    (folder / "workload.py").write_text(WORKLOAD)
    return read_task(f"{folder}/slow.py::double", Options(workload=folder / "workload.py"))


def opened(task: Task, store: Store | None = None, told: list[Event] | None = None) -> Ladder:
    heard = [] if told is None else told
    return open_ladder(task, Options(until="differential", sandbox="bubblewrap"), 1, heard.append, store=store)


@pytest.fixture(scope="module")
def ladder(task: Task) -> Iterator[Ladder]:
    with closing(opened(task)) as made:
        made.validate()
        yield made


@pytest.fixture
def known(store: Store, ladder: Ladder) -> KnownBaselines:
    """Knows the ladder's baseline."""
    made = KnownBaselines(store, ladder.builder)
    made.keep(ladder.baseline)
    return made


def recalled(known: KnownBaselines, ladder: Ladder) -> Baseline | None:
    return known.recalled(ladder.baseline.artifact, ladder.source, TIME, 1)


def test_a_second_run_does_not_validate_it_again_and_says_so(task, store, monkeypatch) -> None:
    told: list[Event] = []
    for _ in range(2):
        with closing(opened(task, store, told)) as one:
            one.validate()
            said, examined = one.provenance(store.put).validated, one.baseline.validated
        assert said == examined
        # Whoever examines it again fails.
        monkeypatch.setattr("whet.evaluators.ladder.examine", None)
    assert said.startswith("20")
    assert [event.text for event in told if "validated" in event.text] == [
        f"the baseline is as it was validated at {said}"
    ]


def test_what_is_recalled_is_what_was_found(known, ladder) -> None:
    found = recalled(known, ladder)
    assert replace(found, seconds={}, validated="") == replace(ladder.baseline, seconds={})
    assert found.seconds.keys() == ladder.baseline.seconds.keys()


def test_another_target_workload_or_limit_is_another_baseline(known, store, ladder) -> None:
    task, old = ladder.task, ladder.builder
    others = [
        replace(task, source=f"{SOURCE}# changed\n"),
        replace(task, workload=replace(task.workload, generator=f"{WORKLOAD}# changed\n")),
        replace(task, limits=replace(task.limits, seconds=1.0)),
        replace(task, support={"helper.py": "X = 1\n"}),
    ]
    for other in others:
        changed = KnownBaselines(store, Builder(other, old.sandbox, old.interpreter))
        assert recalled(changed, ladder) is None
    moved = replace(task, path=Path("/elsewhere") / task.filename, root=Path("/elsewhere"))
    assert recalled(KnownBaselines(store, Builder(moved, old.sandbox, old.interpreter)), ladder) is not None


@pytest.mark.parametrize("name", ["machine", "toolchain", "tools"])
def test_another_machine_interpreter_or_version_is_another_baseline(known, store, ladder, monkeypatch, name) -> None:
    other = {
        "machine": lambda: replace(before(), cpu="another"),
        "toolchain": lambda *given: replace(before(*given), packages={"numpy": "0.1"}),
        "tools": lambda: {**before(), "harness": "another"},
    }
    before = getattr(known_baselines, name)
    monkeypatch.setattr(known_baselines, name, other[name])
    assert recalled(KnownBaselines(store, ladder.builder), ladder) is None


@pytest.mark.parametrize(("column", "value"), [("value", b"rubbish"), ("at", 0.0)])
def test_what_cannot_be_read_or_is_too_old_is_found_anew(known, store, ladder, column, value) -> None:
    with store.connection() as db:
        db.execute(f"UPDATE baselines SET {column} = :value", {"value": value})
    assert recalled(known, ladder) is None
    known.keep(ladder.baseline)
    assert recalled(known, ladder) is not None


@pytest.mark.parametrize("entry", [{"seconds": "many"}, ["rubbish"], {}])
def test_entries_of_another_form_are_found_anew(known, store, ladder, monkeypatch, entry) -> None:
    monkeypatch.setattr(store, "baseline", lambda key: entry)
    assert recalled(known, ladder) is None


def test_an_entry_without_a_size_is_found_anew(known, ladder) -> None:
    known.keep(replace(ladder.baseline, seconds={"size 4": 0.1}))
    assert recalled(known, ladder) is None


def test_a_baseline_that_fails_now_is_found_anew(known, ladder, monkeypatch) -> None:
    def fail(*_: object) -> None:
        raise BaselineError("it does not load", "crash")

    monkeypatch.setattr(known_baselines, "retimed", fail)
    assert recalled(known, ladder) is None


def test_a_figure_of_a_busy_machine_is_taken_anew_where_it_matters(known, ladder) -> None:
    known.keep(replace(ladder.baseline, seconds={"size 4": 0.03, "size 20": 5.0}))
    found = recalled(known, ladder)
    assert found.seconds["size 4"] != 0.03
    assert found.seconds["size 20"] == 5.0, "one input makes a pass in any case"


def test_an_oracle_that_accepts_what_does_no_work_is_not_kept(store, ladder) -> None:
    known = KnownBaselines(store, ladder.builder)
    known.keep(replace(ladder.baseline, nulls=(NullOutcome("echo", 3, 3),)))
    assert recalled(known, ladder) is None


def test_sizes_that_were_found_are_kept(store, ladder, monkeypatch) -> None:
    unsized = replace(ladder.task.workload, generator=WORKLOAD.replace("sizes = [4, 20]\n", ""))
    old, found = ladder.builder, []

    def calibrated(builder, seed, timed, call_seconds):
        found.append(timed)
        return replace(builder.task, workload=replace(unsized, sizes=(3, 9)))

    monkeypatch.setattr(known_baselines, "calibrated", calibrated)
    for timed in (True, True, False):
        builder = Builder(replace(ladder.task, workload=unsized), old.sandbox, old.interpreter)
        assert KnownBaselines(store, builder).sized(1, timed, lambda size, measured: measured).workload == replace(
            unsized, sizes=(3, 9)
        )
    assert found == [True, False]


def test_old_entries_are_removed(store) -> None:
    keys = ["00" * 32, "11" * 32]
    store.keep_baseline(keys[0], {"a": 1})
    with store.connection() as db:
        db.execute("UPDATE baselines SET at = at - :age", {"age": 2 * BASELINE_SECONDS})
    store.keep_baseline(keys[1], {"a": 2})
    with store.connection() as db:
        assert [bytes(key).hex() for (key,) in db.execute("SELECT key FROM baselines")] == [keys[1]]
