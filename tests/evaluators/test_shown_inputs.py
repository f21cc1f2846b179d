"""No input that a prompt shows is ever drawn again: what is told of a fault helps no later candidate."""

from __future__ import annotations

import random

import pytest

from whet.core.candidate import Candidate
from whet.core.options import Options
from whet.evaluators.evidence.redrawing import planned as planned_from
from whet.evaluators.inputs.plan import input_hash
from whet.evaluators.ladder import open_ladder
from whet.evaluators.targets import read_task
from whet.evaluators.timing.statistics import Stage

SLOW = """\
def distinct(items: list[int]) -> int:
    seen = []
    for item in items:
        if item not in seen:
            seen.append(item)
    return len(seen)
"""
WRONG = "def distinct(items: list[int]) -> int:\n    return len(items)\n"
RIGHT = "def distinct(items: list[int]) -> int:\n    return len(set(items))\n"
GENERATOR = """\
sizes = [8, 400, 600]
def make_input(size, rng):
    items = [rng.getrandbits(64) for _ in range(size + 1)]
    return (items + items,)
"""


@pytest.fixture
def ladder(tmp_path):
    (tmp_path / "distinct.py").write_text(SLOW)
    (tmp_path / "workload.py").write_text(GENERATOR)
    options = Options(workload=tmp_path / "workload.py")
    found = open_ladder(read_task(f"{tmp_path / 'distinct.py'}::distinct", options), options, seed=1)
    try:
        found.validate()
        yield found
    finally:
        found.close()


@pytest.mark.corpus
def test_what_one_candidate_met_is_met_by_no_other_and_never_timed(ladder):
    wrong, right = Candidate(WRONG), Candidate(RIGHT)
    fallen = ladder.check(wrong).failed
    assert fallen.name == "differential"
    assert "distinct([" in fallen.detail
    shown = planned_from(ladder.source, fallen.evidence["seed"])
    assert shown.intersection(fallen.evidence["hashes"]), "those are what it met"

    checked = ladder.check(right)
    met = checked.rung("differential").evidence
    assert not shown.intersection(met["hashes"])
    planned = planned_from(ladder.source, met["seed"])
    assert not shown.intersection(planned)

    measured = ladder.measure(right, checked, (Stage(2, 1.0),))
    timed = {input_hash(item) for item in drawn(ladder, measured.measurement)}
    assert len(timed) >= 4
    assert not timed.intersection(shown | planned)

    confirmed = ladder.confirm(right, measured).rung("confirm").evidence["differential"]
    assert not shown.intersection(confirmed["hashes"])
    assert not planned_from(ladder.source, confirmed["seed"]).intersection(shown | planned | timed)


def drawn(ladder, measurement):
    """The inputs of every turn, drawn once more from its seed, as the turn drew them."""
    for turn in measurement.raw["turns"]:
        rng = random.Random(turn["seed"])
        for work in ladder.baseline.workloads(ladder.source):
            yield from work.draw(rng.getrandbits(63), work.count)
