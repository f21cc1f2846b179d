"""What the kernel's scheduler gives the processes of a session while a window is open, read from outside."""

from __future__ import annotations

import time
from typing import NamedTuple

from whet.sandbox.process_tree import given_since, last_number, own_waiting, scheduled
from whet.sandbox.protocol import Session


class ProcessorTime(NamedTuple):
    """What a window's processes were given; None, and 0 for the clock, where this machine does not tell.

    Attributes:
        ran: seconds on a processor: of all that ran in the session's control group, where it has one that is counted,
            else of what lives at both ends of the window, and of what is said of those that have ended.
        waited: seconds for which what lives at both ends, or the clock's own thread, waited for a processor.
        clock: seconds that the clock's own thread ran.
        whole: whether ``ran`` is all. A control group's account always is. Without one: no process or thread was
            started in the window, and no more ended than was said; what others on this machine start meanwhile cannot
            be told from that.
    """

    ran: float | None
    waited: float | None
    clock: float
    whole: bool

    def waited_for_others(self, window: float) -> float | None:
        """Returns for how many seconds of a window it waited while its processor did something else than its work.

        Of several processors at work at once less than that, down to 0; None where not all that ran is known.
        """
        if self.ran is None or self.waited is None or not self.whole:
            return None
        return waited_for_others(self.waited, self.ran, window)


def waited_for_others(waited: float, ran: float, room: float) -> float:
    """Returns for how many seconds something waited while its processors did something else than its work and ours.

    Args:
        waited: seconds for which any of its threads could have run and had no processor: another of them may have had
            it.
        ran: seconds that all of them were on a processor.
        room: seconds that its processors have together in the window, less what we ran on them.
    """
    return min(waited, max(0.0, room - ran))


class Watch:
    """Reads the account of a session's processes, and of the thread that holds the clock.

    Args:
        session: whose processes are watched from now on; its process waits for a message.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._number = last_number()
        self._before = scheduled(session.pids())
        self._group = session.group_cpu() if self._before else None
        self._own, self._clock = own_waiting(), time.thread_time()

    def read(self, ending: int = 0, ended: float = 0.0) -> ProcessorTime:
        """Returns what was given since.

        Args:
            ending: how many of its processes must have ended; what they waited is not in it.
            ended: seconds that these ran, as was read before they were gone; a control group has counted them.
        """
        clock, own = time.thread_time() - self._clock, own_waiting() - self._own
        now = scheduled(self._session.pids())  # waits until what still runs has left its processor, and is counted
        if not now or not self._before:
            return ProcessorTime(None, None, 0.0, False)
        given = given_since(self._before, now)
        waited = given.waited + max(0.0, own)
        group = None if self._group is None else self._session.group_cpu()
        if self._group is not None and group is not None:
            return ProcessorTime(group - self._group, waited, clock, True)
        started = self._number is None or last_number() != self._number
        whole = not started and len(self._before.keys() - now.keys()) == ending
        return ProcessorTime(given.ran + ended, waited, clock, whole)
