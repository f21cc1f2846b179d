"""A host that is lost and comes back, on a script in place of Ray: no worker is given two things to do at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from whet.core.errors import SandboxError
from whet.sandbox.workers import cluster
from whet.sandbox.workers.agent import versions
from whet.sandbox.workers.base import End, HostStatus, Work
from whet.sandbox.workers.health import now
from whet.sandbox.workers.serve import WorkOrder, WorkReply

LONG = 60.0
"""Seconds that only a hang takes."""


class Called:
    """A call of an agent, as Ray gives it."""

    def __init__(self, found: Future[Any]) -> None:
        self._found = found

    def future(self) -> Future[Any]:
        return self._found


class ScriptedAgent:
    """An agent of one seat; what it is asked for is answered when the test says so."""

    def __init__(self) -> None:
        self.greeting: Future[Any] = Future()
        self.doing: list[tuple[int, WorkOrder, Future[Any]]] = []
        self.calls: list[Future[Any]] = []
        self.given = threading.Condition()
        self.gone = False
        self.reachable = threading.Event()
        self.reachable.set()

    def __getattr__(self, name: str) -> SimpleNamespace:
        return SimpleNamespace(remote=getattr(self, f"_{name}"))

    def greet(self) -> None:
        self.greeting.set_result({"versions": versions(), "labels": {}, "same_store": True, "why": ""})

    def die(self) -> None:
        self.gone = True
        for future in self.calls:
            if not future.done():
                future.set_exception(RuntimeError("the actor died"))

    def order(self) -> tuple[int, WorkOrder, Future[Any]]:
        """Returns what it is to do next, once it is."""
        with self.given:
            assert self.given.wait_for(lambda: self.doing, LONG), "nothing came"
            return self.doing.pop(0)

    def _hello(self, key: str, token: str) -> Called:
        return Called(self.greeting)

    def _beat(self) -> Called:
        return self._over(None)

    def _do(self, seat: int, order: WorkOrder) -> Called:
        self.reachable.wait(LONG)
        if self.gone:
            raise RuntimeError("the actor died")
        with self.given:
            self.calls.append(Future())
            self.doing.append((seat, order, self.calls[-1]))
            self.given.notify_all()
            return Called(self.calls[-1])

    def _end(self, seat: int, ticket: int) -> Called:
        return self._over(None)

    def _close(self) -> Called:
        return self._over(None)

    def _over(self, found: object) -> Called:
        future: Future[Any] = Future()
        future.set_result(found)
        return Called(future)


class ScriptedLink:
    """A cluster whose nodes are those that the test names."""

    address = "ray://scripted:1"

    def __init__(self) -> None:
        self.there: list[str] = []
        self.agents: dict[str, ScriptedAgent] = {}
        self.cut = False
        self.looks = 0
        self.looked = threading.Condition()

    def nodes(self) -> dict[str, dict[str, Any]]:
        with self.looked:
            self.looks += 1
            self.looked.notify_all()
        if self.cut:
            raise ConnectionError("no route to the head node")
        return {node: {"Resources": {"CPU": 1}, "NodeManagerHostname": "alpha"} for node in self.there}

    def agent(self, node: str, name: str, slots: int) -> ScriptedAgent:
        return self.agents[node]

    def kill(self, agent: ScriptedAgent) -> None:
        agent.gone = True

    def close(self) -> None:
        pass

    def join(self, node: str) -> ScriptedAgent:
        self.agents[node] = ScriptedAgent()
        self.there = [node]
        return self.agents[node]

    def look(self, times: int) -> None:
        """Waits until the driver has looked at the cluster so many times more."""
        with self.looked:
            until = self.looks + times
            assert self.looked.wait_for(lambda: self.looks >= until, LONG)


@pytest.fixture
def link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ScriptedLink:
    monkeypatch.setenv("WHET_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(cluster, "TICK_SECONDS", 0.01)
    made = ScriptedLink()
    monkeypatch.setattr(cluster, "Link", lambda address: made)
    return made


@pytest.fixture
def driver(link: ScriptedLink) -> Iterator[cluster.Cluster]:
    first = link.join("first")
    first.greet()
    threading.Thread(target=healthy, args=(first,), daemon=True).start()
    with closing(cluster.Cluster(link.address)) as made:
        yield made


def healthy(agent: ScriptedAgent) -> None:
    """Has an agent do the health probe that it is given."""
    _, order, future = agent.order()
    assert not order.key
    found = {"began": now(), "disks": [], "seconds": 0.01, "gpu": "", "ended": now()}
    future.set_result((WorkReply(found, seconds=0.01), True))


def until(holds: Callable[[], bool], link: ScriptedLink) -> None:
    while not holds():
        link.look(1)


def test_a_host_that_comes_back_is_given_nothing_before_its_agent_has_said_who_it_is(
    link: ScriptedLink, driver: cluster.Cluster
) -> None:
    ticket = driver.submit(Work("key", "any:thing", {}))
    link.agents["first"].order()
    link.agents["first"].die()
    second = link.join("second")
    until(lambda: driver.hosts()[0].why == "its agent is being started", link)
    link.look(5)
    assert second.doing == []  # a probe through a seat of the first agent came here, and another one after the greeting
    second.greet()
    healthy(second)
    seat, order, future = second.order()
    assert (seat, order.key, second.doing) == (0, "key", [])
    future.set_result((WorkReply({"sum": 1}), True))
    (outcome,) = driver.as_completed([ticket], LONG)
    assert (outcome.end, outcome.result) == (End.DONE, {"sum": 1})
    assert driver.hosts()[0].standing is HostStatus.READY


def test_the_loss_of_a_cluster_is_told_though_a_call_of_an_agent_lasts(
    link: ScriptedLink, driver: cluster.Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = link.agents["first"]
    begun = len(agent.calls)
    agent.reachable.clear()
    ticket = driver.submit(Work("key", "any:thing", {}))
    monkeypatch.setattr(cluster, "GONE_SECONDS", 0.1)
    link.cut = True
    with pytest.raises(SandboxError, match=r"^the cluster at scripted:1 is gone \(no answer in 0\.1 s\)"):
        next(driver.as_completed([ticket], LONG))
    assert len(agent.calls) == begun  # it lasts still
    agent.reachable.set()
