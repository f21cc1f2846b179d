"""The durable queue: nothing twice, nothing lost, never two jobs on one pull request, nobody held up by others."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest

from whet.bot.outcome import FIRST_WAIT, LONGEST_WAIT, carry_out, waiting
from whet.bot.port import Later
from whet.bot.queue import MOST_WAITING, JobState, Queue
from whet.bot.request import DeliveryPlan, Request, RequestKind, Withdrawal
from whet.core.errors import UsageError

CHANGE = Request(RequestKind.CHANGE, "head/ada/tools/3/a", "ada/tools", 3, 7, head="a" * 40)


@pytest.fixture
def queue(tmp_path):
    return Queue(tmp_path)


def other(origin, **more):
    return replace(CHANGE, origin=origin, **more)


def accept(queue, *requests):
    queue.accept([(f"delivery-{request.origin}", DeliveryPlan(request)) for request in requests])


def test_a_delivery_counts_once_and_so_does_what_it_is_about(queue, tmp_path):
    queue.accept([("one", DeliveryPlan(CHANGE)), ("one", DeliveryPlan(other("else")))])
    queue.accept([("two", DeliveryPlan(CHANGE))])
    again = Queue(tmp_path)
    assert again.counts()["jobs"]["queued"] == 1
    assert again.counts()["deliveries"] == 2


def test_one_pull_request_is_worked_on_once_at_a_time(queue):
    accept(queue, CHANGE, other("second"), other("elsewhere", number=4), other("status", kind=RequestKind.STATUS))
    assert [queue.claim(1).request.origin for _ in range(3)] == ["status", CHANGE.origin, "elsewhere"]
    assert queue.claim(1) is None
    queue.finish(1, JobState.DONE)
    assert queue.claim(1).request.origin == "second"


def test_those_that_answer_take_no_work(queue):
    accept(queue, CHANGE, other("status", kind=RequestKind.STATUS))
    assert queue.claim(1, work=True).request is not None
    assert queue.claim(1, work=True) is None
    assert queue.claim(2, work=False).request.kind is RequestKind.STATUS


def test_what_a_dead_worker_held_goes_back(queue):
    accept(queue, CHANGE, other("elsewhere", number=4))
    first, second = queue.claim(11), queue.claim(12)
    queue.withdraw(Withdrawal("cancelled", number=4))
    assert queue.recover(11) == 1
    assert queue.recover() == 1
    assert queue.claim(13).id == first.id
    assert queue.jobs_at("ada/tools", 4)[0].state is JobState.WITHDRAWN
    assert queue.cancelled(second.id) == "cancelled"


def test_withdrawals_match_what_they_name(queue):
    accept(queue, CHANGE, other("b", head="b" * 40), other("c", number=4), other("d", installation=8, number=5))
    queue.accept(
        [("x", DeliveryPlan(withdrawals=(Withdrawal("moved", repository="ada/tools", number=3, head="a" * 40),)))]
    )
    assert queue.counts()["jobs"]["withdrawn"] == 1
    queue.accept([("y", DeliveryPlan(withdrawals=(Withdrawal("removed", installation=8),)))])
    assert queue.counts()["jobs"]["withdrawn"] == 2


def test_a_pause_holds_one_installation(queue):
    accept(queue, CHANGE, other("b", number=4), other("c", number=5, installation=8))
    queue.postpone(queue.claim(1), 60, "wait", pause=True)
    assert queue.claim(1).request.origin == "c"
    assert queue.claim(1) is None


def test_one_repository_does_not_fill_the_queue(queue):
    accept(queue, *(other(str(index), number=index) for index in range(MOST_WAITING + 5)))
    assert queue.counts()["jobs"] == {**dict.fromkeys(map(str, JobState), 0), "queued": MOST_WAITING, "refused": 5}
    accept(queue, other("elsewhere", repository="eve/other"))
    assert queue.counts()["jobs"]["queued"] == MOST_WAITING + 1


def test_half_a_batch_is_none(queue):
    with pytest.raises(sqlite3.Error):
        queue.accept([("one", DeliveryPlan(CHANGE)), ({}, DeliveryPlan(other("b")))])
    assert queue.counts()["deliveries"] == 0


def test_facts_and_posts_are_remembered(queue, tmp_path):
    queue.set_fact(1, "findings", [{"a": 1}])
    assert not queue.intend("review/1")
    again = Queue(tmp_path)
    assert again.fact(1, "findings") == [{"a": 1}]
    assert again.intend("review/1")
    assert again.posted("review/1") is None
    again.set_posted("review/1", "77")
    assert queue.posted("review/1") == "77"


def test_the_queue_of_another_whet_is_refused(tmp_path):
    Queue(tmp_path).close()
    with sqlite3.connect(tmp_path / "queue.db") as db:
        db.execute("PRAGMA user_version=99")
    with pytest.raises(UsageError, match="another whet"):
        Queue(tmp_path)


class Broken:
    """A flow with a fault of ours in it."""

    def run(self, job):
        raise ZeroDivisionError("ghs_0123456789abcdefghij")

    def give_up(self, job, why):
        raise KeyError(why)


def test_a_fault_of_ours_ends_the_job_alone(queue, caplog):
    accept(queue, CHANGE)
    assert carry_out(Broken(), queue, queue.claim(1)) is JobState.FAILED
    (job,) = queue.jobs_at("ada/tools", 3)
    assert job.note == "internal: ZeroDivisionError: [redacted]"


def test_waits_grow_and_obey():
    assert [waiting(Later("x"), attempts) for attempts in (0, 1, 20)] == [FIRST_WAIT, 2 * FIRST_WAIT, LONGEST_WAIT]
    assert waiting(Later("x", 100), 0) == 100
    assert waiting(Later("x", 1e9), 0) < 3701
