"""Shows a run while it works: a live view on a terminal, else plain lines."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from whet.cli.errors import Invocation
from whet.cli.hosts import Pace, host_lines
from whet.cli.run_progress import Clock, Progress, lasting_line
from whet.core.events import Event, EventKind, Listener, null_listener
from whet.core.options import Budget

if TYPE_CHECKING:
    from rich.console import Group

QUIET_SECONDS = 8.0
"""After so long without a line a pipe is told how far the run is; with a tick, within 10 s."""
TICK_SECONDS = 1.0
"""Between two looks at whether that is due."""


@contextmanager
def watching(session: Invocation, budget: Budget, *, silent: bool, plain: bool = False) -> Iterator[Listener]:
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
        yield null_listener
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
    elif plain:
        lock = threading.Lock()

        def say(event: Event) -> None:
            # Nothing that comes by itself: somebody types there.
            kept = (
                event.kind in (EventKind.CANDIDATE, EventKind.RECORDED, EventKind.ANSWER)
                or {"run", "named"} & event.data.keys()
            )
            if kept and (line := lasting_line(event)):
                with lock:
                    print(line, flush=True)

        yield say
    else:
        lines = Plain(budget, partial(print, flush=True))
        with _ticking(lines):
            yield lines.hear


class View:
    """What the live region shows: how far the run is, a line a slot, the hosts where there are some, and the budget."""

    def __init__(self, budget: Budget, clock: Clock = time.monotonic) -> None:
        self._lock = threading.Lock()
        self._progress = Progress(budget, clock)
        self._hosts: Sequence[str] = ()

    def hear(self, event: Event) -> str | None:
        """Takes in an event; returns a line that is to stay above the region, if any."""
        with self._lock:
            if event.kind is EventKind.HOSTS:
                self._hosts = host_lines(event.data["hosts"], event.data["waiting"])
                return None
            self._progress.hear(event)
        passing = (
            event.kind in (EventKind.STAGE, EventKind.ROUND, EventKind.WAITING)
            and not {"run", "named"} & event.data.keys()
        )
        return None if passing and event.data.get("stage") != "python" else lasting_line(event)

    def render(self) -> Group:
        """Returns the live region as it stands."""
        from rich.console import Group
        from rich.text import Text

        with self._lock:
            far = self._progress
            waiting = [f"  {line}" for line in (far.waiting, far.awaited()) if line]
            best = [far.best] if far.best else []
            rows = [far.stage, *(f"  {line}" for line in far.slots()), *waiting, *best, *self._hosts, far.budget_line()]
        return Group(*(Text(row, no_wrap=True, overflow="ellipsis") for row in rows))


class Plain:
    """What a pipe shows: a line for all that lasts, and how far the run is wherever nothing was said for a while.

    Args:
        budget: the caps that the lines show.
        write: takes a line.
        clock: of the waiting, in seconds.
    """

    def __init__(self, budget: Budget, write: Callable[[str], None], clock: Clock = time.monotonic) -> None:
        self._lock = threading.Lock()
        self._progress = Progress(budget, clock)
        self._pace = Pace()
        self._write = write
        self._clock = clock
        self._last = clock()

    def hear(self, event: Event) -> None:
        """Takes in an event."""
        with self._lock:
            self._progress.hear(event)
            if event.kind is EventKind.HOSTS:
                lines = self._pace.lines(event.data)
            else:
                lines = [line] if (line := lasting_line(event)) else []
            self._say(lines)

    def tick(self) -> None:
        """Says how far the run is, where that is due."""
        with self._lock:
            if self._clock() - self._last >= QUIET_SECONDS:
                self._say([self._progress.line()])

    def _say(self, lines: Sequence[str]) -> None:
        for line in lines:
            self._write(line)
            self._last = self._clock()


@contextmanager
def _ticking(plain: Plain) -> Iterator[None]:
    """Lets time pass for it."""
    over = threading.Event()

    def tick() -> None:
        while not over.wait(TICK_SECONDS):
            plain.tick()

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
