"""What the kernel's scheduler gives the processes of a session while a window is open, read from outside."""

from __future__ import annotations

from typing import NamedTuple

from whet.sandbox.process_tree import given_since, last_number, own_waiting, scheduled
from whet.sandbox.protocol import Session


class Given(NamedTuple):
    """What a window's processes were given; None where this machine does not tell.

    Attributes:
        ran: seconds on a processor, of what lives at both ends of the window.
        waited: seconds for which those, or the clock's own thread, waited for a processor.
        whole: whether that is all: no process or thread was started in the window, and no more ended than was said.
            What others on this machine start meanwhile cannot be told from it.
    """

    ran: float | None
    waited: float | None
    whole: bool


class Watch:
    """Reads the account of a session's processes, and of the thread that holds the clock.

    Args:
        session: whose processes are watched from now on; its process waits for a message.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._number = last_number()
        self._before = scheduled(session.pids())
        self._own = own_waiting()

    def read(self, ending: int = 0) -> Given:
        """Returns what was given since.

        Args:
            ending: how many of its processes must have ended; what they were given is not in it.
        """
        own = own_waiting() - self._own
        now = scheduled(self._session.pids())
        if not now or not self._before:
            return Given(None, None, False)
        given = given_since(self._before, now)
        started = self._number is None or last_number() != self._number
        whole = not started and len(self._before.keys() - now.keys()) == ending
        return Given(given.ran, given.waited + max(0.0, own), whole)
