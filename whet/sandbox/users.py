"""The users that candidates are where whet is root: no two jobs on a machine have the same one."""

from __future__ import annotations

import os
import threading
from collections import deque

from whet.core.errors import UsageError
from whet.sandbox.locks import lock
from whet.sandbox.staging import FIRST_UID, SLOTS

BLOCK = 50
"""Users that a backend takes at a time; a machine has room for `SLOTS` // `BLOCK` blocks. More let fewer backends run
at once; fewer give a user to another job sooner."""


class Users:
    """Blocks of users that no other backend of this machine has meanwhile.

    Safe for several threads.

    Attributes:
        first: the lowest number of the first block.
    """

    def __init__(self) -> None:
        """Takes the first block that is free.

        Raises:
            UsageError: there is none.
        """
        self._held: list[int] = []
        self._idle: deque[int] = deque()
        self._lock = threading.Lock()
        self.first = self._more()

    def take(self) -> int:
        """Returns the user that nobody has had for the longest time; a further block is taken where all are in use.

        Raises:
            UsageError: no block is free.
        """
        with self._lock:
            if not self._idle:
                self._more()
            return self._idle.popleft()

    def give(self, user: int) -> None:
        """Takes one back whose job has ended."""
        with self._lock:
            self._idle.append(user)

    def close(self) -> None:
        """Gives the blocks back."""
        for descriptor in self._held:
            os.close(descriptor)

    def _more(self) -> int:
        """Takes a block; returns the first of its users."""
        for first in range(FIRST_UID, FIRST_UID + SLOTS, BLOCK):
            held = lock(f"whet-users-{first}.lock", wait=False)
            if held is not None:
                self._held.append(held)
                self._idle.extend(range(first, first + BLOCK))
                return first
        raise UsageError(f"{SLOTS // BLOCK} blocks of users are taken on this machine; wait until a sandbox is closed")
