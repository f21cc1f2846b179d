"""How many inputs are drawn where the baseline's time is spent: those of each size, and a few more."""

from __future__ import annotations

import pytest

from whet.evaluators import examiner

SLOW = "def f(a):\n    return sorted(a)\n"
ONE_SIZE = """\
sizes = [20]
def make_input(size, rng):
    if size != 20:
        raise ValueError("there is one size alone")
    return ([rng.random() for _ in range(size)],)
"""
FAULTY = "made = []\ndef f(a):\n    made.append(a)\n    return sorted(a) if len(made) < 5 else a\n"


@pytest.fixture(autouse=True)
def spent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A first call takes all the time there is, as one that starts threads on a busy machine may."""
    monkeypatch.setattr(examiner, "DRAWN_SECONDS", 0.0)
    monkeypatch.setattr(examiner, "EDGE_SECONDS", 0.0)


def test_the_fewest_are_drawn_however_long_they_take(rung) -> None:
    found = rung(SLOW, ONE_SIZE, SLOW)
    assert found.fault is None
    assert found.evidence["sources"]["generator"] == examiner.FEWEST_DRAWN


def test_each_listed_size_is_met_however_many_there_are(rung) -> None:
    sizes = list(range(20, 36))
    found = rung(SLOW, ONE_SIZE.replace("[20]", str(sizes)).replace("size != 20", "size not in sizes"), SLOW)
    assert found.fault is None
    assert found.evidence["sources"]["generator"] == len(sizes)


def test_what_only_the_last_of_them_shows_is_seen(rung) -> None:
    assert rung(SLOW, ONE_SIZE, FAULTY).fault is not None
