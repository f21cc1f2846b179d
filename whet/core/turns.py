"""Work that one thread of one process does at a time, over all that share a store."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from whet.core.store import Store

LOOK = 0.004
"""Seconds between two looks at a lock that another one holds: nobody holds one of these for long."""


@contextmanager
def alone(store: Store, name: str) -> Iterator[None]:
    """Waits for a lock of the store, and keeps it while it is open; whoever dies lets go of it."""
    while not store.hold(name):
        time.sleep(LOOK)
    try:
        yield
    finally:
        store.release(name)
