"""The CPU seconds that the processes of a session use between two moments when they wait for a message."""

from __future__ import annotations

import time

from whet.sandbox.protocol import Session


class Stopwatch:
    """Started when it is made.

    Args:
        session: whose processes are watched.
        wall: whether the clock out here counts in any case: what a GPU does is no CPU time.
    """

    def __init__(self, session: Session, wall: bool = False) -> None:
        self._session = session
        self._before = None if wall else session.cpu()
        self._start = time.perf_counter()

    def seconds(self) -> float:
        """Returns the CPU seconds so far; seconds by the clock out here where the kernel does not tell."""
        spent = time.perf_counter() - self._start
        after = None if self._before is None else self._session.cpu()
        return spent if self._before is None or after is None else max(0.0, after - self._before)
