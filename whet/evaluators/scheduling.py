"""What the kernel's scheduler gives the processes of a session while a window is open, read from outside."""

from __future__ import annotations

from whet.sandbox.process_tree import given_since, own_waiting, scheduled
from whet.sandbox.protocol import Session


class Watch:
    """Reads the account of a session's processes, and of the thread that holds the clock.

    Args:
        session: whose processes are watched from now on; its process waits for a message.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._before = scheduled(session.pids())
        self._own = own_waiting()

    def read(self) -> tuple[float | None, float | None]:
        """Returns the seconds that the processes ran, and those for which they, or the clock, waited for a processor.

        None where this machine does not tell. What has ended meanwhile is not in it.
        """
        own = own_waiting() - self._own
        now = scheduled(self._session.pids())
        if not now or not self._before:
            return None, None
        given = given_since(self._before, now)
        return given.ran, given.waited + max(0.0, own)
