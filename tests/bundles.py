"""Bundles for tests: of real runs, and of samples that were drawn and then judged as real ones are."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from unique import GOOD, SLOW, WRONG, workload

import whet as library
from whet.core.evidence import Evidence
from whet.core.measurement import Measurement
from whet.core.plain import from_plain, to_plain
from whet.core.result import Status
from whet.core.store import Store
from whet.core.verdict import Rung, RungStatus
from whet.evaluators.evidence.bundle import Bundle, write_bundle
from whet.evaluators.evidence.record import bundle_of
from whet.evaluators.meters.base import Meter
from whet.evaluators.meters.time import TIME
from whet.evaluators.processes import Pass
from whet.evaluators.timing.decision import Rule, sequential
from whet.evaluators.timing.statistics import NOISY, Stage
from whet.evaluators.timing.turns import SIDES, Turn
from whet.evaluators.timing.workloads import TimedWorkload

WORKLOAD = workload(10, 600, 1500)


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / ".git").mkdir()
    (folder / ".env").write_text("PASSWORD=hunter2-4711\n")
    (folder / "slow.py").write_text(SLOW)
    (folder / "good.py").write_text(GOOD)
    (folder / "wrong.py").write_text(WRONG)
    (folder / "workload.py").write_text(WORKLOAD)
    (folder / "test_slow.py").write_text("import slow\ndef test_one():\n    assert slow.unique([1, 1]) == [1]\n")
    return folder


def exported(folder: Path, candidate: str, target: str = "slow.py::unique", **options: Any) -> Bundle:
    home = folder.with_name("state")  # outside of the project, whose files the tests are run with
    options = {"until": "differential", "sandbox": "bubblewrap", **options}
    result = library.verify(f"{folder}/{target}", candidate=folder / candidate, home=home, **options)
    store = Store(home)
    try:
        return bundle_of(store, result.run)
    finally:
        store.close()


def as_timed(bundle: Bundle, ratio: float) -> Bundle:
    rungs = [rung for rung in bundle.record.rungs if rung.name not in ("measure", "profile", "confirm")]
    for name, stages in (("measure", NOISY.verdict), ("confirm", NOISY.confirm)):
        measured = drawn_measurement(ratio, stages)
        evidence = {
            "p_value": measured.p_value,
            "outcome": measured.outcome.value,
            "measurements": [{"flags": [], **to_plain(measured)}],
        }
        assert measured.faster
        rungs.append(Rung(name, RungStatus.PASSED, None, measured.note, 1.0, evidence))
    record = replace(
        bundle.record,
        settings=replace(bundle.record.settings, until=None),
        rungs=tuple(rungs),
        status=Status.IMPROVED,
        speedup=measured.speedup,
    )
    return replace(bundle, record=from_plain(Evidence, to_plain(record)))


def drawn_measurement(ratio: float, stages: tuple[Stage, ...], meter: Meter = TIME) -> Measurement:
    rng = random.Random(1)
    names = ("size 600", "size 1500")
    works = [TimedWorkload(name, 5, lambda seed, count: [], True) for name in names]

    def turn(number: int) -> Turn:
        passes = {name: {side: one(0.02 / (ratio if side == "candidate" else 1.0)) for side in SIDES} for name in names}
        return Turn(SIDES, 0.5, passes, {}, (0,), None, 0.0, number, dict.fromkeys(names, "0" * 64))

    def one(seconds: float) -> Pass:
        spent = seconds * rng.uniform(0.999, 1.001)
        return Pass(spent + 1e-5, spent, spent, (), amount=spent * 1e9)

    found = sequential(turn, works, stages, Rule(1.01, 0.99, "the original", meter))
    assert isinstance(found, Measurement)
    return found


def written(bundle: Bundle, path: Path) -> Path:
    write_bundle(bundle, path)
    return path


def changed(bundle: Bundle, change: Callable[[dict[str, Any]], None]) -> Bundle:
    """Returns a bundle whose record was edited by somebody who then made the manifest anew."""
    document = copy.deepcopy(to_plain(bundle.record))
    change(document)
    return replace(bundle, record=from_plain(Evidence, document))
