"""Evaluation through an executor: what workers find is what the ladder finds, once, and where it may be found."""

from __future__ import annotations

import shutil
from contextlib import closing
from dataclasses import replace

import pytest
import unique
from executors import Threads

from whet.core.candidate import Candidate
from whet.core.errors import BaselineError, NoInputsError, SandboxError, UsageError
from whet.core.options import Options
from whet.core.store import Store
from whet.core.task import Limits
from whet.core.verdict import Reason, Verdict
from whet.evaluators.ladder import open_ladder
from whet.evaluators.remote.remote import open_remote
from whet.evaluators.targets import read_task
from whet.sandbox.workers.local import Local

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

WORKLOAD = unique.workload(10, 400, 900)
RIGHT = Candidate(unique.GOOD)
WRONG = Candidate(unique.WRONG)
CRASHING = Candidate("import os\ndef unique(items):\n    os.kill(os.getpid(), 9)\n")
ENDLESS = Candidate("def unique(items):\n    while True:\n        pass\n")
BROKEN = Candidate("def unique(items:\n")
ALL = (RIGHT, WRONG, CRASHING, ENDLESS, BROKEN)
CHECKED = Options(until="differential", sandbox="bubblewrap")
SEED = 20_261_123
ONE, OTHER = {"processor": "one"}, {"processor": "other"}


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("WHET_HOME", str(tmp_path / "home"))
    with closing(Store()) as opened:
        yield opened


@pytest.fixture
def task(tmp_path):
    (tmp_path / "unique.py").write_text(unique.SLOW)
    (tmp_path / "workload.py").write_text(WORKLOAD)
    read = read_task(f"{tmp_path}/unique.py::unique", Options(workload=tmp_path / "workload.py"))
    return replace(read, limits=Limits(seconds=1.0))


def judged(evaluator, candidates=ALL):
    evaluator.validate()
    evaluator.announce(candidates)
    return [timeless(evaluator.check(candidate)) for candidate in candidates]


def timeless(verdict):
    return Verdict(verdict.candidate, tuple(replace(rung, seconds=0.0) for rung in verdict.rungs), verdict.measurement)


def steps(executor):
    return [(host, work.call.partition(":")[2]) for host, work in executor.done]


@pytest.mark.corpus
def test_verdicts_of_workers_are_those_of_the_ladder(task, store):
    with closing(open_ladder(task, CHECKED, SEED)) as ladder:
        expected = judged(ladder)
    assert [verdict.failed and verdict.failed.reason for verdict in expected] == [
        None,
        Reason.WRONG_OUTPUT,
        Reason.CRASH,
        Reason.TIMEOUT,
        Reason.SYNTAX_ERROR,
    ]
    with closing(Local(2)) as executor, closing(open_remote(task, CHECKED, SEED, store, executor)) as remote:
        assert judged(remote) == expected
        assert remote.helpers(WRONG, remote.check(WRONG)).wrong in ("", "unique")
        assert remote.provenance(store.put).seed == SEED
        assert [timed.name for timed in remote.circumstances().timed] == ["size 400", "size 900"]


@pytest.mark.corpus
def test_what_the_store_knows_is_not_worked_out_again(task, store):
    with closing(Threads(store.home, a=ONE)) as executor:
        with closing(open_remote(task, CHECKED, SEED, store, executor)) as remote:
            first = judged(remote, (RIGHT, WRONG))
            verdict = remote.measure(RIGHT, first[0])
        done = len(executor.done)
        with closing(open_remote(task, CHECKED, SEED, store, executor)) as again:
            assert judged(again, (WRONG, RIGHT)) == first[::-1], "a batch is the same in any order"
            assert again.measure(RIGHT, first[0]) == verdict
            assert len(executor.done) == done
            again.announce([RIGHT])
            again.check(RIGHT)
            assert len(executor.done) == done + 1, "another batch meets other inputs"


@pytest.mark.corpus(one_in=8)
def test_a_host_keeps_the_newest_ladders_only(task, store):
    with closing(Threads(store.home, a=ONE)) as executor:
        for seed in range(4):
            open_remote(task, CHECKED, seed, store, executor).close()
        kept = executor.benches["a"].kept["ladders"]
        assert len(kept) == 2


@pytest.mark.corpus
def test_all_timing_is_done_on_hosts_of_one_class(task, store):
    with closing(Threads(store.home, a=ONE, b=OTHER, c=OTHER)) as executor:
        with closing(open_remote(task, CHECKED, SEED, store, executor)) as remote:
            assert remote.kind["processor"] == "other", "there are more of them"
            verdict, _ = judged(remote, (RIGHT, WRONG))
            remote.confirm(RIGHT, remote.measure(RIGHT, verdict))
        timed = {host for host, step in steps(executor) if step not in ("check", "helpers")}
        assert timed <= {"b", "c"}
        kind = {**remote.kind, **ONE}
        with closing(open_remote(task, CHECKED, SEED, store, executor, kind=kind)) as resumed:
            resumed.validate()
        assert executor.done[-1][0] == "a", "a run that goes on stays with its class, not with what it finds now"


@pytest.mark.corpus
def test_where_no_host_of_the_class_is_left_the_error_names_it_and_those_that_are_there(task, store):
    executor = Threads(store.home, a=ONE, b=OTHER, c=OTHER)
    with closing(executor), closing(open_remote(task, CHECKED, SEED, store, executor)) as remote:
        (verdict,) = judged(remote, (RIGHT,))
        executor.lose("b")
        executor.lose("c")
        with pytest.raises(
            SandboxError, match=r"no host .*processor other.* is left; the hosts are a \(.*processor one"
        ):
            remote.measure(RIGHT, verdict)


def test_a_device_that_no_host_has_is_a_usage_error_with_the_labels_that_exist(task, store):
    with closing(Threads(store.home, a=ONE)) as executor:
        with pytest.raises(UsageError, match=r"no host with a GPU.*a \(.*gpu none"):
            open_remote(task, replace(CHECKED, device="cuda"), SEED, store, executor)
        with pytest.raises(UsageError, match="no host that takes --sandbox docker"):
            open_remote(task, replace(CHECKED, sandbox="docker"), SEED, store, executor)


@pytest.mark.corpus(one_in=8)
def test_what_a_worker_finds_wrong_with_the_task_is_raised_here_as_what_it_is(task, store):
    uneven = replace(task, source="import random\ndef unique(items):\n    return random.random()\n")
    bare = replace(task, workload=replace(task.workload, generator=None))
    with closing(Local(1)) as executor:
        with closing(open_remote(uneven, CHECKED, SEED, store, executor)) as remote:
            with pytest.raises(BaselineError) as raised:
                remote.validate()
            assert raised.value.reason == "nondeterministic"
        with pytest.raises(NoInputsError):
            open_remote(bare, replace(CHECKED, until=None), SEED, store, executor)


def test_a_closed_one_asks_for_nothing(task, store):
    with closing(Threads(store.home, a=ONE)) as executor:
        remote = open_remote(task, CHECKED, SEED, store, executor)
        remote.close()
        with pytest.raises(SandboxError, match="ended"):
            remote.validate()


@pytest.mark.corpus
@pytest.mark.usefixtures("figures_at_usual_looks")
def test_a_measurement_goes_on_where_it_was_begun_or_begins_afresh(task, store):
    options = replace(CHECKED, until=None)
    executor = Threads(store.home, a=ONE, b=ONE)
    with closing(executor), closing(open_remote(task, options, SEED, store, executor)) as remote:
        (verdict,) = judged(remote, (RIGHT,))
        begun = remote.measure(RIGHT, verdict, looks=1)
        assert begun.measurement.undecided == 1
        where = executor.done[-1][0]
        whole = remote.measure(RIGHT, begun)
        assert executor.done[-1][0] == where
        assert executor.done[-1][1].needs.host == where
        assert whole.measurement.speedup.processes > begun.measurement.speedup.processes
        executor.lose(where)
        # Of another key: a measurement that asks for other looks.
        afresh = remote.measure(RIGHT, begun, looks=9)
        host, work = executor.done[-1]
        assert host != where
        assert work.needs.host == ""
        assert afresh.improved == whole.improved
        assert [rung.name for rung in afresh.rungs].count("measure") == 1
