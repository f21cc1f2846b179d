"""Control groups of the kernel, where this user may make some: bounds on all processes of a job together.

Both interfaces are known: the first (https://docs.kernel.org/admin-guide/cgroup-v1/memory.html), with a tree for
each controller, and the second (https://docs.kernel.org/admin-guide/cgroup-v2.html), with one tree for all.
"""

from __future__ import annotations

import os
import secrets
import shlex
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from whet.core.task import MIB
from whet.sandbox.cpu_account import CpuAccount, account_in
from whet.sandbox.gauge import Gauge
from whet.sandbox.ownership import is_gone, owner

SPARE = 32 * MIB  # for what the job's own code does not use: bubblewrap, the interpreter, the kernel's own records
GONE_SECONDS = 2.0
"""Seconds for which the removal of a group waits for its killed processes to be gone. With less, groups stay on a busy
machine until a later whet process removes them; with more, a process that stays delays closing for longer."""
LEFT = 4 * MIB  # less than that may be left of a job that has ended
PREFIX = "whet-"
"""Of the names of groups; behind it stands which process made one, see `whet.sandbox.ownership`."""


@dataclass(frozen=True, slots=True)
class Interface:
    """What the files of one version are called.

    Attributes:
        version: 1 or 2.
        memory: the limit of memory.
        swap: the limit of what is swapped out: in version 1 of that and memory together, in version 2 of that alone.
        unbounded: what is written to be without such a limit.
        peak: the most memory that was used; written to, it begins anew.
        events: counts the processes that were killed at the limit.
    """

    version: int
    memory: str
    swap: str
    unbounded: str
    peak: str
    events: str


FIRST = Interface(
    version=1,
    memory="memory.limit_in_bytes",
    swap="memory.memsw.limit_in_bytes",
    unbounded="-1",
    peak="memory.max_usage_in_bytes",
    events="memory.oom_control",
)
SECOND = Interface(
    version=2,
    memory="memory.max",
    swap="memory.swap.max",
    unbounded="max",
    peak="memory.peak",
    events="memory.events",
)


@dataclass(frozen=True, slots=True)
class ParentGroup:
    """A group of the kernel in which groups can be made.

    Attributes:
        interface: by which.
        memory: folder of the group above, for memory.
        processes: the same for the number of processes; in version 2 the same folder.
        accounting: the same for CPU time; in version 2 the same folder. None where nothing counts it.
    """

    interface: Interface
    memory: Path
    processes: Path
    accounting: Path | None = None


class ControlGroup:
    """A group that bounds one job after another.

    Moving a process into a group takes the kernel up to 15 ms, in which no process of the machine can start or end.
    Version 1 knows threads apart: there a thread of ours stays in the group, and what it starts is born in it.
    """

    def __init__(self, place: ParentGroup, name: str) -> None:
        """Makes it.

        Args:
            place: where.
            name: of its folder.

        Raises:
            OSError: it cannot be made.
        """
        self._interface = place.interface
        self._memory, self._processes = place.memory / name, place.processes / name
        accounting = None if place.accounting is None else place.accounting / name
        self._folders = _distinct(self._memory, self._processes, accounting)
        self._account: CpuAccount | None = None
        self._files = ExitStack()
        self._members: set[str] = set()
        self._job = CountsBefore(0, 0, False)
        try:
            for folder in self._folders:
                folder.mkdir()
            self._events = os.open(self._memory / self._interface.events, os.O_RDONLY | os.O_CLOEXEC)
            self._files.callback(os.close, self._events)
            self._gauge = Gauge(self._memory / self._interface.peak)
            self._files.callback(self._gauge.close)
            self._account = None if accounting is None else account_in(accounting)
            if self._account is not None:
                self._files.callback(self._account.close)
        except OSError:
            self.remove()
            raise

    @property
    def procs_files(self) -> list[str]:
        """The files to which the first process of a job writes 0 to join; none where it is born in the group."""
        return [] if self._interface.version == 1 else [str(folder / "cgroup.procs") for folder in self._folders]

    def enter(self) -> None:
        """Puts the calling thread into it, to start jobs, where groups of threads are known."""
        if self._interface.version == 1:
            for folder in self._folders:
                _write(folder / "tasks", "0")
            self._members = {str(threading.get_native_id())}

    def begin(self, memory: int, processes: int) -> None:
        """Sets the bounds of the next job, and begins to count anew.

        Args:
            memory: bytes that its processes may use together, swap included; 0 is no bound.
            processes: processes and threads at once; 0 is no bound.

        Raises:
            OSError: the kernel does not take the bounds.
        """
        most = str(memory + SPARE) if memory else self._interface.unbounded
        swap = most if self._interface.version == 1 or not memory else "0"
        # In version 1 the second may never be less than the first.
        steps = [(self._interface.memory, most), (self._interface.swap, swap)]
        if self._interface.version == 1:
            steps.insert(0, (self._interface.swap, self._interface.unbounded))
        for name, value in steps:
            with suppress(FileNotFoundError):  # a kernel that does not count what is swapped out
                _write(self._memory / name, value)
        _write(self._processes / "pids.max", str(processes + len(self._members)) if processes else "max")
        self._job = CountsBefore(memory, kills(self._events), self.reset())

    def excess(self) -> str:
        """Returns what the kernel stopped in the job; empty where it had to stop nothing."""
        if kills(self._events) == self._job.kills:
            return ""
        return f"out of memory: the limit is {self._job.memory >> 20} MiB"

    def peak(self) -> int | None:
        """Returns the most bytes that the job's processes used together since it began, or since `reset`.

        What the kernel holds for them counts: files in memory, and files of the disk that they were the first to read.

        Returns:
            bytes; None where the kernel cannot begin anew, so that it may be an earlier job's.
        """
        return self._gauge.peak() if self._job.fresh else None

    def cpu(self) -> float | None:
        """Returns the CPU seconds of all that ever ran in it, exact but for what runs now; None where nobody counts."""
        return None if self._account is None else self._account.seconds()

    def reset(self) -> bool:
        """Begins the peak anew at what is used now; returns False where the kernel cannot (version 2 before 6.12)."""
        return self._gauge.reset()

    def empty(self) -> bool:
        """Whether nothing is left of the last job: no process, and no memory that is not a copy of a disk's files."""
        # This counts those, too, that are dead and not buried.
        if int((self._processes / "pids.current").read_text()) > len(self._members):
            return False
        rows = (row.split() for row in (self._memory / "memory.stat").read_text().splitlines())
        return sum(int(size) for name, size in rows if name in ("rss", "anon", "shmem")) < LEFT

    def remove(self) -> bool:
        """Removes it once its last process, which has been killed, is gone; returns False where one stays."""
        self._files.close()
        self._account = None
        deadline = time.monotonic() + GONE_SECONDS
        while [folder for folder in self._folders if not _removed(folder)]:  # tries each of them
            if time.monotonic() > deadline:
                return False
            time.sleep(0.001)
        return True


@dataclass(frozen=True, slots=True)
class CountsBefore:
    """What a job began with.

    Attributes:
        memory: its limit in bytes; 0 is none.
        kills: processes that the kernel had killed in it.
        fresh: whether the peak began with it.
    """

    memory: int
    kills: int
    fresh: bool


def kills(events: int) -> int:
    """Returns how many processes the kernel killed at the limit of memory, as a group's open file of events says."""
    rows = (row.split() for row in os.pread(events, 4096, 0).splitlines())
    return next((int(row[1]) for row in rows if row[0] == b"oom_kill"), 0)


def group_name() -> str:
    """Returns a fresh name for a group, which says whose it is."""
    return f"{PREFIX}{owner()}-{secrets.token_hex(4)}"


def find_place() -> ParentGroup | None:
    """Returns where this process can make groups and start processes in them; None where it cannot."""
    return next((place for place in _places() if _works(place)), None)


def _places() -> Iterator[ParentGroup]:
    """Yields where to try: this process's own groups, and those above them."""
    own = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    groups = {controller: path.lstrip("/") for _, names, path in own for controller in names.split(",")}
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    roots = {
        name: Path(folder) for _, folder, kind, options, *_ in mounts if kind == "cgroup" for name in options.split(",")
    }
    if {"memory", "pids"} <= roots.keys() & groups.keys():
        counted = [*_upwards(roots["cpuacct"], groups["cpuacct"])] if "cpuacct" in roots.keys() & groups.keys() else []
        for memory in _upwards(roots["memory"], groups["memory"]):
            for processes in _upwards(roots["pids"], groups["pids"]):
                for accounting in (*counted, None):
                    yield ParentGroup(FIRST, memory, processes, accounting)
    for _, folder, kind, *_ in mounts:
        if kind == "cgroup2":
            # A group with processes can have none below it that are bounded: then the one above it is the place.
            for group in _upwards(Path(folder), groups.get("", "")):
                yield ParentGroup(SECOND, group, group, group)


def _upwards(root: Path, group: str) -> Iterator[Path]:
    """Yields a group and all above it, as far as they can be seen and be written to."""
    own = root / group
    for folder in (own, *(parent for parent in own.parents if parent.is_relative_to(root))):
        if os.access(folder, os.W_OK):
            yield folder


def _distinct(*folders: Path | None) -> tuple[Path, ...]:
    return tuple(dict.fromkeys(folder for folder in folders if folder is not None))


def _works(place: ParentGroup) -> bool:
    try:
        group = ControlGroup(place, group_name())
    except OSError:
        return False
    try:
        with ThreadPoolExecutor(1) as thread:
            thread.submit(group.enter).result()
        group.begin(64 * MIB, 8)
        joins = " && ".join(("true", *(f"echo 0 > {shlex.quote(file)}" for file in group.procs_files)))
        return subprocess.run(["/bin/sh", "-c", joins], capture_output=True, check=False).returncode == 0
    except OSError:
        return False
    finally:
        group.remove()


def _write(path: Path, value: str) -> None:
    """Writes a file of the kernel's; one that it lacks cannot be made, and is not found."""
    with path.open("r+") as file:
        file.write(value)


def _removed(folder: Path) -> bool:
    with suppress(OSError):
        folder.rmdir()
    return not folder.exists()


def remove_stale(place: ParentGroup) -> None:
    """Removes the groups of whet processes that are certainly gone."""
    for parent in _distinct(place.memory, place.processes, place.accounting):
        for folder in parent.glob(f"{PREFIX}*"):
            if is_gone(folder.name.removeprefix(PREFIX).rpartition("-")[0]):
                _removed(folder)
