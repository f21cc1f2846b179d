"""How many inputs are tried where calls of the baseline are slow: some of each size; what is left out is told."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from whet.core.options import Options
from whet.evaluators.artifacts import Artifact
from whet.evaluators.costs import (
    CHEAP,
    CLASSES,
    MODERATE,
    SLOW,
    SLOWEST,
    Costs,
    affordable,
    cost_class,
    measured,
    spread,
)
from whet.evaluators.differential import Compared, shortened
from whet.evaluators.examiner import FEWEST_CASES, FEWEST_EDGES, MOST_EDGES
from whet.evaluators.inputs.plan import FEWEST_DRAWN
from whet.evaluators.inputs.source import Input
from whet.evaluators.ladder import open_ladder
from whet.evaluators.targets import read_task

SORTED = "def f(a):\n    return sorted(a)\n"
ONE_SIZE = """\
sizes = [20]
def make_input(size, rng):
    if size != 20:
        raise ValueError("there is one size alone")
    return ([rng.random() for _ in range(size)],)
"""
ANY_SIZE = """\
sizes = [20, 40]
def make_input(size, rng):
    return ([rng.random() for _ in range(size)],)
"""
FAULTY = "made = []\ndef f(a):\n    made.append(a)\n    return sorted(a) if len(made) < 5 else a\n"
SMALL = {0: CHEAP, 1: CHEAP, 2: CHEAP, 3: CHEAP}
ECHO = "import sys\nprint(sys.stdin.read().split()[0])\n"


def test_the_fewest_are_drawn_however_slow_they_are(rung) -> None:
    found = rung(SORTED, ONE_SIZE, SORTED, costs=Costs({20: SLOWEST}))
    assert found.fault is None
    assert found.evidence["sources"]["generator"] == FEWEST_DRAWN


def test_each_listed_size_is_met_however_many_there_are(rung) -> None:
    sizes = list(range(20, 36))
    workload = ONE_SIZE.replace("[20]", str(sizes)).replace("size != 20", "size not in sizes")
    found = rung(SORTED, workload, SORTED, costs=Costs(dict.fromkeys(sizes, SLOWEST)))
    assert found.fault is None
    assert found.evidence["sources"]["generator"] == len(sizes)


def test_what_only_the_last_of_them_shows_is_seen(rung) -> None:
    assert rung(SORTED, ONE_SIZE, FAULTY, costs=Costs({20: SLOWEST})).fault is not None


def test_slow_large_inputs_take_nothing_from_small_and_edited_ones(rung) -> None:
    quick = rung(SORTED, ANY_SIZE, SORTED, costs=Costs({**SMALL, 20: CHEAP, 40: CHEAP}))
    slow = rung(SORTED, ANY_SIZE, SORTED, costs=Costs({**SMALL, 20: CHEAP, 40: SLOWEST}))
    # All planned: 10 of the smallest, 3 of 40, of each of 0 to 3, of one between and of one above.
    assert quick.evidence["sources"]["generator"] == 31
    # One of each that is slow, and nothing less of the others.
    assert slow.evidence["sources"]["generator"] == 31 - 3 * 2
    assert slow.evidence["cut"]["drawn"] == {"tried": 25, "planned": 31}
    assert "drawn" not in quick.evidence["cut"]
    for one in (quick, slow):
        assert one.evidence["sources"]["edges"] > MOST_EDGES / 2
        assert "edges" not in one.evidence["cut"]


def test_what_is_slow_at_every_size_is_edited_too(rung) -> None:
    found = rung(SORTED, ANY_SIZE, SORTED, costs=Costs(dict.fromkeys((*SMALL, 20, 40), SLOWEST)))
    assert found.fault is None
    assert found.evidence["cut"]["edges"]["tried"] == FEWEST_EDGES < found.evidence["cut"]["edges"]["planned"]
    assert 0 < found.evidence["sources"]["edges"] <= FEWEST_EDGES
    assert found.evidence["cut"]["elsewhere"]["tried"] == 2


def test_recorded_cases_of_a_slow_program_come_from_all_over_them(rung) -> None:
    cases = [f"{number} {number + 1}\n".encode() for number in range(12)]
    found = rung(ECHO, None, ECHO, symbol=None, cases=cases, costs=Costs({}, cases=SLOWEST))
    assert found.fault is None
    assert found.evidence["cut"]["recorded"] == {"tried": FEWEST_CASES, "planned": 12}
    assert spread(cases, 3) == [cases[0], cases[4], cases[8]]


@pytest.mark.corpus(one_in=8)
def test_an_edit_that_takes_the_baseline_for_ever_is_left_out(rung) -> None:
    # No limit on wall time: CPU time alone tells that it runs away.
    count = "def f(n):\n    while n > 10**6:\n        pass\n    return n + 1\n"
    workload = "sizes = [5, 50]\ndef make_input(size, rng):\n    return (rng.randrange(-size - 1, size + 1),)\n"
    found = rung(count, workload, count)
    assert found.fault is None
    assert found.evidence["discarded"]


def test_classes_are_wide_and_costs_follow_the_larger_size() -> None:
    assert [cost_class(seconds) for seconds in (0.0, 0.005, 0.02, 0.2, 3.0, 60.0)] == [CHEAP, *CLASSES, SLOWEST]
    costs = Costs({10: CHEAP, 100: SLOW}, cases=MODERATE)
    drawn = [costs.of(Input("", b"", size)) for size in (0, 10, 11, 100, 113, None)]
    assert drawn == [CHEAP, CHEAP, SLOW, SLOW, SLOW, MODERATE]
    assert Costs({}).of_size(3) == SLOWEST


def test_small_sizes_between_a_listed_small_one_and_a_large_one_have_classes_of_their_own(tmp_path: Path) -> None:
    """Else they would count as slow as the large one, and what is drawn of them would not be edited."""
    (tmp_path / "slow.py").write_text(SORTED)
    (tmp_path / "workload.py").write_text(ANY_SIZE.replace("[20, 40]", "[1, 1200]"))
    settings = Options(workload=tmp_path / "workload.py")
    with closing(open_ladder(read_task(f"{tmp_path}/slow.py::f", settings), settings, 1)) as ladder:
        artifact = ladder.builder.build(SORTED)
        assert isinstance(artifact, Artifact)
        costs = measured(artifact, ladder.source, 30.0)
    assert sorted(costs.sizes) == [0, 1, 2, 3, 100, 1200]


def test_a_budget_keeps_its_floor_and_its_ceiling() -> None:
    assert affordable(MODERATE, 2.4, 8, 320) == 40
    assert affordable(CHEAP, 2.4, 8, 320) == 320
    assert affordable(SLOWEST, 2.4, 8, 320) == 8


@pytest.mark.parametrize(
    ("cut", "said"),
    [
        ({"drawn": {"tried": 5, "planned": 30}}, "25 more were planned, but calls of the baseline are slow"),
        (
            {"edited": {"tried": 2, "planned": 60, "lost": 5}},
            "58 more were planned, but 5 ended a process of the baseline",
        ),
        (
            {"drawn": {"tried": 5, "planned": 6}, "edited": {"tried": 2, "planned": 60, "lost": 5}},
            "59 more were planned, but calls of the baseline are slow and 5 ended a process of the baseline",
        ),
        ({"elsewhere": {"tried": 1, "planned": 9}}, ""),
        ({}, ""),
    ],
)
def test_the_detail_says_why_inputs_were_left_out(cut: dict[str, dict[str, int]], said: str) -> None:
    assert shortened(Compared(None, {"inputs": 7, "cut": cut})) == said
