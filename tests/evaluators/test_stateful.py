"""Rewrites of stateful code: no wrong one passes the differential rung, and no honest one is rejected there."""

from __future__ import annotations

import zlib

import pytest

from whet.core.verdict import RungStatus
from whet.testing.stateful import corpus


@pytest.mark.corpus
@pytest.mark.parametrize("name", corpus.names())
def test_the_wrong_rewrite_is_rejected_and_the_honest_one_is_not(name):
    found = corpus.judged(name, zlib.crc32(name.encode()))
    assert found["honest"].status is RungStatus.PASSED, found["honest"].detail
    assert found["wrong"].status is RungStatus.FAILED
    assert found["wrong"].name == corpus.LAST, found["wrong"].detail
