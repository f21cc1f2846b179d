"""Several drivers of one run: each job once, rows in every file, a dead driver's work taken over, caps over all."""

from __future__ import annotations

import random
import shutil
import time
from contextlib import closing

import pytest
from driving import CALL_USD, Provider, Workspace, calls_of, expect_none_asked_again, until

from whet.agents.calls import Calls, CallState
from whet.benchmarks.runner.joining import expect_name
from whet.benchmarks.runner.rows import read_rows
from whet.core.errors import UsageError

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
on_both = pytest.mark.usefixtures("database")


@pytest.mark.corpus
@on_both
def test_two_drivers_share_the_jobs_and_each_file_has_all_rows_once(tmp_path):
    place = Workspace(tmp_path, words={"problems": 12, "seconds": 0.15})
    drivers = [place.driver("a", drivers=2), place.driver("b", workers=2, drivers=2)]
    told = [driver.end() for driver in drivers]
    names = sorted(f"p{n}" for n in range(12))
    for name in "ab":
        assert sorted(row.problem for row in place.rows(name)) == names
    assert sorted(place.rows("a"), key=str) == sorted(place.rows("b"), key=str)
    assert place.judged() == dict.fromkeys(names, 1)
    own = [sum(" False " in line for line in lines) for lines in told]
    assert min(own) > 0
    assert sum(own) == 12
    late = place.driver("late").end()
    assert sorted(row.problem for row in place.rows("late")) == names
    assert all(" True " in line for line in late[:-1])
    assert sum(place.judged().values()) == 12


@pytest.mark.corpus
def test_a_model_is_asked_once_for_each_answer_of_three_drivers(tmp_path):
    with Provider(0.05) as provider:
        place = Workspace(tmp_path, provider.openai_url, {"problems": 6})
        for driver in [place.driver(name) for name in "abc"]:
            driver.end()
        with closing(place.store()) as store:
            calls = calls_of(store)
            assert len(store.runs()) == 6
            assert len(provider.requests) == len(calls)
            expect_none_asked_again(store, len(calls))
        for name in "abc":
            assert sorted(row.problem for row in place.rows(name)) == [f"p{n}" for n in range(6)]


@pytest.mark.corpus
@on_both
def test_a_dead_drivers_run_is_gone_on_with(tmp_path):
    with Provider(0.3) as provider:
        place = Workspace(tmp_path, provider.openai_url, {"problems": 2})
        first = place.driver("a")
        until(lambda: len(provider.requests) >= 4)  # of the second round: the first is recorded
        first.kill()
        assert place.driver("b").end() == ["p0 False ", "p1 False ", "end 0 "]
        assert sorted(row.problem for row in place.rows("b")) == ["p0", "p1"]
        with closing(place.store()) as store:
            assert [run.status for run in store.runs()] == ["finished"] * 2
            states = [call.state for call in calls_of(store)]
            assert 1 <= states.count(CallState.UNKNOWN) <= 2
            expect_none_asked_again(store, len(provider.requests))
        place.driver("a").end()
        assert sorted(place.rows("a"), key=str) == sorted(place.rows("b"), key=str)


@pytest.mark.corpus
def test_an_interrupt_ends_the_driver_that_waits_and_no_other(tmp_path):
    place = Workspace(tmp_path, words={"problems": 1})
    works = place.driver("a", gate="../go")
    until(lambda: place.judged() == {"p0": 1})
    waits = place.driver("b")
    until((waits.folder / "stacks").exists)
    time.sleep(1.0)
    waits.interrupt()
    assert waits.end(1) == ["KeyboardInterrupt "]
    (tmp_path / "go").touch()
    assert works.end() == ["p0 False ", "end 0 "]
    assert place.driver("b").end() == ["p0 True ", "end 0 "]


@pytest.mark.corpus
@on_both
def test_money_is_reserved_and_counted_over_all_drivers(tmp_path):
    with Provider(0.05) as provider:
        place = Workspace(tmp_path, provider.openai_url, {"problems": 8, "usd": 0.2, "total_usd": 0.21})
        drivers = [place.driver(name) for name in "abc"]
        until(lambda: len(provider.requests) >= 2)
        told = [driver.end()[-1] for driver in drivers]
        # One answer costs 4 calls; the third brings what is spent above 0.01, and leaves too little for a fourth.
        why = "end 0 --total-usd 0.21 leaves too little for another answer: 0.0120 USD are spent"
        assert told == [why] * 3
        assert [len(place.rows(name)) for name in "abc"] == [3] * 3
        assert len(provider.requests) * CALL_USD == pytest.approx(0.012)
        assert provider.most <= 2  # the samples of one answer: nobody else had room beside it
        assert place.driver("a", total_usd=0.215).end()[-1].endswith("0.0160 USD are spent")


@pytest.mark.corpus
def test_a_dead_drivers_money_is_what_its_ledger_says(tmp_path):
    with Provider(0.1) as provider:
        place = Workspace(tmp_path, provider.openai_url, {"problems": 20, "usd": 0.2, "total_usd": 0.26})
        first = place.driver("a")
        until(lambda: len(provider.requests) >= 3)
        first.kill()
        place.driver("b").end()
        with closing(place.store()) as store:
            spent = sum(Calls(store, run.id).cost().usd for run in store.runs())
            unknown = [call for call in calls_of(store) if call.state is CallState.UNKNOWN]
            assert unknown
            assert all(call.usd > 5 * CALL_USD for call in unknown)
        assert len(provider.requests) * CALL_USD < spent <= 0.26
        assert spent + 0.2 > 0.26


@pytest.mark.corpus
def test_time_counts_from_the_first_drivers_start(tmp_path):
    place = Workspace(tmp_path, words={"problems": 3, "seconds": 0.6, "total_seconds": 0.5})
    assert place.driver("a").end() == ["p0 False ", "end 0 --total-seconds 0.5 are over"]
    assert place.driver("b").end() == ["p0 True ", "end 0 --total-seconds 0.5 are over"]
    assert place.judged() == {"p0": 1}


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"samples": 2}, "another --samples: 1 there, 2 here;"),
        ({"seed": 8}, "another --seed: 7 there, 8 here;"),
        ({"problems": 3}, "another problems;"),
        ({"data": "mended"}, "another data of the suite;"),
    ],
)
def test_another_plan_is_refused_by_what_differs(tmp_path, other, told):
    place = Workspace(tmp_path, words={"problems": 2})
    place.driver("a").end()
    (line,) = place.driver("b", **other).end(1)
    assert line.startswith(f"UsageError the joined run 'together' was begun with {told}")
    assert place.driver("b", join="another", **other).end()[-1] == "end 0 "


@pytest.mark.parametrize("name", ["", "a/b", "../a", "a b", ".a", "-a", "é", "a\n", "a\x1b[2J", "x" * 65])
def test_a_name_is_plain(name):
    with pytest.raises(UsageError, match="--join") as error:
        expect_name(name)
    assert str(error.value).isprintable()


@pytest.mark.corpus
def test_a_file_of_other_rows_is_refused(tmp_path):
    place = Workspace(tmp_path, words={"problems": 1})
    place.driver("a", join=None).end()
    (line,) = place.driver("a").end(1)
    assert "holds a row of 'p0', sample 0, that is not of the joined run 'together'" in line


@pytest.mark.corpus
def test_a_run_begun_on_another_kind_of_machine_is_left_to_one(tmp_path):
    with Provider(0.3) as provider:
        place = Workspace(tmp_path, provider.openai_url, {"problems": 1})
        first = place.driver("a", processor="another processor")
        until(lambda: len(provider.requests) >= 3)
        first.kill()
        (line, end) = place.driver("b").end()
        assert "p0 False begun on a machine of another kind (another processor, " in line
        assert end == "end 1 "
        assert place.driver("c", processor="another processor").end() == ["p0 False ", "end 0 "]


def kill_at_random(place: Workspace, provider: Provider, drivers: int, kills: int, seed: int) -> None:
    """Kills one of the drivers again and again, and begins another in its place; then lets them end."""
    rng, killed, names = random.Random(seed), 0, [f"driver{n}" for n in range(drivers)]
    running = {name: place.driver(name) for name in names}
    while killed < kills:
        time.sleep(rng.uniform(0.05, 0.9))
        name = rng.choice(names)
        if running[name].process.is_alive():
            running[name].kill()
            killed += 1
        else:
            running[name].end()
            if all(not driver.process.is_alive() for driver in running.values()):
                break
        running[name] = place.driver(name)
    for driver in running.values():
        driver.end()
    assert killed == kills, "too few jobs"


@on_both
@pytest.mark.exhaustive
def test_kills_at_random_moments_lose_and_repeat_nothing(tmp_path):
    with Provider(0.02) as provider:
        place = Workspace(tmp_path, provider.openai_url, {"problems": 60, "rounds": 3, "delay": 0.01})
        kill_at_random(place, provider, 3, 20, seed=12)
        names = sorted(f"p{n}" for n in range(60))
        for name in ("driver0", "driver1", "driver2"):
            assert sorted(row.problem for row in place.rows(name)) == names
        with closing(place.store()) as store:
            expect_none_asked_again(store, len(provider.requests))
            assert len([run for run in store.runs() if run.status == "finished"]) == 60


@pytest.mark.corpus
def test_a_row_of_another_driver_has_its_evidence_too(whet, tmp_path):
    words = ("bench", "run", "whetbench", "--ids", "dedup-events", "--model", "known-best", "--until", "differential")
    for name in ("a", "b"):
        done = whet(*words, "--join", "shared", "-o", tmp_path / name / "rows.jsonl")
        assert done.returncode == 0, done.stderr
    assert "by another driver" in done.stdout
    (one,), (other,) = (read_rows(tmp_path / name / "rows.jsonl").rows for name in ("a", "b"))
    assert one == other
    assert whet("verify", "--evidence", tmp_path / "b" / "rows.evidence" / f"{one.evidence}.zip").returncode == 0
    refused = whet(*words, "--join", "a b", "-o", tmp_path / "c.jsonl")
    assert (refused.returncode, len(refused.stderr.splitlines())) == (2, 1)
