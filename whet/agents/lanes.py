"""Work in threads that nobody has to wait for: neither an interrupt nor the end of the interpreter does."""

from __future__ import annotations

import math
import os
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import TypeVar

T = TypeVar("T")

WAKE_SECONDS = 0.5
"""An interrupt that another thread was given reaches the waiting one only when that wakes."""
NEXT_LANE_SECONDS = 0.002
"""Between the beginnings of two lanes: tasks that are over sooner are left to the lanes there are, for threads that
take turns at one interpreter would cost more."""


def side_by_side(tasks: Sequence[Callable[[], T]], lanes: int, seconds: float) -> dict[int, T]:
    """Runs tasks in threads that nobody has to wait for.

    They begin in their order; with one lane, each begins when the one before it is over. Lanes begin one after
    another, a moment apart.

    Args:
        tasks: what to run.
        lanes: how many may run at once.
        seconds: until nobody waits for them any more; may be infinite.

    Returns:
        what each task returned, by its place; without those that were not over in time.

    Raises:
        BaseException: what a task raised, at once.
    """
    if math.isinf(seconds) and 1 in (len(tasks), lanes):
        # An interrupt reaches this thread, and nothing else could end the wait.
        return {place: task() for place, task in enumerate(tasks)}
    waiting = deque(enumerate(tasks))
    came: dict[int, T] = {}
    over: SimpleQueue[BaseException | None] = SimpleQueue()

    def lane() -> None:
        while True:
            try:
                place, task = waiting.popleft()
            except IndexError:
                return
            try:
                came[place] = task()
            except BaseException as error:
                # The border of a thread: whoever waits for it raises this instead, and wants none of the tasks left.
                over.put(error)
                return
            # One at a time would wake the waiting thread between any two tasks.
            if len(came) == len(tasks):
                over.put(None)

    end = time.monotonic() + seconds
    begun = 0
    try:
        while len(came) < len(tasks) and (left := end - time.monotonic()) > 0:
            if more := bool(waiting) and begun < lanes:
                _begin(lane)
                begun += 1
            try:
                error = over.get(timeout=min(left, NEXT_LANE_SECONDS if more else WAKE_SECONDS))
            except Empty:
                continue
            if error is not None:
                raise error
    finally:
        waiting.clear()
    return came.copy()


_idle: defaultdict[int, deque[SimpleQueue[Callable[[], None]]]] = defaultdict(deque)
"""Where threads that have nothing to do wait for work, by process: to start one takes as long as a short task, and a
process that forks leaves them behind."""


def _begin(work: Callable[[], None]) -> None:
    try:
        line = _idle[os.getpid()].pop()
    except IndexError:
        line = SimpleQueue()
        threading.Thread(target=_serve, args=(line,), daemon=True).start()
    line.put(work)


def _serve(line: SimpleQueue[Callable[[], None]]) -> None:
    while True:
        line.get()()
        _idle[os.getpid()].append(line)
