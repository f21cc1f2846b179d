"""Samples which functions of a project a program spends its CPU time in, in all of its Python processes and threads.

A timer of CPU time interrupts. CPython answers it between two bytecodes only, and late where one runs for long, such as
a call into C: so each sample weighs what its thread has used since the one before. Answers come where functions begin
and loops end: what a function without loops and calls uses is charged to its caller.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time

from .ends import PLACE, append, at_ends

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from typing import Any

JOB = "WHET_SAMPLE"
"""Environment variable: the arguments of `Sampler` as JSON, paths from `ends.PLACE`."""
INTERVAL = 0.002
"""CPU seconds between two samples; coarse clocks round it up to a tick. Less slows the program; more misses short
functions."""
LATE = 0.008
"""From so many seconds on, a sample is taken for one long call into C; coarse clocks tick every four thousandths."""
WRITTEN_EVERY = 0.2
"""Seconds between two writes: about what a killed process loses. Less writes more often."""
DEEPEST = 400
"""Frames of a stack that are looked at, from the innermost."""


class Sampler:
    """Adds up the CPU seconds of the stacks of one process.

    Args:
        folder: the project's; only frames of files below it are told.
        out: file that takes what is found; several processes append to it.
    """

    def __init__(self, folder: str, out: str) -> None:
        self.folder = os.path.join(os.path.realpath(folder), "")
        self.out = out
        self.begin()

    def begin(self) -> None:
        """Forgets all, and starts."""
        self.stacks: dict[tuple[Any, ...], list[float]] = {}
        self.names: dict[Any, str | None] = {}
        self.used = {threading.get_ident(): time.thread_time()}
        self.written = time.monotonic()
        signal.signal(signal.SIGPROF, self.sample)
        signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)

    def close(self) -> None:
        """Stops, and writes what is left."""
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        self.write()

    def sample(self, signum: int, frame: Any) -> None:
        """Looks at all threads."""
        frames = sys._current_frames()
        frames[threading.get_ident()] = frame
        for thread, innermost in frames.items():
            try:
                used = time.clock_gettime(time.pthread_getcpuclockid(thread))
            except (OSError, OverflowError):  # it has just ended
                continue
            spent = used - self.used.get(thread, 0.0)
            self.used[thread] = used
            if spent > 0.0:
                found = self.stacks.setdefault(self.stack(innermost), [0.0, 0.0])
                found[0] += spent
                found[1] += spent if spent > LATE else 0.0
        if time.monotonic() - self.written > WRITTEN_EVERY:  # a worker may be killed at any time
            self.write()

    def stack(self, frame: Any) -> tuple[tuple[str, int, str], ...]:
        """Returns the project's functions on a stack: path, first line and name of each, once, innermost first."""
        found: list[tuple[str, int, str]] = []
        for _ in range(DEEPEST):
            if frame is None:
                break
            code = frame.f_code
            path = self.path(code.co_filename)
            if path is not None:
                function = path, code.co_firstlineno, code.co_name
                if function not in found:
                    found.append(function)
            frame = frame.f_back
        return tuple(found)

    def path(self, name: str) -> str | None:
        """Returns a file's path from the project's folder; None for one of others."""
        if name not in self.names:
            real = os.path.realpath(name)
            ours = real.startswith(self.folder) and not name.startswith("<")
            self.names[name] = real[len(self.folder) :] if ours else None
        return self.names[name]

    def write(self) -> None:
        """Appends what was found since the last time."""
        stacks, self.stacks = self.stacks, {}
        self.written = time.monotonic()
        if stacks:
            append(self.out, json.dumps([[stack, *spent] for stack, spent in stacks.items()]).encode())


def _unheard(frame: Any, event: str, argument: Any) -> None:
    """Leaves interrupts to the main thread, where handlers run; the first thing that a new thread does."""
    sys.setprofile(None)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPROF})


def install() -> None:
    """Has this process sample itself as the environment says."""
    job, place = json.loads(os.environ[JOB]), os.environ[PLACE]
    sampler = Sampler(os.path.join(place, job["folder"]), os.path.join(place, job["out"]))
    at_ends(sampler.close, sampler.begin)
    threading.setprofile(_unheard)
