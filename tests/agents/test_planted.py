"""The planted package of 10,000 lines: the catalogue rewrites what takes most of its time, and its tests still pass."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from planted.build import LARGEST, RUN, TESTS, build
from repositories import git, repository

from whet.agents.repository.run import optimize_repository
from whet.core.measurement import Outcome
from whet.core.result import Status
from whet.evaluators.repository import end_to_end

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
]
IN_ALL = 124
"""Tests of the package."""


@pytest.mark.parametrize("target", sorted(LARGEST))
def test_a_planted_spot_is_improved(figures: str, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(end_to_end, "MOST", end_to_end.FEWEST)
    root = tmp_path / "code"
    build(root)
    repository(root, {})
    result = optimize_repository(root, run=RUN, tests=TESTS, targets=[target], top=1, rounds=1, home=tmp_path / "home")
    assert result.status is Status.IMPROVED, (result.message, result.attempts)
    (kept,) = result.attempts
    assert (kept.function.target, kept.kept) == (target, True)
    assert result.tests is not None
    assert len(result.tests.passed) == IN_ALL
    assert git(root, "diff", "--name-only", "HEAD", str(result.branch)).split() == [kept.function.path]
    assert result.end_to_end is not None
    assert result.end_to_end.outcome is not Outcome.SLOWER
    assert kept.speedup is not None
    assert kept.speedup.low > 1.5, figures
