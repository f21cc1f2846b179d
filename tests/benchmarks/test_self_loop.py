"""``whet bench self loop``, in small: kills, growth, and the ideal that a run's time is held against."""

from __future__ import annotations

import hashlib
import json
import shutil
from itertools import islice

import pytest

from whet.agents.optimize import replay
from whet.benchmarks.self import growth, waits
from whet.benchmarks.self.kills import Moment, kill_runs
from whet.benchmarks.self.rehearsal import Rehearsal, redrawn
from whet.core.events import EventKind
from whet.core.measurement import Measurement, Outcome, Speedup
from whet.core.store import Store
from whet.core.verdict import Rung, RungStatus, Verdict

GOAL = 20_000
"""Bytes a round."""


def turn(number: int) -> dict:
    sides = ("candidate", "again", "baseline")
    one = {"outside": 0.020268505002604797, "inside": 0.006505403, "cpu": 0.006532003, "peak": 0, "waits": 0}
    return {
        "order": list(sides),
        "load": 1.62841796875,
        "passes": {size: dict.fromkeys(sides, one) for size in ("size 1800", "size 2600")},
        "seed": (1 << 62) + number,
        "inputs": {size: hashlib.sha256(size.encode()).hexdigest() for size in ("size 1800", "size 2600")},
    }


def large_verdict() -> Verdict:
    """As large as the ladder's: 400 hashes of inputs, 10 turns of 6 processes, each figure twice."""
    hashes = [hashlib.sha256(str(n).encode()).hexdigest()[:16] for n in range(400)]
    raw = {"turns": [turn(n) for n in range(10)]}
    speedup = Speedup(2.0, 1.9, 2.1, 0.99, "time", 10, 50, (0.99, 1.01), "the original", ())
    measured = {"measurements": [{"flags": [], "outcome": "faster", "raw": raw}]}
    return Verdict(
        "0" * 64,
        (
            Rung("screen", RungStatus.PASSED, evidence={"hints": []}),
            Rung("differential", RungStatus.PASSED, evidence={"inputs": 400, "hashes": hashes, "seed": 1 << 60}),
            Rung("measure", RungStatus.PASSED, evidence=measured),
        ),
        Measurement(Outcome.FASTER, speedup, 0.001, raw=raw),
    )


@pytest.mark.corpus
def test_kills_at_random_moments_lose_and_repeat_nothing(tmp_path):
    script = Rehearsal(tmp_path, tmp_path / "target.py", 3, 2, 0.005, 0.005)
    tallies = list(islice(kill_runs(tmp_path, script, 6), 3))
    assert sum(tally.kills for tally in tallies) >= 6
    assert sum(tally.recorded for tally in tallies) > 0
    for tally in tallies:
        assert (tally.asked_again, tally.repeated, tally.unaccounted, tally.others) == (0, 0, 0, 0)


def test_the_counting_sees_what_is_done_twice(tmp_path):
    script = Rehearsal(tmp_path, tmp_path / "target.py", 2, 2)
    script.work()
    moment = Moment.of(script)
    # Samples, the Judge, checks and measures (one check has gone with the evidence), a confirm, profiles.
    assert moment.recorded == 4 + 1 + (4 * 2 - 1) + 1 + 2
    assert moment.done_again(script) == (0, 0)
    shutil.rmtree(script.home)
    script.work()
    assert moment.done_again(script) == (5, moment.recorded - 5)


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    folder = tmp_path_factory.mktemp("grown")
    script = Rehearsal(folder, folder / "target.py", 30, template=large_verdict())
    return script, growth.grow(script)


@pytest.mark.corpus(one_in=8)
def test_a_long_run_grows_by_little_and_evenly(grown):
    _, found = grown
    assert found.rounds == tuple(range(1, 30))
    assert 0 < found.slope() < GOAL
    assert found.slope(0.6) == pytest.approx(found.slope(0.2, 0.6), rel=0.3)


def test_raw_evidence_is_kept_of_what_may_still_win_alone(grown):
    script, _ = grown
    store = Store(script.home)
    record = store.runs()[0]
    facts = store.facts(record.id, "verdict:")
    full = {name.split(":")[1] for name, value in facts.items() if "hashes" in json.dumps(value)}
    assert len(facts) == 30 * 4 + 3 + 1  # the check of a loser stands in its measurement's verdict
    assert record.result["candidate"]["id"] in full
    assert len(full) == 3
    loser = next(value for name, value in facts.items() if name.endswith(":measure") and name.split(":")[1] not in full)
    assert loser["rungs"][1]["evidence"].keys() == {"inputs", "seed"}
    assert loser["measurement"]["speedup"]["ratio"] > 1
    assert loser["measurement"]["raw"] == {}
    store.close()


def test_a_run_whose_evidence_was_dropped_is_replayed(grown):
    script, _ = grown
    store = Store(script.home)
    record = store.runs()[0]
    store.close()
    again = replay(record.id, home=script.home)
    assert again.candidate.id == record.result["candidate"]["id"]
    assert again.message == record.result["message"]


def test_a_run_under_way_has_one_checkpoint_and_a_finished_one_none(tmp_path):
    script = Rehearsal(tmp_path, tmp_path / "target.py", 4, 2)
    store = Store(script.home)
    counts = []

    def count():
        with store.connection() as db:
            return db.execute("SELECT count(*), coalesce(max(length(checkpoint)), 0) FROM checkpoints").fetchone()

    script.work(lambda event: counts.append(count()) if event.kind is EventKind.ROUND else None)
    assert [rows for rows, _ in counts] == [1] * 4
    assert all(size < 2000 for _, size in counts), "ids and scores only"
    assert count() == (0, 0)
    store.close()


def test_data_drawn_anew_keeps_its_shape(tmp_path):
    data = {"hashes": ["ab" * 8], "seconds": 0.125, "seed": 1 << 60, "count": 3, "name": "size 10"}
    drawn = redrawn(data, "x")
    assert {name: type(value) for name, value in drawn.items()} == {name: type(value) for name, value in data.items()}
    assert len(drawn["hashes"][0]) == 16
    assert drawn["hashes"] != data["hashes"]
    assert (drawn["count"], drawn["name"]) == (3, "size 10")
    assert redrawn(data, "x") == drawn != redrawn(data, "y")


def test_the_ideal_is_the_time_of_the_answers():
    assert waits.ideal(1, slots=4) == pytest.approx(0.2)
    assert waits.ideal(10) == pytest.approx(10 * 2 * 0.2 + 9 * 0.2)
