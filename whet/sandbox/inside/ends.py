"""What a hook in somebody's Python processes has to write is written however such a process ends or becomes another."""

from __future__ import annotations

import atexit
import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from collections.abc import Callable
    from typing import Any

PLACE = "WHET_PLACE"
"""Environment variable: the folder in which the copy of the project lies."""


def at_ends(close: Callable[[], None], begin: Callable[[], None]) -> None:
    """Has a hook close before its process ends or runs another program, and begin anew in a fork of it.

    Args:
        close: stops, and writes what is left; may be called twice.
        begin: forgets what the parent saw, and starts.
    """
    atexit.register(close)

    def begin_in_fork() -> None:
        if not _runs_another_program():
            begin()
            if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:  # so do pools end their workers
                signal.signal(signal.SIGTERM, terminated)

    def terminated(signum: int, frame: Any) -> None:
        close()
        signal.signal(signum, signal.SIG_DFL)
        os.kill(os.getpid(), signum)

    os.register_at_fork(after_in_child=begin_in_fork)
    for name in ("_exit", "execv", "execve"):  # the latter two keep timers, which end a program that has no handler
        setattr(os, name, _after(close, getattr(os, name)))


def _runs_another_program() -> bool:
    """Whether this fork is one of `subprocess` that calls a function of its caller before it becomes a program."""
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        if frame.f_code.co_name == "_execute_child" and frame.f_globals.get("__name__") == "subprocess":
            return True
    return False


def _after(close: Callable[[], None], native: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        close()
        return native(*args, **kwargs)

    return call


def append(path: str, line: bytes) -> None:
    """Appends a line to a file that several processes write to, in one piece."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        os.write(file, line + b"\n")
    finally:
        os.close(file)
