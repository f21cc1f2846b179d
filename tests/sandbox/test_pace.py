"""How fast a processor is, as a piece of work tells that runs on it."""

from __future__ import annotations

import os

import pytest

from whet.sandbox.pace import pace


def test_the_thread_comes_back_from_the_processor() -> None:
    usual = os.sched_getaffinity(0)
    for core in sorted(usual):
        assert pace(core) > 0
        assert os.sched_getaffinity(0) == usual


def test_a_processor_that_may_not_be_used_is_an_error() -> None:
    usual = os.sched_getaffinity(0)
    with pytest.raises(OSError, match="Invalid argument"):
        pace(max(usual) + 4096)
    assert os.sched_getaffinity(0) == usual
