"""Shows a run while it works: a live view on a terminal, else one plain line a candidate."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from whet.cli.errors import Session
from whet.cli.hosts import Pace, host_lines
from whet.core.config import Budget
from whet.core.events import Event, Kind, Listener, unheard
from whet.core.measurement import BETTER
from whet.core.text import one_line, plural, times

if TYPE_CHECKING:
    from rich.console import Group

SHORT = 10
"""Characters of a candidate's id that a line shows."""


@contextmanager
def watching(session: Session, budget: Budget, *, silent: bool, plain: bool = False) -> Iterator[Listener]:
    """Gives the listener that fits where stdout goes; several threads may call it.

    Args:
        session: is told the id of the run, so that an interrupt can name the way back; its listener hears all.
        budget: the caps that the live view shows.
        silent: show nothing.
        plain: show lines only, on a terminal too: somebody talks there.
    """
    with _display(budget, silent=silent, plain=plain) as show:

        def hear(event: Event) -> None:
            session.run = event.data.get("run", session.run)
            session.listener(event)
            show(event)

        yield hear


@contextmanager
def _display(budget: Budget, *, silent: bool, plain: bool) -> Iterator[Listener]:
    if silent:
        yield unheard
    elif sys.stdout.isatty() and not plain:
        from rich.console import Console
        from rich.live import Live

        console = Console(highlight=False)
        view = View(budget)
        with Live(get_renderable=view.render, console=console, transient=True, refresh_per_second=4):

            def show(event: Event) -> None:
                if line := view.hear(event):
                    console.print(line, markup=False)

            yield show
    else:
        lock, pace = threading.Lock(), Pace()

        def say(event: Event) -> None:
            if event.kind is Kind.HOSTS:
                lines = pace.lines(event.data)
            else:
                lines = [line] if (line := candidate_line(event)) else []
            with lock:
                for line in lines:
                    print(line, flush=True)

        yield say


def candidate_line(event: Event) -> str | None:
    """Returns the line of a candidate that is done with or of a recording, or None for any other event."""
    if event.kind is Kind.RECORDED:
        return one_line(event.text)
    if event.kind is not Kind.CANDIDATE or event.data.get("state") != "done":
        return None
    return f"{_name(event.data)}  {_outcome(event.data)}"


class View:
    """What the live region shows: the stage, one line a slot, the hosts where there are some, and the budget."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self._stage = "starting"
        self._slots: dict[str, str] = {}
        self._done = 0
        self._cost: Mapping[str, Any] = {}
        self._hosts: Sequence[str] = ()

    def hear(self, event: Event) -> str | None:
        """Takes in an event; returns a line that is to stay above the region, if any."""
        with self._lock:
            if event.kind is Kind.COST:
                self._cost = event.data
            elif event.kind is Kind.HOSTS:
                self._hosts = host_lines(event.data["hosts"], event.data["waiting"])
            elif event.kind is Kind.RECORDED:
                return candidate_line(event)
            elif event.kind is not Kind.CANDIDATE:
                self._stage = one_line(event.text)
                return self._stage if event.kind is Kind.JUDGE else None
            elif line := candidate_line(event):
                self._done += 1
                self._slots.pop(event.data["candidate"], None)
                return line
            else:
                self._slots[event.data["candidate"]] = f"{_name(event.data)}  {event.data['state']}"
        return None

    def render(self) -> Group:
        """Returns the live region as it stands."""
        from rich.console import Group
        from rich.text import Text

        with self._lock:
            slots = (f"  {line}" for line in self._slots.values())
            rows = [self._stage, *slots, *self._hosts, self._budget_line()]
        return Group(*(Text(row, no_wrap=True, overflow="ellipsis") for row in rows))

    def _budget_line(self) -> str:
        caps = self._budget
        parts = (
            _spent("USD", self._cost.get("usd", 0.0), caps.usd, ".4f"),
            _counted("call", self._cost.get("calls", 0), caps.calls),
            _counted("token", self._cost.get("tokens", 0), caps.tokens),
            _counted("candidate", self._done, caps.candidates),
            _spent("s", time.monotonic() - self._began, caps.seconds, ".0f"),
        )
        return ", ".join(parts)


def _spent(unit: str, used: float, cap: float | None, form: str = "d") -> str:
    return f"{used:{form}} {unit}" if cap is None else f"{used:{form}} of {cap:g} {unit}"


def _counted(noun: str, used: int, cap: int | None) -> str:
    return _spent(plural(used if cap is None else cap, noun), used, cap)


def _name(data: Mapping[str, Any]) -> str:
    return f"{data['candidate'][:SHORT]}  {one_line(str(data.get('origin', '')), 40)}"


def _outcome(data: Mapping[str, Any]) -> str:
    reason, ratio = data.get("reason"), data.get("ratio")
    if ratio is None:
        return str(reason or "right, not timed")
    outcome = reason or BETTER[data.get("metric", "time")]
    return f"{outcome}  {times(ratio)} ({times(data['low'])} to {times(data['high'])})"
