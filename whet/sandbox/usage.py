"""What the processes of a job use, read from outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from whet.sandbox.process_tree import cpu_seconds


class MemoryGroup(Protocol):
    """A control group that counts memory."""

    def peak(self) -> int | None:
        """Returns the most bytes used together since `reset`; None where that may be an earlier job's."""

    def reset(self) -> bool:
        """Begins the peak anew at what is used now; returns False where the kernel does not let it."""


class ProcessUsage:
    """Of one job after another; all of it is asked for when it is needed, since groups and processes come and go."""

    def __init__(
        self,
        pids: Callable[[], list[int]],
        group: Callable[[], MemoryGroup | None] = lambda: None,
        group_cpu: Callable[[], float | None] = lambda: None,
    ) -> None:
        """Reads nothing yet.

        Args:
            pids: returns the processes, by their numbers out here; none where they are not seen.
            group: returns the control group that they alone are in; None where there is none.
            group_cpu: returns the CPU seconds that such a group counts; None where none does.
        """
        self.pids = pids
        self.group_cpu = group_cpu
        self._group = group

    def peak(self) -> int | None:
        """See `whet.sandbox.protocol.Session.peak`."""
        group = self._group()
        return None if group is None else group.peak()

    def reset(self) -> None:
        """See `whet.sandbox.protocol.Session.reset`."""
        if (group := self._group()) is not None:
            group.reset()

    def cpu(self) -> float | None:
        """See `whet.sandbox.protocol.Session.cpu`."""
        return cpu_seconds(self.pids())
