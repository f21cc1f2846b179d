"""Bounds the files of a whole process tree, and its memory where no control group does."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from whet.sandbox.process_tree import GONE, tree
from whet.sandbox.protocol import Incident
from whet.sandbox.session import LocalProcess
from whet.sandbox.slots import Slot
from whet.sandbox.spawner import end

PERIOD_SECONDS = 0.1
"""Seconds between two looks at all trees. Less reads ``/proc`` more often beside what is measured; more lets a tree be
over its bounds for longer, and by more."""
MOST_FILES = 65536
"""Files in each folder that a job may write, as many as in a container (`docker_options.INODES`). The attack corpus
makes 80,000 empty ones. More let such files, which do not count towards a folder's size, take more of the kernel's
memory; with fewer, jobs that write many files fail."""
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a tree may use; 0 is no bound.

    Attributes:
        memory: bytes, what its processes share counted once.
        files: in each of its folders.
        folders: where it may write, as it sees them.
    """

    memory: int
    files: int
    folders: tuple[str, ...]


class WatchedTree(Protocol):
    """The root of a process tree."""

    @property
    def pid(self) -> int:
        """Its number."""

    @property
    def excess(self) -> Incident | None:
        """What it was ended for."""

    def stop(self, excess: Incident) -> None:
        """Ends it for what it used."""


class Watchdog:
    """Looks at the trees that it was given, and kills those that are over their bounds."""

    def __init__(self) -> None:
        self._watched: dict[WatchedTree, Bounds] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="whet-watchdog", daemon=True)
        self._thread.start()

    def start(
        self,
        process: subprocess.Popen[bytes],
        bounds: Bounds,
        slot: Slot,
        release: Callable[[Slot], None],
    ) -> WatchedProcess:
        """Watches a process, which leads a process group of its own, until it is closed.

        Args:
            process: the process.
            bounds: what its tree may use.
            slot: in which it was started.
            release: is given the slot when it has ended.
        """
        made = WatchedProcess(process, self, slot, release)
        self.watch(made, bounds)
        return made

    def watch(self, process: WatchedTree, bounds: Bounds) -> None:
        """Watches a tree until it is forgotten."""
        with self._lock:
            self._watched[process] = bounds

    def forget(self, process: WatchedTree) -> None:
        """Looks at a tree no more; it may be gone."""
        with self._lock:
            self._watched.pop(process, None)

    def close(self) -> None:
        """Ends the watch."""
        self._closed.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._closed.wait(PERIOD_SECONDS):
            with self._lock:  # held, so that no number of a process is another's meanwhile
                for process, bounds in self._watched.items():
                    # What cannot be looked at now, for lack of a descriptor say, is looked at again a period later.
                    with suppress(OSError):
                        if process.excess is None and (detail := excess(process.pid, bounds)):
                            process.stop(Incident("memory", detail))


class WatchedProcess(LocalProcess):
    """A `LocalProcess` that a watchdog may end, or the kernel at the limit of its control group."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        watchdog: Watchdog,
        slot: Slot,
        release: Callable[[Slot], None],
    ) -> None:
        super().__init__(process, lambda: slot.group, slot.cpu)
        self.pid = process.pid
        self.excess: Incident | None = None
        self._watchdog = watchdog
        self._slot = slot
        self._release = release

    def stop(self, excess: Incident) -> None:
        """Ends it for what it used."""
        self.excess = excess
        self._end_group()

    def _end_group(self) -> None:
        end(self._process)

    def limit_incident(self) -> Incident | None:
        """See `whet.sandbox.session.Child.limit_incident`."""
        return self.excess or self._slot.limit_incident()

    def close(self, spoiled: bool) -> None:
        """See `whet.sandbox.session.Child.close`."""
        self._watchdog.forget(self)
        super().close(spoiled)
        self._release(self._slot)


def excess(pid: int, bounds: Bounds) -> str:
    """Returns by what the tree of a process is over its bounds; empty where it is not."""
    pids = list(tree(pid))
    # Exact figures are dear: they are asked for only where the rough one, which is never less, is over.
    if bounds.memory and sum(map(_resident, pids)) > bounds.memory:
        used = sum(map(_proportional, pids))
        if used > bounds.memory:
            return f"out of memory: {used >> 20} MiB together; the limit is {bounds.memory >> 20} MiB"
    return _crowded(Path(f"/proc/{pids[-1]}/root"), bounds) if bounds.files else ""


def _crowded(root: Path, bounds: Bounds) -> str:
    with suppress(*GONE):
        if root.samefile("/"):
            return ""  # it is being made, and still sees the host's folders
        for folder in bounds.folders:
            system = os.statvfs(f"{root}{folder}")
            if system.f_files - system.f_ffree > bounds.files:
                return f"more than {bounds.files} files in {folder}"
    return ""


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except GONE:
        return 0


def _proportional(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except GONE:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)
