"""One worker by itself: who may close its descriptors, and when."""

from __future__ import annotations

import os
import threading
from contextlib import closing, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from pieces import lines, piece

from whet.sandbox.workers.process import Worker, WorkerDiedError
from whet.sandbox.workers.serve import WorkOrder

ANOTHER_CLOSES_SECONDS = 0.5
"""In which a second thread that closes the same descriptor comes to it; where none does, all of it passes."""


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("WHET_HOME", str(tmp_path / "home"))


def order(call, **argument):
    work = piece(call, **argument)
    return WorkOrder(1, work.key, work.call, work.argument)


@contextmanager
def at_work(log):
    """Gives a worker with work that does not end, and closes it: then that work is told to have died under way."""
    worker, begun = Worker("here"), []

    def work():
        with pytest.raises(WorkerDiedError) as error:
            worker.do(order("linger", log=str(log), seconds=600))
        begun.append(error.value.begun)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        lines(log, 2)
        yield worker
    finally:
        worker.close()
        thread.join()
    assert begun == [True]


def test_a_worker_that_is_closed_while_it_works_closes_nobody_elses_descriptors(tmp_path, monkeypatch):
    """The kernel gives a number that was just closed to the next that is opened: to close it again closes that one."""
    again, reused = threading.Event(), []
    close = Connection._close

    def close_and_reuse(self, **words):
        number = self.fileno()
        close(self, **words)
        if reused:
            again.set()
            return
        with Path(os.devnull).open() as null:
            os.dup2(null.fileno(), number)
        reused.append(number)
        again.wait(ANOTHER_CLOSES_SECONDS)

    monkeypatch.setattr(Connection, "_close", close_and_reuse)
    with at_work(tmp_path / "log") as worker:
        worker.close()
    (number,) = reused
    os.close(number)  # still open


def test_nothing_of_a_closed_worker_is_closed_before_its_work_has_ended(tmp_path, monkeypatch):
    """Else the thread that reads its answer could take a byte of another connection of that number."""
    reading, ended = threading.Event(), []
    receive, close = Connection.recv, Connection._close

    def slow_to_notice(self):
        try:
            return receive(self)
        except EOFError:
            reading.wait(ANOTHER_CLOSES_SECONDS)
            ended.append("read")
            raise

    def closes(self, **words):
        ended.append("closed")
        reading.set()
        close(self, **words)

    monkeypatch.setattr(Connection, "recv", slow_to_notice)
    monkeypatch.setattr(Connection, "_close", closes)
    with at_work(tmp_path / "log") as worker:
        worker.close()
    assert ended == ["read", "closed"]


def test_a_worker_is_closed_once_by_several(tmp_path):
    with closing(Worker("here")) as worker:
        assert worker.do(order("add", numbers=[1, 2])).result["sum"] == 3
        threads = [threading.Thread(target=worker.close) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with pytest.raises(WorkerDiedError) as error:
            worker.do(order("add", numbers=[1, 2]))
        assert not error.value.begun


def test_a_worker_is_given_one_thing_at_a_time(tmp_path):
    """Answers come in turn: two who wait for one could be told each other's."""
    match = "does 1, and was asked for 1 beside it"
    with at_work(tmp_path / "log") as worker, pytest.raises(RuntimeError, match=match):
        worker.do(order("add", numbers=[1, 2]))
