"""An executor in threads of this process, on hosts of any labels."""

from __future__ import annotations

import threading
import time
from collections import deque
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace

from whet.core.store import Store
from whet.sandbox.workers.base import End, Host, HostStatus, Work, WorkResult
from whet.sandbox.workers.errors import ours, told

LABELS = {"arch": "x86_64", "processor": "one", "gpu": "none", "sandbox": "bubblewrap", "python": "3.11"}


@dataclass
class OwnBench:
    store: Store
    host: str
    kept: dict = field(default_factory=dict)


class Threads:
    """Does work in one thread a host; each host keeps what it opened until the end."""

    def __init__(self, home, **labels) -> None:
        self._stores = {name: Store(home) for name in labels}
        self._hosts = {
            name: _Host(OwnBench(self._stores[name], name), {**LABELS, **own}) for name, own in labels.items()
        }
        self.benches = {name: host.bench for name, host in self._hosts.items()}
        self._futures: dict[int, Future[WorkResult]] = {}
        self._changed = threading.Condition()
        self._closed = False
        self.done: list[tuple[str, Work]] = []
        self._waiting: deque[tuple[int, Work, Future[WorkResult]]] = deque()
        self._threads = [threading.Thread(target=self._serve, args=(host,)) for host in self._hosts.values()]
        for thread in self._threads:
            thread.start()

    def submit(self, work):
        with self._changed:
            ticket = len(self._futures)
            future = self._futures[ticket] = Future()
            if not any(_fits(host, work) for host in self._hosts.values()):
                future.set_result(WorkResult(ticket, End.UNPLACED, error="no host fits"))
            else:
                self._waiting.append((ticket, work, future))
            self._changed.notify_all()
        return ticket

    def as_completed(self, tickets, seconds=None):
        left = {self._futures[ticket] for ticket in tickets}
        while left:
            done, left = wait(left, timeout=60, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)

    def cancel(self, tickets):
        with self._changed:
            for ticket in tickets:
                self._futures[ticket].cancel()

    def lose(self, name):
        """Takes a host away, once it has done what it is at."""
        with self._changed:
            self._hosts[name].standing = HostStatus.LOST
            for ticket, work, future in list(self._waiting):
                if not any(_fits(host, work) for host in self._hosts.values()):
                    self._waiting.remove((ticket, work, future))
                    future.set_result(WorkResult(ticket, End.UNPLACED, error="no host fits"))

    def hosts(self):
        return tuple(host.seen() for host in self._hosts.values())

    @property
    def slots(self):
        return sum(host.standing is HostStatus.READY for host in self._hosts.values())

    @property
    def waiting(self):
        return len(self._waiting)

    def close(self):
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _serve(self, host):
        while True:
            with self._changed:
                while (one := self._next(host)) is None and not self._closed:
                    self._changed.wait()
                if one is None:
                    break
                self._waiting.remove(one)
                host.busy = 1
            ticket, work, future = one
            if future.set_running_or_notify_cancel():
                future.set_result(self._did(ticket, work, host))
            host.busy = 0
        for kept in host.bench.kept.values():
            kept.close()
        host.bench.store.close()

    def _next(self, host):
        return next((one for one in self._waiting if _fits(host, one[1])), None)

    def _did(self, ticket, work, host):
        begun = time.monotonic()
        self.done.append((host.bench.host, work))
        outcome = WorkResult(ticket, End.DONE, host=host.bench.host)
        try:
            found = ours(work.call)(host.bench, work.argument)
            return replace(outcome, result=host.bench.store.keep_result(work.key, found))
        except Exception as error:
            return replace(outcome, end=End.FAILED, error=str(error), raised=told(error))
        finally:
            host.worked += time.monotonic() - begun


@dataclass
class _Host:
    bench: OwnBench
    labels: dict[str, str]
    standing: HostStatus = HostStatus.READY
    busy: int = 0
    worked: float = 0.0

    def seen(self):
        return Host(
            self.bench.host, self.labels, self.standing, "", 1, self.busy, 0, 0, {}, self.worked, self.worked + 1.0
        )


def _fits(host, work):
    return (
        host.standing is HostStatus.READY
        and work.needs.host in ("", host.bench.host)
        and all(host.labels.get(name) == value for name, value in work.needs.labels.items())
    )
