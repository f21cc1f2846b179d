"""What ``whet bench self scale`` counts: losses, doubles and repetitions that were planted are found."""

from __future__ import annotations

from contextlib import closing
from itertools import islice

import pytest

from whet.benchmarks.self.scale.aftermath import Aftermath, aftermath, over_all
from whet.benchmarks.self.scale.checking import Faults, ReceivedResults, faults
from whet.benchmarks.self.scale.driving import Script
from whet.benchmarks.self.scale.killing import Victim, schedule
from whet.benchmarks.self.scale.places import LOCAL, done, slots_on
from whet.benchmarks.self.scale.work import chained, key_of, lines_of, noted, piece
from whet.core.store import Store

CANDIDATES = 6


@pytest.fixture
def stored(tmp_path):
    """A store with the results of a run, and what its driver was told."""
    told = ReceivedResults(CANDIDATES)
    with slots_on(LOCAL, 2, tmp_path) as executor:
        for outcome in done(executor, [piece("run", number, 3) for number in range(CANDIDATES)]):
            told.take(outcome.result)
    with closing(Store(tmp_path)) as store:
        yield store, told


def drop(store, number, run="run"):
    with store.connection() as db:
        db.execute("DELETE FROM results WHERE key = :key", {"key": bytes.fromhex(key_of(run, number))})


def test_results_that_are_as_they_must_be_have_no_faults(stored):
    assert faults(stored[0], "run", CANDIDATES, 3, stored[1]) == Faults()


def test_a_lost_result_is_found_in_the_store_and_with_the_driver(stored):
    store, told = stored
    drop(store, 4)
    assert faults(store, "run", CANDIDATES, 3, told) == Faults(lost=1)
    assert faults(store, "run", CANDIDATES, 3, ReceivedResults(CANDIDATES)) == Faults(lost=CANDIDATES)


def test_a_result_that_is_told_twice_is_found(stored):
    store, told = stored
    told.take(store.result(key_of("run", 2)))
    assert faults(store, "run", CANDIDATES, 3, told) == Faults(doubled=1)


def test_a_result_that_is_another_than_was_told_is_found(stored):
    store, told = stored
    drop(store, 1)
    store.keep_result(key_of("run", 1), {"number": 1, "digest": chained(1, 3), "execution": "0" * 15 + "1"})
    assert faults(store, "run", CANDIDATES, 3, told) == Faults(doubled=1)


def test_a_wrong_result_is_found(stored):
    store, told = stored
    execution = told.execution(5)
    drop(store, 5)
    store.keep_result(key_of("run", 5), {"number": 5, "digest": chained(4, 3), "execution": execution})
    assert faults(store, "run", CANDIDATES, 3, told) == Faults(wrong=1)


@pytest.fixture
def script(tmp_path):
    """One that came to its end, and that nobody disturbed."""
    made = Script(tmp_path / "scripts" / "0", tmp_path / "home", "local:2", 3, 2, work_seconds=0.01)
    made.work()
    return made


def test_an_undisturbed_script_leaves_no_faults(script):
    assert aftermath(script) == Aftermath(results=6, replies=6, executions=6)


def test_a_finished_script_is_not_begun_again(script):
    script.work()
    assert aftermath(script) == Aftermath(results=6, replies=6, executions=6)


def test_a_recorded_reply_that_is_asked_for_again_is_found(script):
    ((name,), *_) = lines_of(script.questions)
    noted(script.questions, name)
    assert aftermath(script).asked_again == 1


def test_a_question_that_no_ledger_knows_is_found(script):
    noted(script.questions, "null_listener-of")
    assert aftermath(script).unaccounted == 1


def test_finished_work_that_is_begun_again_is_found(script):
    ((number, execution, at), *_) = lines_of(script.executions)
    noted(script.executions, f"{number} {execution} {float(at) + 60}")
    found = aftermath(script)
    assert (found.repeated, found.executions) == (1, 7)


def test_what_two_drivers_were_told_differently_is_found(script):
    noted(script.told, f"0 3 {'1' * 16}")
    assert aftermath(script).faults.doubled == 1


def test_a_script_whose_results_were_lost_goes_on_with_other_questions(script):
    with closing(Store(script.home)) as store:
        record = script.record(store)
        store.drop_fact(record.id, "round:0")
        store.reopen(record.id)
        for number in range(2):
            drop(store, number, script.name)
    script.work()
    found = aftermath(script)
    assert found.faults.doubled == 2
    assert found.strayed == 2
    assert found.total >= 4


def test_faults_add_up():
    one = Aftermath(results=3, faults=Faults(lost=1), repeated=2)
    assert over_all([one, one]) == Aftermath(results=6, faults=Faults(lost=2), repeated=4)
    assert over_all([one, one]).total == 6


def test_a_seed_draws_the_same_kills_each_kind_as_often():
    drawn = list(islice(schedule(7, tuple(Victim)), 30))
    assert drawn == list(islice(schedule(7, tuple(Victim)), 30))
    assert drawn != list(islice(schedule(8, tuple(Victim)), 30))
    assert {victim: sum(kill.victim is victim for kill in drawn) for victim in Victim} == dict.fromkeys(Victim, 10)
    assert all(0 <= kill.after < 1 and 0 <= kill.draw < 1 for kill in drawn)
