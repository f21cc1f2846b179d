"""Rewrites of slow functions: none that is wrong on small inputs, or between the listed sizes, is verified."""

from __future__ import annotations

import zlib
from contextlib import closing
from pathlib import Path

import pytest

from whet.core.candidate import Candidate
from whet.core.condition import conditions_of
from whet.core.options import Options
from whet.core.verdict import RungStatus
from whet.evaluators.ladder import open_ladder
from whet.evaluators.targets import read_task
from whet.testing.preconditions.corpus import SLOW, RewritePair, pairs

LAST = "differential"
"""No clock decides about these."""


@pytest.mark.corpus
@pytest.mark.parametrize("pair", pairs(SLOW), ids=lambda pair: pair.name)
def test_the_wrong_rewrite_is_rejected_or_conditional_and_the_honest_one_is_neither(
    tmp_path: Path, pair: RewritePair
) -> None:
    for name, text in (("slow", pair.target), ("workload", pair.workload)):
        (tmp_path / f"{name}.py").write_text(text)
    options = Options(until=LAST)
    task, seed = read_task(f"{tmp_path}/slow.py::{pair.symbol}", options), zlib.crc32(pair.name.encode())
    with closing(open_ladder(task, options, seed)) as ladder:
        ladder.validate()
        wrong, honest = (ladder.check(Candidate(text)) for text in (pair.wrong, pair.honest))
    assert honest.failed is None, honest.failed.detail
    (agreed,) = (rung for rung in honest.rungs if rung.name == LAST)
    assert agreed.status is RungStatus.PASSED
    assert not conditions_of([agreed])
    assert wrong.failed is not None
    assert wrong.failed.name == LAST


def test_the_corpus_has_enough_rows() -> None:
    assert len(pairs(SLOW)) >= 12
