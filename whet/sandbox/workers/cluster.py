"""Work done on the hosts of a Ray cluster, by an agent on each; the queue stays with the driver.

Ray finds the hosts, starts the agents and carries messages. What was done is in the store before anybody hears of it,
so that nothing of Ray's has to last.
"""

from __future__ import annotations

import hashlib
import math
import secrets
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

from whet.core.errors import SandboxError, UsageError
from whet.core.store import Store
from whet.sandbox.workers.agent import LEASE_SECONDS, versions
from whet.sandbox.workers.base import HostStatus
from whet.sandbox.workers.errors import one_line
from whet.sandbox.workers.places import HostRecord, Piece, Seat
from whet.sandbox.workers.probing import PROBE, Probing
from whet.sandbox.workers.ray_link import Link

TICK_SECONDS = 1.0
"""Seconds between two looks at the hosts, each of which tells their agents that the driver is there. More notices
changes later, and must stay far below `LEASE_SECONDS`; less asks the head node more often."""
GONE_SECONDS = 20.0
"""Without an answer from the head node, after which the cluster is gone."""
JOIN_SECONDS = 60.0
"""In which an agent must have said who it is."""
GONE = "its node of the cluster is gone"
OTHER_STORE = "its store is another one than the driver's; set WHET_STORE (or WHET_HOME) alike there"


class Hired:
    """An agent as its driver sees it."""

    def __init__(self, place: HostRecord, handle: Any) -> None:
        self.place = place
        self.handle = handle
        self.since = time.monotonic()
        self.joined = False
        self.beaten = self.since
        self.answered = True


class Cluster(Probing):
    """An `Executor` over the hosts of a Ray cluster."""

    def __init__(self, address: str = "ray", probe: str = PROBE) -> None:
        """Connects, and waits until each host that is there works or has said why it does not.

        Args:
            address: ``ray`` or ``ray://HOST:PORT``.
            probe: see `Probing`.

        Raises:
            UsageError: the cluster cannot be reached, or none of its hosts can work for this driver.
        """
        super().__init__(probe)
        store = Store()
        self._token = secrets.token_hex(32)
        self._key = hashlib.sha256(self._token.encode()).hexdigest()
        store.keep_result(self._key, self._token)
        store.close()
        self._link = Link(address)
        self._hired: dict[str, Hired] = {}
        self._known: dict[str, HostRecord] = {}
        self._refused: dict[str, str] = {}
        self._by_place: dict[HostRecord, Hired] = {}
        self._events: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._seen = time.monotonic()
        self._ending = threading.Event()
        for target in (self._handle_events, self._tend, self._watch):
            threading.Thread(target=target, name=f"whet-cluster{target.__name__}", daemon=True).start()
        try:
            self._expect_hosts()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """See `Executor.close`."""
        super().close()
        self._ending.set()
        with self._lock:
            hired = [one.handle for one in self._hired.values()]
            self._hired.clear()
        closing = [handle.close.remote().future() for handle in hired] if self._reachable else []
        deadline = time.monotonic() + LEASE_SECONDS
        for one in closing:
            while not one.done() and time.monotonic() < deadline:
                time.sleep(0.01)
        self._events.put(None)
        self._link.close()

    # what the dispatcher asks for

    def _begin(self, seat: Seat, piece: Piece) -> None:
        hired = self._by_place[seat.place]
        self._call(
            lambda: hired.handle.do.remote(seat.number, piece.order),
            lambda found: self._ended(seat, found[0]) if found[0] else self._died(seat, "worker died", blamed=found[1]),
            lambda error: self._agent_died(hired, seat),
        )

    def _abandon(self, seat: Seat, piece: Piece) -> None:
        handle = self._by_place[seat.place].handle
        # Where it fails, the work that is to be ended fails too.
        self._call(lambda: handle.end.remote(seat.number, piece.ticket), lambda _: None, lambda _: None)

    # agents

    def _call(
        self, call: Callable[[], Any], answered: Callable[[Any], None], failed: Callable[[Exception], None]
    ) -> None:
        """Has the thread for events call an agent, and handle what comes of it.

        Who asks for it may hold the lock, and Ray lets a call wait where the head node is out of reach; and what came
        of it is told by a thread of Ray's, which must not call Ray.
        """

        def handle(future: Future[Any]) -> None:
            try:
                found = future.result()
            except Exception as error:
                failed(error)
            else:
                answered(found)

        def make() -> None:
            try:
                future = call().future()
            except Exception as error:
                failed(error)
            else:
                future.add_done_callback(lambda done: self._events.put(lambda: handle(done)))

        self._events.put(make)

    def _handle_events(self) -> None:
        while (event := self._events.get()) is not None:
            event()

    def _hire(self, node: str, slots: int, hostname: str) -> None:
        with self._lock:
            place = self._place(hostname)
        hired = Hired(place, self._link.agent(node, place.name, slots))  # waits as a call may
        with self._lock:
            self._hired[node] = self._by_place[place] = hired
            self._known[node] = place
        self._call(
            lambda: hired.handle.hello.remote(self._key, self._token),
            lambda found: self._greeted(node, hired, slots, found),
            lambda error: self._agent_died(hired, why=one_line(str(error))),
        )

    def _place(self, hostname: str) -> HostRecord:
        """Returns the host of this name, unless another one works under it: then one with a number."""
        taken = {one.place.name for one in self._hired.values()} | set(self._refused.values())
        names = (hostname if number == 1 else f"{hostname}-{number}" for number in range(1, len(taken) + 2))
        name = next(name for name in names if name not in taken)
        place = self._places.get(name) or HostRecord(name, {})
        place.stand(HostStatus.QUARANTINED, "its agent is being started")
        self._places[name] = place
        return place

    def _greeted(self, node: str, hired: Hired, slots: int, found: dict[str, Any]) -> None:
        place = hired.place
        if self._hired.get(node) is not hired:
            return
        place.labels = found["labels"]
        if found["versions"] != versions():
            self._refuse_host(node, hired, f"the driver has {versions()}, host {place.name} has {found['versions']}")
        elif not found["same_store"]:
            self._refuse_host(node, hired, OTHER_STORE + (f" ({found['why']})" if found["why"] else ""))
        else:
            self._quarantine.forget(place.name)
            place.why = "its health is being looked at"
            self._wanted.add(place.name)
            self._join(place, slots)
            hired.joined = True

    def _refuse_host(self, node: str, hired: Hired, why: str) -> None:
        with self._lock:
            self._refused[node] = hired.place.name
            self._hired.pop(node, None)
            hired.place.stand(HostStatus.QUARANTINED, why)
            hired.place.changed = -math.inf  # nothing will make it well
        self._link.kill(hired.handle)

    def _agent_died(self, hired: Hired, seat: Seat | None = None, why: str = "") -> None:
        """An agent is gone, or does not answer; where its host is there, `_tend` starts another."""
        with self._lock:
            node = next((node for node, one in self._hired.items() if one is hired), None)
            if node is not None:
                del self._hired[node]
                self._leave(hired.place, HostStatus.QUARANTINED, why or "its agent died", "agent died", gone=True)
        self._link.kill(hired.handle)
        if seat is not None:
            self._died(seat, "agent died", blamed=False)

    # hosts

    def _tend(self) -> None:
        """Looks after hosts that come and go."""
        while not self._ending.is_set():
            with suppress(Exception):  # `_watch` says when this has lasted too long
                self._compare(self._link.nodes())
            for hired in list(self._hired.values()):
                self._beat(hired)
            self._look()
            self._despair()
            self._ending.wait(TICK_SECONDS)

    def _compare(self, nodes: dict[str, dict[str, Any]]) -> None:
        self._seen = time.monotonic()
        for node in [node for node in self._known if node not in nodes]:
            self._host_lost(node, self._known.pop(node))
        for node, found in nodes.items():
            slots = int(found["Resources"].get("CPU", 0))
            if slots and node not in self._hired and node not in self._refused:
                self._hire(node, slots, found["NodeManagerHostname"])
        with self._lock:
            there = {one.place.name for one in self._hired.values()}
            there |= {name for node, name in self._refused.items() if node in nodes}
            for place in self._places.values():
                if place.name not in there and place.standing is not HostStatus.LOST:
                    place.stand(HostStatus.LOST, GONE)  # its agent was found dead first

    def _beat(self, hired: Hired) -> None:
        at = time.monotonic()
        if not hired.joined:
            if at - hired.since > JOIN_SECONDS:
                self._agent_died(hired, why=f"its agent has not answered in {JOIN_SECONDS:g} s")
            return
        if hired.answered:
            hired.answered, hired.beaten = False, at
            self._call(
                hired.handle.beat.remote,
                lambda _: setattr(hired, "answered", True),
                lambda _: self._agent_died(hired),
            )
        elif at - hired.beaten > LEASE_SECONDS:
            self._agent_died(hired, why=f"its agent has not answered in {LEASE_SECONDS:g} s")

    def _host_lost(self, node: str, place: HostRecord) -> None:
        with self._lock:
            self._refused.pop(node, None)
            hired = self._hired.pop(node, None)
            if hired is not None or place not in [one.place for one in self._hired.values()]:
                self._leave(place, HostStatus.LOST, GONE, "host lost", gone=True)
                self._quarantine.forget(place.name)

    @property
    def _reachable(self) -> bool:
        return time.monotonic() - self._seen < GONE_SECONDS

    def _watch(self) -> None:
        while not self._ending.wait(TICK_SECONDS):
            if not self._reachable:
                where = self._link.address.removeprefix("ray://")
                where = "the cluster on this host" if where == "ray" else f"the cluster at {where}"
                why = f"no answer in {GONE_SECONDS:g} s"
                self._fail(
                    SandboxError(f"{where} is gone ({why}); results so far are stored: go on with whet runs resume")
                )
                return

    def _expect_hosts(self) -> None:
        """Waits for the hosts that are there now."""
        deadline = time.monotonic() + JOIN_SECONDS
        while time.monotonic() < deadline:
            with self._lock:
                awaited = self._probed or any(not one.joined for one in self._hired.values())
            if (self._hired or self._refused) and not awaited:
                break
            time.sleep(0.02)
        hosts = self.hosts()
        if not any(host.standing is HostStatus.READY for host in hosts):
            why = "; ".join(sorted({f"host {host.name}: {host.why}" for host in hosts})) or "it has no host with a CPU"
            raise UsageError(f"no host of the cluster can work for this driver: {why}")
