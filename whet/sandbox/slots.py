"""What each job of bubblewrap has to itself while it lives: a thread that starts it, and a control group."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from whet.sandbox.control_group import ControlGroup, Place, remove_stale

Result = TypeVar("Result")


class Slot:
    """A thread, and the control group in which all is that it starts.

    Attributes:
        group: None where no groups can be made.
    """

    def __init__(self, group: ControlGroup | None) -> None:
        self.group = group
        # The kernel ends a sandbox when the thread that started it ends.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="whet-spawner")
        if group is not None:
            self.run(group.enter)

    def run(self, call: Callable[..., Result], *arguments: object) -> Result:
        """Calls something in its thread."""
        return self._thread.submit(call, *arguments).result()

    def free(self) -> bool:
        """Whether nothing is left of its last job."""
        return self.group is None or self.group.empty()

    def close(self) -> None:
        """Ends its thread, and removes its group once the last process there has ended."""
        self._thread.shutdown()
        if self.group is not None:
            self.group.remove()


class Slots:
    """Slots that are used again and again."""

    def __init__(self, place: Place | None) -> None:
        """Removes what whet processes that are gone have left there.

        Args:
            place: where control groups can be made; None is nowhere.
        """
        self._place = place
        self._numbers = itertools.count()
        self._made: list[Slot] = []
        self._idle: list[Slot] = []
        self._lock = threading.Lock()
        if place is not None:
            remove_stale(place)

    def take(self) -> Slot:
        """Returns one in which nothing runs.

        Raises:
            OSError: its control group cannot be made.
        """
        with self._lock:
            slot = next((slot for slot in self._idle if slot.free()), None)
            if slot is not None:
                self._idle.remove(slot)
                return slot
        name = f"whet-{os.getpid()}-{id(self):x}-{next(self._numbers)}"
        slot = Slot(None if self._place is None else ControlGroup(self._place, name))
        with self._lock:
            self._made.append(slot)
        return slot

    def give(self, slot: Slot) -> None:
        """Takes one back whose job has been killed."""
        with self._lock:
            self._idle.append(slot)

    def close(self) -> None:
        """Ends them all, and with them what was started there."""
        with self._lock:
            for slot in self._made:
                slot.close()
