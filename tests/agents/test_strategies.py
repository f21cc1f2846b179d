"""What each strategy aims at, given what a run has reached."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.agents.person import Said, pin_of
from whet.agents.strategies import STRATEGIES, open_strategy
from whet.agents.strategies.base import Scored, SearchState, Tried
from whet.core.errors import UsageError

BASE = "baseline"
PLAIN = "def f(xs):\n    return sorted(xs)\n"


def tried(id, round=1, parent=BASE, low=1.5, correct=True, labels=(), source=PLAIN, ratios=()) -> Tried:
    improved = correct and low is not None and low > 1
    return Tried(id, parent, round, source, tuple(labels), correct, improved, low if correct else None, ratios)


def standing(*all: Tried) -> SearchState:
    improved = [Scored(one.id, one.low, one.low, one.low, one.round) for one in all if one.improved]
    return SearchState(BASE, tuple(sorted(improved, key=lambda one: one.low, reverse=True)), all)


@st.composite
def standings(draw):
    """A run of some rounds: wrong, untimed, slower and faster candidates, each made from a right one before it."""
    rounds = draw(st.lists(st.lists(st.sampled_from([None, 0.0, 0.8, 1.2, 1.5, 3.0]), max_size=4), max_size=6))
    found: list[Tried] = []
    for number, lows in enumerate(rounds, 1):
        right = [BASE, *(one.id for one in found if one.correct)]
        for place, low in enumerate(lows):
            labels = draw(st.sampled_from([(), ("algorithm",), ("vectorisation", "algorithm")]))
            parent = draw(st.sampled_from(right))
            correct = low != 0.0
            found.append(tried(f"{number}.{place}", number, parent, low if correct else None, correct, labels))
    return standing(*found), len(rounds) + 1


@pytest.mark.parametrize("name", STRATEGIES)
@given(standings(), st.integers(1, 9))
@pytest.mark.corpus(one_in=8)
def test_every_plan_fits_its_round_and_hangs_on_what_is_known_alone(name, known, most):
    reached, number = known
    plan = open_strategy(name).plan(reached, number, most)
    again = open_strategy(name).plan(replace(reached, tried=(*reached.tried[:1], *reached.tried[1:])), number, most)
    assert list(plan) == list(again)
    assert 1 <= len(plan) <= most
    right = {BASE} | {one.id for one in reached.tried if one.correct}
    for aim in plan:
        assert aim.parent in right
        assert aim.partner is None or aim.partner in right - {aim.parent}
        assert not aim.directed or aim.parent in (reached.best, BASE), "a directive is about the best version"
        assert not aim.directed or aim.focus is None


@pytest.mark.parametrize("name", STRATEGIES)
@given(standings())
@pytest.mark.corpus(one_in=8)
def test_nothing_is_built_upon_that_a_person_does_not_want(name, known):
    reached, number = known
    unwanted = {one.id for one in reached.tried[::2]}
    allowed = Said(rejected=frozenset(unwanted)).allowed(reached)
    for aim in open_strategy(name).plan(allowed, number, 4):
        assert not unwanted & {aim.parent, aim.partner}


def test_what_does_not_keep_a_pinned_line_is_allowed_no_more():
    changed = tried("changed", low=2.0, source="def f(xs):\n    return xs\n")
    allowed = Said(pins=(pin_of(PLAIN, 2, 2),)).allowed(standing(tried("kept"), changed))
    assert [one.id for one in allowed.tried] == [one.id for one in allowed.improved] == ["kept"]


def test_an_unknown_strategy_names_the_nearest():
    with pytest.raises(UsageError, match="did you mean 'evolve'"):
        open_strategy("evolv")


def test_refine_builds_upon_the_best_and_best_of_upon_the_original():
    reached = standing(tried("a", low=1.5), tried("b", low=2.0), tried("c", low=0.5))
    assert {aim.parent for aim in open_strategy("refine").plan(reached, 2, 4)} == {"b"}
    assert {aim.parent for aim in open_strategy("best-of").plan(reached, 2, 4)} == {BASE}


def test_beam_works_on_the_hottest_lines_of_the_best_versions():
    beam = open_strategy("beam")
    reached = standing(tried("a", low=1.5), tried("b", low=2.0), tried("c", low=1.2))
    pairs = [(aim.parent, aim.focus, aim.directed) for aim in beam.plan(reached, 2, 5)]
    assert pairs == [("b", None, True), ("b", 1, False), ("a", 0, False), ("a", 1, False), ("b", None, True)]
    assert [aim.focus for aim in beam.plan(standing(), 1, 2)] == [None, 1]


def planned(*lows_by_round, most=4):
    """What auto asks for after rounds that reached these speedups."""
    found = [tried(f"{n}", n, low=low) for n, low in enumerate(lows_by_round, 1) if low]
    return open_strategy("auto").plan(standing(*found), len(lows_by_round) + 1, most)


def test_auto_starts_with_one_answer_and_asks_for_all_where_two_rounds_brought_nothing():
    assert [len(planned(*rounds)) for rounds in ((), (1.5,), (1.5, 1.4), (1.5, None, 1.3))] == [1, 2, 2, 4]
    assert len(planned(1.5, None, 1.3, 2.0)) == 2, "a gain makes it narrow again"
    assert [len(planned(*rounds, most=1)) for rounds in ((), (1.5,), (None, None))] == [1, 1, 1]


def test_auto_works_on_the_hottest_lines_and_asks_the_judge_and_looks_elsewhere_where_it_is_stuck():
    for rounds in ((1.5,), (None,), (1.5, 1.4)):
        assert [(aim.focus, aim.directed) for aim in planned(*rounds)] == [(0, False), (1, False)]
    stuck = planned(1.3, 1.5, None, 1.4)
    assert [(aim.parent, aim.focus, aim.directed) for aim in stuck] == [
        ("2", None, True),
        ("2", 0, False),
        ("2", None, False),
        ("4", None, False),
    ]
    assert [aim.parent for aim in planned(1.5, None, None)] == ["1", "1", "1", BASE]


def archive(*all: Tried, number=1) -> set[str]:
    """All that evolve ever builds upon or crosses, in enough rounds of chance."""
    plans = [open_strategy("evolve").plan(standing(*all), number + 3 * turn, 8) for turn in range(30)]
    return {id for plan in plans for aim in plan for id in (aim.parent, aim.partner) if id}


def test_evolve_keeps_the_best_of_each_niche_and_no_other():
    def of(*, low=1.5, id, labels=("algorithm",), **rest):
        return tried(id, parent="root", low=low, labels=labels, **rest)

    root = tried("root", labels=("parallelism",))
    niches = [
        of(id="plain"),
        of(id="other label", labels=("vectorisation",)),
        of(id="other module", source=f"import numpy\n{PLAIN}"),
        of(id="other loops", source=f"{PLAIN}for x in []: pass\n"),
        of(id="good on small", ratios=(2.0, 1.5)),
        of(id="good on large", ratios=(1.5, 2.0)),
    ]
    kept = archive(root, *niches, of(id="worse", low=1.4), tried("wrong", correct=False, parent="root"))
    assert kept - {BASE} == {"root", *(one.id for one in niches)}


def test_evolve_has_islands_that_meet_in_migration_alone():
    families = {"a": "a", "b": "b", "a1": "a", "b1": "b", "a2": "a1", "b2": "b1"}
    found = [
        tried(id, parent=BASE if id in "ab" else parent, labels=(id,), low=1.2 + place / 10)
        for place, (id, parent) in enumerate(families.items())
    ]
    pairs = {number: set() for number in range(1, 31)}
    for number, met in pairs.items():
        for aim in open_strategy("evolve").plan(standing(*found), number, 8):
            if aim.partner:
                met.add(aim.parent[0] == aim.partner[0])
    assert set.union(*(met for number, met in pairs.items() if number % 3)) == {True}
    assert set.union(*(met for number, met in pairs.items() if number % 3 == 0)) == {False}


def test_evolve_draws_otherwise_in_another_round_and_for_another_target():
    found = [tried(id, labels=(id,), low=1.2 + place / 10) for place, id in enumerate("abcdef")]
    evolve = open_strategy("evolve")
    plans = [evolve.plan(standing(*found), number, 8) for number in (1, 5, 7)]
    plans.append(evolve.plan(replace(standing(*found), baseline="another"), 1, 8))
    assert len({tuple(plan) for plan in plans}) == len(plans)
