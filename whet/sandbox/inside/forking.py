"""Forks of a process in which what a job needs is imported already: what they do before they are the job."""

from __future__ import annotations

import gc
import importlib
import os
import select
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from collections.abc import Callable, Sequence
    from typing import NoReturn

TREE = "/src"
SWEEP_SECONDS = 1.0
"""Seconds in which init must have buried what was killed. Less throws sound servers away on a busy machine; more delays
the report of a process that stays, and must stay below the 10 s for an answer."""
HIGHEST = 1 << 20
"""Above any descriptor."""

RANDOM = ("numpy.random", "torch")
"""Modules whose generator stands where the parent left it; that of `random` is seeded anew by Python itself."""

FAILED = "whet: "
"""How the only line of a fork begins that could not become its job."""

PLAIN, PROGRAM, LINK = "plain", "program", "link"
File = tuple[str, int, str]
"""One of a tree: its path, its bytes, its kind. The bytes of a link are where it leads."""


def preload(modules: Sequence[str]) -> bool:
    """Imports modules for forks to have; one that this interpreter lacks is the job's own to miss.

    Returns:
        whether this process may be forked from: forks of one that writes to memory which others see too could
        speak with each other.
    """
    for name in modules:
        try:
            importlib.import_module(name)
        except Exception:  # a module may raise anything while it is loaded
            continue
    gc.collect()
    gc.freeze()  # a collection in a fork leaves these pages shared
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        return not any(line.split(None, 2)[1][1::2] == "ws" for line in maps)


def furnish(files: Sequence[File], tree: int) -> None:
    """Writes a tree whose bytes are read from a descriptor; none of them stays in this process."""
    for path, size, kind in files:
        place = os.path.join(TREE, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if kind == LINK:
            os.symlink(os.read(tree, size), place)
            continue
        with open(place, "wb") as file:
            while size:
                sent = os.sendfile(file.fileno(), tree, None, size)
                if not sent:
                    raise OSError(f"{path} is cut short")
                size -= sent
        os.chmod(place, 0o755 if kind == PROGRAM else 0o644)


class Fork:
    """A child without a program of its own yet."""

    def __init__(self, begin: Callable[[], NoReturn]) -> None:
        self.pid = os.fork()
        if self.pid == 0:
            never_back(begin)

    def wait(self, seconds: float | None = None) -> int:
        """Returns its return code; negative is a signal.

        Raises:
            TimeoutError: it has not ended within so many seconds.
        """
        if seconds is not None:
            poll = select.poll()
            descriptor = os.pidfd_open(self.pid)
            try:
                poll.register(descriptor, select.POLLIN)
                if not poll.poll(seconds * 1000):
                    raise TimeoutError
            finally:
                os.close(descriptor)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def kill(self) -> None:
        """Ends it. It is not gone before `wait` has returned."""
        os.kill(self.pid, signal.SIGKILL)


def alone() -> bool:
    """Waits until init has buried what was killed; returns whether nobody but it and this process is left."""
    deadline = time.monotonic() + SWEEP_SECONDS
    while {int(name) for name in os.listdir("/proc") if name.isdigit()} - {1, os.getpid()}:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.0005)
    return True


def never_back(begin: Callable[[], NoReturn]) -> NoReturn:
    """Runs a fork's way; whatever happens, it does not go on as its parent."""
    try:
        begin()
    except BaseException as error:
        os.write(2, f"{FAILED}{type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(1)


def take_pipes(pipes: Sequence[int]) -> None:
    """Makes descriptors the first ones, and closes all others; they lie above those that they become."""
    for number, descriptor in enumerate(pipes):
        os.dup2(descriptor, number)
    os.closerange(len(pipes), HIGHEST)


def become(program: str) -> NoReturn:
    """Runs one of our programs in this process, which it ends with."""
    os.chdir("/work")
    del sys.argv[1:]
    for name in RANDOM:
        if name in sys.modules:
            sys.modules[name].seed()
    importlib.import_module(f".{program}", __package__).main()
    os._exit(0)
