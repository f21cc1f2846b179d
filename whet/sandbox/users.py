"""The users that candidates are where whet is root: no two jobs on a machine have the same one."""

from __future__ import annotations

import itertools
import os

from whet.core.errors import UsageError
from whet.sandbox.locks import lock
from whet.sandbox.staging import FIRST_UID, SLOTS

BLOCK = 50


class Users:
    """A block of users that no other backend of this machine has meanwhile.

    Attributes:
        first: the lowest of their numbers.
    """

    def __init__(self) -> None:
        """Takes the first block that is free.

        Raises:
            UsageError: there is none.
        """
        for first in range(FIRST_UID, FIRST_UID + SLOTS, BLOCK):
            held = lock(f"whet-users-{first}.lock", wait=False)
            if held is not None:
                self._held = held
                self.first = first
                self._numbers = itertools.count()
                return
        raise UsageError(f"{SLOTS // BLOCK} sandboxes are open on this machine; wait until one is closed")

    def take(self) -> int:
        """Returns the next user; after `BLOCK` it begins anew."""
        return self.first + next(self._numbers) % BLOCK

    def close(self) -> None:
        """Gives the block back."""
        os.close(self._held)
