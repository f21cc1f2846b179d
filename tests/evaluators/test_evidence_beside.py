"""Bundles of runs that were asked for several metrics: what is recorded of each is judged again."""

from __future__ import annotations

import copy
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bundles import as_timed, changed, drawn_measurement, exported, project  # noqa: F401

from whet.core.constraint import read_constraint
from whet.core.evidence import Evidence
from whet.core.plain import from_plain, to_plain
from whet.core.result import Status, status_of
from whet.core.verdict import Verdict
from whet.evaluators.evidence.bundle import Bundle
from whet.evaluators.evidence.consistency import contradictions
from whet.evaluators.meters.memory import Memory
from whet.evaluators.rungs import measured
from whet.evaluators.timing.constraints import constrained
from whet.evaluators.timing.statistics import NOISY, STEADY

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

ASKED = "1.1x"
MEMORY = Memory()


@pytest.fixture(scope="module")
def timed(project: Path) -> Bundle:  # noqa: F811
    return as_timed(exported(project, "good.py", seed=5), 10.0)


def with_memory(bundle: Bundle, ratio: float, gain: float = 10.0) -> Bundle:
    """Returns a bundle that was asked to keep its memory, with samples of memory where there is a gain in time."""
    rungs = [rung for rung in bundle.record.rungs if rung.name not in ("measure", "confirm")]
    last = None
    for name, stages, looks in (("measure", NOISY.verdict, STEADY.beside), ("confirm", NOISY.confirm, STEADY.confirm)):
        memory = drawn_measurement(ratio, looks, MEMORY)
        time = drawn_measurement(gain, stages)
        last = constrained(time, [memory] if time.faster else [], [read_constraint("memory", ASKED)])
        own: dict[str, Any] = {"measurements": [{"flags": [], **to_plain(memory)}]}
        evidence = {"measurements": [{"flags": [], **to_plain(time)}], "beside": {"memory": own} if time.faster else {}}
        rung = measured(name, last, 1.0)
        rungs.append(replace(rung, evidence={**rung.evidence, **evidence}))
        if not last.faster:
            break
    assert last is not None
    record = replace(
        bundle.record,
        settings=replace(bundle.record.settings, max_memory=ASKED),
        rungs=tuple(rungs),
        status=status_of(Verdict(bundle.record.candidate.id, tuple(rungs), last)),
        speedup=last.speedup,
    )
    return replace(bundle, record=from_plain(Evidence, to_plain(record)))


@pytest.mark.corpus
def test_what_keeps_its_limit_and_what_breaks_it_agree_with_themselves(timed: Bundle) -> None:
    kept, broken = with_memory(timed, 1.0), with_memory(timed, 0.5)
    assert contradictions(kept) == []
    assert kept.record.status is Status.IMPROVED
    assert contradictions(broken) == []
    assert broken.record.status is Status.NO_IMPROVEMENT
    assert (broken.record.rungs[-1].name, broken.record.rungs[-1].reason) == ("measure", "over_limit")


@pytest.mark.corpus(one_in=8)
def test_without_a_gain_nothing_is_held_to_a_limit(timed: Bundle) -> None:
    same = with_memory(timed, 0.5, gain=1.0)
    assert contradictions(same) == []
    assert same.record.rungs[-1].reason == "not_faster"


def rung(document: dict[str, Any], name: str = "confirm") -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in document["rungs"] if one["name"] == name)
    return found


def memory_of(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = rung(document)["evidence"]["beside"]["memory"]["measurements"][0]
    return found


def fattened(document: dict[str, Any]) -> None:
    for turn in memory_of(document)["raw"]["turns"]:
        for sides in turn["passes"].values():
            sides["candidate"]["amount"] *= 2


EDITS: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "more memory": (fattened, "not as the samples show"),
    "a better ratio": (lambda d: memory_of(d)["speedup"].update(ratio=3.0), "not as the samples show"),
    "no samples of it": (lambda d: rung(d)["evidence"].pop("beside"), "memory was asked for and not measured"),
    "a sample fewer": (lambda d: memory_of(d)["raw"]["turns"].pop(), "turns are missing"),
    "a tighter limit": (lambda d: d["settings"].update(max_memory="0.5x"), "and its samples not_shown"),
    "no limit at all": (lambda d: d["settings"].update(max_memory="x"), "--max-memory x"),
    "a metric more": (lambda d: d["settings"].update(metric="time,energy"), "energy was asked for and not measured"),
    "a metric that is none": (lambda d: d["settings"].update(metric="time,tme"), "--metric takes"),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_named(name: str, timed: Bundle) -> None:
    change, said = EDITS[name]
    found = contradictions(changed(with_memory(timed, 1.0), change))
    assert any(said in line for line in found), found


def test_a_broken_limit_cannot_be_made_a_win(timed: Bundle) -> None:
    def won(document: dict[str, Any]) -> None:
        broken = rung(document, "measure")
        broken.update(status="passed", reason=None)
        document["rungs"].append({**copy.deepcopy(broken), "name": "confirm"})
        document["status"] = "improved"

    assert contradictions(changed(with_memory(timed, 0.5), won))
