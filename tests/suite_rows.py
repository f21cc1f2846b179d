"""Rows of ``whet bench run`` as tests of scores write them."""

from __future__ import annotations

from whet.benchmarks.results import Machine, Own, Row
from whet.core.result import Cost

MACHINE = Machine("a processor", 2, "", "bubblewrap", "a system", "0")


def row(suite, problem, sample=0, own=None, excluded="", answer="text", language="python") -> Row:
    """Returns a row of one model."""
    given = (suite, "data", problem, sample, "model", "", "", language, answer, own, None, "", excluded)
    return Row(*given, MACHINE, Cost(), 0.0, "")


def wrong(**figures) -> Own:
    return Own(False, "wrong", figures)
