"""Verdicts that come before the baseline is validated: by the text alone, or because a rewrite cannot be built."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import whet
from whet.core.candidate import Candidate
from whet.core.errors import UsageError
from whet.core.events import Event
from whet.core.options import Options
from whet.core.result import Result, Status
from whet.core.store import Store
from whet.core.verdict import Reason, Verdict
from whet.evaluators.at_once import decided_by_text
from whet.evaluators.evidence.record import bundle_of
from whet.evaluators.targets import read_task

SLOW = '''\
def total(items):
    """Adds them up."""
    found = 0
    for item in items:
        found += item
    return found
'''
LAID_OUT = "# The same.\n" + SLOW.replace("found += item", "found  +=  item  # once more")
WORKLOAD = """\
sizes = [4, 20]
def make_input(size, rng):
    return ([rng.randrange(size) for _ in range(size)],)
"""
SANDBOXED = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "workload.py").write_text(WORKLOAD)
    return tmp_path


@pytest.fixture
def told() -> list[Event]:
    return []


def judge(folder: Path, candidate: str, told: list[Event], **options: Any) -> Result:
    (folder / "candidate.py").write_text(candidate)
    target = f"{folder}/slow.py::total"
    return whet.verify(
        target, candidate=folder / "candidate.py", home=folder / "home", listener=told.append, seed=1, **options
    )


def decided(folder: Path, candidate: str, **options: Any) -> Verdict | None:
    asked = Options(workload=folder / "workload.py", **options)
    return decided_by_text(read_task(f"{folder}/slow.py::total", asked), Candidate(candidate), asked)


@pytest.fixture
def no_ladder(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("nothing is to be run for it")

    monkeypatch.setattr("whet.evaluators.ladder.open_ladder", refuse)


@pytest.mark.usefixtures("no_ladder")
@pytest.mark.parametrize(
    ("candidate", "reason"),
    [
        ("def total(items: return", Reason.SYNTAX_ERROR),
        ("def total(items, start):\n    return sum(items)\n", Reason.BUILD_ERROR),
        ("import pydantic\ndef total(items):\n    return sum(items)\n", Reason.FORBIDDEN_CONSTRUCT),
    ],
)
def test_what_falls_at_the_screen_is_rejected_before_anything_is_run(folder, told, candidate, reason) -> None:
    result = judge(folder, candidate, told)
    assert (result.status, result.exit_code) == (Status.REJECTED, 3)
    assert [(rung.name, rung.reason) for rung in result.rungs] == [("screen", reason)]
    store = Store(folder / "home")
    assert store.run(result.run).result == result.to_json()
    with pytest.raises(UsageError, match="holds no evidence: nothing was run for its verdict"):
        bundle_of(store, result.run)
    store.close()


@pytest.mark.usefixtures("no_ladder")
@pytest.mark.parametrize(("candidate", "said"), [(SLOW, "to the letter"), (LAID_OUT, "but for layout, comments")])
def test_the_original_is_not_faster_than_itself(folder, told, candidate, said) -> None:
    result = judge(folder, candidate, told)
    assert (result.status, result.exit_code, result.speedup) == (Status.NO_IMPROVEMENT, 3, None)
    assert result.message.startswith("right, but not_faster: it is the original")
    assert said in result.message
    assert result.candidates.correct == 1


def test_what_the_text_does_not_decide_is_left_to_the_ladder(folder) -> None:
    assert decided(folder, SLOW.replace("found = 0", "found = 0.0")) is None
    assert decided(folder, SLOW, until="differential") is None, "the rungs were asked for, and not the time"
    reads_itself = f"{SLOW}LINES = open(__file__).read()\n"
    (folder / "slow.py").write_text(reads_itself)
    assert decided(folder, f"# Longer.\n{reads_itself}") is None, "what reads its own text may see the comment"
    (folder / "slow.py").write_text("def total(items:\n")
    assert decided(folder, "def total(items:\n") is None, "the baseline is at fault"


@SANDBOXED
def test_a_rewrite_that_does_not_load_is_rejected_before_the_baseline_is_validated(folder, told) -> None:
    result = judge(folder, f"import nowhere\n{SLOW}", told, workload=folder / "workload.py")
    assert [(rung.name, rung.reason) for rung in result.rungs if rung.reason] == [("build", Reason.CRASH)]
    assert result.status is Status.REJECTED
    assert not [event for event in told if "validating" in event.text]
    store = Store(folder / "home")
    assert bundle_of(store, result.run).record.status is Status.REJECTED
    store.close()


@SANDBOXED
@pytest.mark.corpus(one_in=8)
def test_what_is_wrong_with_the_baseline_too_is_not_held_against_a_rewrite(folder, told) -> None:
    (folder / "slow.py").write_text(f"import nowhere\n{SLOW}")
    result = judge(folder, f"import nowhere\n{SLOW.replace('0', '0 + 0')}", told, workload=folder / "workload.py")
    assert result.status is Status.BASELINE_INVALID
    assert "does not load" in result.message
