"""Work done by other processes of this host: results, errors, deaths, cancelling; nothing is left of any of them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time

import pytest
from paths import TESTS
from pieces import gone, lines, outcomes, piece, running, while_workers_die, workers

from whet.core.errors import BaselineError, SandboxError, UsageError
from whet.core.store import Store
from whet.sandbox.workers.base import End, Needs, Work
from whet.sandbox.workers.dispatch import MOST_DEATHS
from whet.sandbox.workers.errors import error_of, raised
from whet.sandbox.workers.local import Local
from whet.sandbox.workers.registry import open_executor


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("WHET_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def local(home):
    executor = Local(2)
    yield executor
    executor.close()


def test_results_come_back_and_are_stored_first(local, home):
    works = [piece("add", numbers=[n, 1]) for n in range(50)]
    found = outcomes(local, *works)
    assert [outcome.result["sum"] for outcome in found] == [n + 1 for n in range(50)]
    assert {outcome.end for outcome in found} == {End.DONE}
    store = Store(home)
    assert [store.result(work.key) for work in works] == [outcome.result for outcome in found]
    store.close()


def test_work_whose_result_is_stored_is_not_done_again(local, tmp_path):
    work = piece("add", numbers=[1, 2], log=str(tmp_path / "log"))
    first, second = (outcomes(local, work)[0] for _ in range(2))
    assert first.result == second.result
    assert lines(tmp_path / "log", 1) == ["[1, 2]"]


def test_a_worker_keeps_things_between_pieces_of_work(home):
    local = Local(1)
    first, second = (outcomes(local, piece("count"))[0].result for _ in range(2))
    local.close()
    assert (first["asked"], second["asked"]) == (1, 2)
    assert first["by"] == second["by"] != os.getpid()


def test_errors_of_ours_are_the_same_at_the_driver(local):
    usage, baseline, other = outcomes(local, *(piece("fail", kind=kind) for kind in ("usage", "baseline", "other")))
    assert {outcome.end for outcome in (usage, baseline, other)} == {End.FAILED}
    assert type(error_of(usage)) is UsageError
    assert str(error_of(usage)) == usage.error == "no such file"
    error = error_of(baseline)
    assert isinstance(error, BaselineError)
    assert (str(error), error.reason) == ("it never ends", "nondeterministic")
    assert type(error_of(other)) is SandboxError
    assert str(error_of(other)) == "ZeroDivisionError: first line second line"


@pytest.mark.parametrize("call", ["os:system", "whetstone.x:f", "whet.testing.pieces:_hidden", "whet.testing.pieces"])
def test_only_what_is_in_whet_is_called(local, call):
    (outcome,) = outcomes(local, Work("00" * 32, call, {}))
    assert outcome.end is End.FAILED
    assert outcome.error == f"'{call}' is nothing of whet's that a worker may do"


def test_what_is_not_in_this_whet_is_said(local):
    (outcome,) = outcomes(local, Work("00" * 32, "whet.nowhere:f", {}))
    assert outcome.error == "'whet.nowhere:f' is not in the whet of this host"


def test_only_errors_of_whet_are_made_from_data():
    with pytest.raises(SandboxError, match="is no error of whet's"):
        raised({"class": "whet.core.store:Store", "arguments": [], "fields": {}})


def test_a_store_that_cannot_be_used_is_told(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WHET_HOME", str(tmp_path / "file"))
    local = Local(1)
    (outcome,) = outcomes(local, piece("add", numbers=[1]))
    local.close()
    assert type(error_of(outcome)) is UsageError
    assert "cannot be used" in outcome.error


def test_work_of_a_worker_that_dies_is_done_again(local, tmp_path):
    (outcome,) = outcomes(local, piece("die", log=str(tmp_path / "log"), times=2))
    assert (outcome.end, outcome.attempts, outcome.result) == (End.DONE, 3, {"survived": True})
    assert local.hosts()[0].failures == {"worker died": 2}


def test_work_that_all_workers_die_of_is_lost(local, tmp_path):
    (outcome,) = outcomes(local, piece("die", log=str(tmp_path / "log"), times=99))
    assert (outcome.end, outcome.attempts) == (End.LOST, 3)
    assert len(lines(tmp_path / "log", 3)) == 3
    assert str(error_of(outcome)).startswith("worker died 3 times")


@pytest.mark.corpus
def test_work_is_not_blamed_for_a_worker_that_dies_before_it_begins(home, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(60)
        monkeypatch.setenv("WHET_STORE", f"postgresql://whet@127.0.0.1:{silent.getsockname()[1]}/whet")
        local = Local(1)
        ticket = local.submit(piece("add", numbers=[1]))
        for _ in range(MOST_DEATHS):
            connection, _ = silent.accept()
            (working,) = workers(home)[0]
            os.kill(working, signal.SIGKILL)
            connection.close()
    (outcome,) = local.as_completed([ticket], 60)
    local.close()
    assert (outcome.end, outcome.attempts) == (End.FAILED, MOST_DEATHS + 1), "lost, though nothing of it was begun"


@pytest.mark.corpus
def test_workers_killed_at_random_lose_nothing_and_double_nothing(local, home, tmp_path):
    for part, (tickets, found) in enumerate(while_workers_die(local, home, tmp_path, seed=7, parts=6, size=10)):
        assert sorted(outcome.ticket for outcome in found) == tickets, part
        done = {outcome.ticket: outcome.result["sum"] for outcome in found if outcome.end is End.DONE}
        assert done == {ticket: number for number, ticket in enumerate(tickets)}, part
    assert local.hosts()[0].failures["worker died"] >= 1


def test_cancelled_work_leaves_nothing(local, tmp_path):
    ticket = local.submit(piece("linger", log=str(tmp_path / "log"), seconds=600))
    left = lines(tmp_path / "log", 2)
    local.cancel([ticket])
    (outcome,) = local.as_completed([ticket], 60)
    assert outcome.end is End.CANCELLED
    assert not any(map(running, left))
    assert outcomes(local, piece("add", numbers=[1]))[0].end is End.DONE


def test_work_that_waits_is_cancelled_too(home, tmp_path):
    local = Local(1)
    first = local.submit(piece("wait", file=str(tmp_path / "go")))
    others = [local.submit(piece("add", numbers=[n])) for n in range(3)]
    assert local.waiting == 3
    local.cancel(others)
    assert local.waiting == 0
    (tmp_path / "go").touch()
    ends = {outcome.ticket: outcome.end for outcome in local.as_completed([first, *others], 60)}
    local.close()
    assert ends == {first: End.DONE} | dict.fromkeys(others, End.CANCELLED)


def test_an_outcome_is_given_once_and_kept_till_then(local, tmp_path):
    ticket = local.submit(piece("wait", file=str(tmp_path / "go")))
    assert list(local.as_completed([ticket], 0.05)) == []
    (tmp_path / "go").touch()
    assert [outcome.ticket for outcome in local.as_completed([ticket], 60)] == [ticket]
    assert list(local.as_completed([ticket], 60)) == []


def test_no_host_has_the_label(local):
    (outcome,) = outcomes(local, piece("add", Needs({"gpu": "H100"}), numbers=[1]))
    assert outcome.end is End.UNPLACED
    assert outcome.error.startswith("no host has gpu=H100; the hosts have: arch=")


def test_no_host_has_the_name(local):
    (outcome,) = outcomes(local, piece("add", Needs(host="elsewhere"), numbers=[1]))
    assert outcome.error.startswith("no host is called elsewhere; there are ")


def test_one_thing_is_measured_at_a_time(local):
    begun = time.monotonic()
    measured = [piece("add", Needs(timing=True), numbers=[n], seconds=0.4) for n in range(2)]
    found = outcomes(local, *measured, piece("add", numbers=[9], seconds=0.1))
    assert time.monotonic() - begun > 0.8
    assert found[1].waited > found[2].waited


def test_closing_leaves_nobody(home, tmp_path):
    local = Local(2)
    local.submit(piece("linger", log=str(tmp_path / "log"), seconds=600))
    left = lines(tmp_path / "log", 2)
    working, all_of_them = workers(home)
    local.close()
    assert working
    assert not any(map(running, [*left, *working]))
    assert gone(all_of_them, 1)  # a supervisor's last act is to let go of the socket
    with pytest.raises(SandboxError, match="closed"):
        local.submit(piece("add", numbers=[1]))


DRIVER = """
import sys, signal
from pieces import piece
from whet.sandbox.workers.local import Local
signal.signal(signal.SIGINT, signal.default_int_handler)
local = Local(2)
try:
    list(local.as_completed([local.submit(piece("linger", log=sys.argv[1], seconds=600))]))
finally:
    local.close()
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_driver_that_is_ended_leaves_nobody(number, tmp_path, home):
    log = tmp_path / "log"
    command = [sys.executable, "-c", DRIVER, str(log)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, cwd=TESTS) as driver:
        left = [*lines(log, 2), *workers(home)[1]]
        driver.send_signal(number)
        driver.wait(10)
    assert gone(left)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lokal", "unknown workers 'lokal'; did you mean 'local'?; known forms: local, local:N, ray, ray://HOST:PORT"),
        ("local:0", "malformed workers 'local:0'; the form is local:N, with N from 1"),
        ("local:two", "malformed workers 'local:two'; the form is local:N, with N from 1"),
        ("ray://nowhere", "malformed workers 'ray://nowhere'; the forms are ray and ray://HOST:PORT"),
    ],
)
def test_what_cannot_be_an_executor(text, message):
    with pytest.raises(UsageError) as error:
        open_executor(text)
    assert str(error.value) == message


def test_so_many_local_workers_as_asked_for(home):
    executor = open_executor("local:3")
    assert executor.slots == 3
    executor.close()
