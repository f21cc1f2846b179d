"""Shows how hosts work for a command: what each is at, what waits, and what failed."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from whet.core.text import count, one_line, percent
from whet.sandbox.workers.base import Host, HostStatus

LONGEST_NAME = 16  # characters of a host's name, and the width of its column; more push the figures to the right
PLAIN_SECONDS = 30.0
"""Between two plain lines on hosts whose standing stays what it is."""


def summary(hosts: Sequence[Host], waiting: int) -> str:
    """Returns what all hosts are at, in a line."""
    ready = [host for host in hosts if host.standing is HostStatus.READY]
    lost = len(hosts) - len(ready)
    slots = f"{sum(host.busy for host in ready)} of {count(sum(host.slots for host in ready), 'slot')} busy"
    parts = [f"{count(len(ready), 'host')}: {slots}", f"{waiting} waiting"]
    return ", ".join([*parts, f"{lost} not working"] if lost else parts)


def host_line(host: Host) -> str:
    """Returns what one host is at: why it gets no work, or slots, the share of the time worked, and its failures."""
    name = f"{one_line(host.name, LONGEST_NAME):<{LONGEST_NAME}}"
    told = [f"{host.done} done"]
    told += [f"{host.queued} queued"] if host.queued else []
    told += [f"{number}x {one_line(cause, 40)}" for cause, number in sorted(host.failures.items())]
    if host.standing is not HostStatus.READY:
        return f"{name} {host.standing}: {one_line(host.why, 200) or 'it is gone'}; {', '.join(told)}"
    return f"{name} {host.busy}/{host.slots} busy {percent(round(utilisation(host), 2)):>5}, {', '.join(told)}"


def utilisation(host: Host) -> float:
    """Returns the share of its slots' time in which a host worked, 0 to 1."""
    there = host.slots * host.since
    return min(1.0, host.worked / there) if there > 0 else 0.0


def host_lines(hosts: Sequence[Host], waiting: int) -> list[str]:
    """Returns all that is shown of hosts."""
    return [summary(hosts, waiting), *(f"  {host_line(host)}" for host in hosts)]


class Pace:
    """Which plain lines on hosts are worth printing, and when. Safe for several threads."""

    def __init__(self, seconds: float = PLAIN_SECONDS) -> None:
        self._seconds = seconds
        self._said: Mapping[str, HostStatus] = {}
        self._last = time.monotonic()
        self._lock = threading.Lock()

    def lines(self, data: Mapping[str, Any]) -> list[str]:
        """Returns the lines that an event on hosts is due: at once where one stands otherwise than it did."""
        hosts: Sequence[Host] = data["hosts"]
        with self._lock:
            standing = {host.name: host.standing for host in hosts}
            due = time.monotonic() - self._last >= self._seconds
            if not (due or (self._said and standing != self._said)):
                self._said = standing
                return []
            self._said, self._last = standing, time.monotonic()
        return host_lines(hosts, data["waiting"])
