"""Successive halving: who gets a further look, and what becomes of those who do not."""

from __future__ import annotations

import os
import random

# Before langgraph is imported: a state that is not plain data would come back as something else.
os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_turns import RULE, turns, works
from work import Work, answer, coder_requests, prompt, scripted, version

from whet.agents.optimize import replay, resume
from whet.agents.race import BEHIND, race, undecided
from whet.core.candidate import Candidate, content_id
from whet.core.measurement import Measurement, Outcome
from whet.core.store import Store
from whet.core.verdict import Verdict
from whet.evaluators.timing.decision import sequential
from whet.evaluators.timing.statistics import SEARCH_STAGES
from whet.testing.tabled import Row, TabledEvaluator

LOOKS = 3


@pytest.fixture
def work(tmp_path):
    return Work(tmp_path)


class Track:
    """Rivals whose measurements are decided after so many looks, and what looks were taken."""

    def __init__(self, work, rows) -> None:
        self.evaluator = TabledEvaluator(work.task, {version(n): row for n, row in enumerate(rows)})
        self.texts = {Candidate(version(n)).id: Candidate(version(n)) for n in range(len(rows))}
        self.looks = dict.fromkeys(self.texts, 0)

    def look(self, id, looks):
        assert looks == self.looks[id] + 1
        self.looks[id] = looks
        return self.evaluator.measure(self.texts[id], Verdict(id, ()), looks=looks)

    def run(self, late=lambda: False):
        return race({id: self.look(id, 1) for id in self.texts}, self.look, late)

    def counts(self):
        return list(self.looks.values())


def test_the_better_half_is_looked_at_twice_and_the_better_quarter_thrice(work):
    track = Track(work, [Row(1.0 + n / 10, looks=LOOKS) for n in range(1, 9)])
    known = track.run()
    assert track.counts() == [1, 1, 1, 1, 2, 2, 3, 3]
    assert [verdict.improved for verdict in known.values()] == [False] * 6 + [True] * 2


def test_where_who_leads_is_not_faster_the_next_one_is_measured_to_its_end(work):
    rows = [Row(1.015, looks=LOOKS), Row(1.01, looks=LOOKS), Row(1.0, looks=LOOKS)]
    track = Track(work, rows)
    assert not any(undecided(verdict) for verdict in track.run().values())
    assert track.counts() == [LOOKS] * 3


def test_once_the_time_is_up_who_leads_alone_is_measured_on(work):
    track = Track(work, [Row(1.5, looks=LOOKS), Row(1.9, looks=LOOKS), Row(1.7, looks=LOOKS), Row(1.6, looks=LOOKS)])
    known = track.run(late=lambda: True)
    assert track.counts() == [1, LOOKS, 1, 1]
    assert [verdict.improved for verdict in known.values()] == [False, True, False, False]


rivals = st.lists(
    st.builds(Row, ratio=st.sampled_from([0.9, 1.0, 1.01, 1.1, 1.5, 2.0]), looks=st.integers(1, LOOKS)),
    min_size=2,
    max_size=9,
)


@given(rivals)
def test_nobody_is_left_behind_but_behind_one_that_was_shown_faster(tmp_path_factory, rows):
    track = Track(Work(tmp_path_factory.mktemp("w")), rows)
    known = track.run()
    for row, verdict in zip(rows, known.values(), strict=True):
        whole = track.evaluator.measure(Candidate(version(rows.index(row))), Verdict("", ()))
        if undecided(verdict):
            assert not verdict.improved
            ahead = [other for other in known.values() if other.improved]
            assert any(other.measurement.speedup.ratio >= verdict.measurement.speedup.ratio for other in ahead)
        else:
            assert verdict.improved == whole.improved, "a whole measurement says what it always said"
    best = max(row.ratio for row in rows)
    found = [verdict.measurement.speedup.ratio for verdict in known.values() if verdict.improved]
    assert not found or max(found) == best


@pytest.mark.parametrize("speedup", [0.9, 1.0, 1.02, 1.5])
@pytest.mark.parametrize("seed", range(5))
def test_looks_taken_one_by_one_come_to_what_they_come_to_together(speedup, seed):
    drawn: dict[int, object] = {}
    make = turns(random.Random(seed), {"a": speedup}, 0.02)

    def turn(number):
        return drawn.setdefault(number, make(number))

    whole = sequential(turn, works("a"), SEARCH_STAGES, RULE)
    found = sequential(turn, works("a"), SEARCH_STAGES, RULE, looks=1)
    for looks in range(2, 9):
        assert isinstance(found, Measurement)
        if not found.undecided:
            break
        assert (found.undecided, found.outcome) == (looks - 1, Outcome.NOT_SHOWN)
        begun = [drawn[number + 1] for number in range(found.speedup.processes)]
        found = sequential(turn, works("a"), SEARCH_STAGES, RULE, begun, looks)
    assert found == whole


def test_who_is_left_behind_is_not_shown_faster_and_the_agents_are_told_why(work):
    rows = {version(n): Row(1.0 + n / 10, looks=LOOKS) for n in range(1, 5)}
    model = scripted([answer(version(n)) for n in range(1, 5)], [])
    result = work.optimize(model, rows, candidates=4)
    assert result.candidate.id == content_id(version(4))
    assert result.candidates.rejected == {"not_faster": 3}
    told = prompt(coder_requests(model)[1])
    assert told.count(BEHIND) == 3
    assert "right, but not shown to be faster" in told
    measured = [line for line in work.journal_lines() if line.startswith("measure")]
    assert len(measured) == 4 + 2 + 1
    again = replay(result.run, home=work.home)
    assert (again.candidates, again.speedup) == (result.candidates, result.speedup)


def test_one_right_candidate_is_measured_at_once(work):
    work.optimize(scripted([answer(version(1))]), {version(1): Row(2.0, looks=LOOKS)}, rounds=1)
    assert sum(line.startswith("measure") for line in work.journal_lines()) == 1


@pytest.mark.parametrize("place", range(7))
def test_a_run_killed_between_two_looks_takes_none_twice(work, place):
    rows = {version(n): Row(1.0 + n / 10, looks=LOOKS) for n in range(1, 5)}
    count = iter(range(1000))

    class Killed(TabledEvaluator):
        def measure(self, candidate, verdict, **looks):
            if next(count) == place:
                raise KeyboardInterrupt
            return super().measure(candidate, verdict, **looks)

    model = scripted([answer(version(n)) for n in range(1, 5)], [])
    evaluator = Killed(work.task, rows, journal=work.journal)
    with pytest.raises(KeyboardInterrupt):
        work.optimize(model, rows, candidates=4, evaluator=evaluator)
    run = Store(work.home).runs()[0].id
    result = resume(run, model=model, judge_model=model, home=work.home, evaluator=evaluator)
    assert result.candidate.id == content_id(version(4))
    assert sum(line.startswith("measure") for line in work.journal_lines()) == 4 + 2 + 1
    assert not [key for key in Store(work.home).keys(run) if key.endswith(":look")]
