"""What each job of bubblewrap has to itself while it lives: a thread that starts it, and a control group."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path

from whet.sandbox.control_group import ControlGroup, ParentGroup, group_name, remove_stale
from whet.sandbox.protocol import Incident
from whet.sandbox.spawner import Spawner


class Slot:
    """A thread that starts processes, and the control group in which all of these are.

    Attributes:
        group: None where no groups can be made.
        spawner: the thread.
        user: which its job is, while it has one; None where jobs get no users of their own.
    """

    def __init__(self, group: ControlGroup | None, views: Path) -> None:
        self.group = group
        self.user: int | None = None
        self.spawner = Spawner(views)
        if group is not None:
            self.spawner.run(group.enter)

    def limit_incident(self) -> Incident | None:
        """Returns what the kernel has stopped in the group since the job began."""
        detail = self.group.excess() if self.group is not None else ""
        return Incident("memory", detail) if detail else None

    def cpu(self) -> float | None:
        """Returns the CPU seconds of all that ever ran in the group, exact; None where no group counts them."""
        return None if self.group is None else self.group.cpu()

    def free(self) -> bool:
        """Whether nothing is left of its last job."""
        return self.group is None or self.group.empty()

    def close(self) -> None:
        """Ends its thread, and removes its group once the last process there has ended."""
        self.spawner.close()
        if self.group is not None:
            self.group.remove()


class Slots:
    """Slots that are used again and again."""

    def __init__(self, place: ParentGroup | None, views: Path) -> None:
        """Removes what whet processes that are gone have left there.

        Args:
            place: where control groups can be made; None is nowhere.
            views: a folder of ours for what `whet.sandbox.spawner.Spawner.show` shows.
        """
        self._place = place
        self._views = views
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
        number = next(self._numbers)
        group = None
        if self._place is not None:
            group = ControlGroup(self._place, group_name())
        slot = Slot(group, self._views / str(number))
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
