"""Notes which functions each test of a pytest run calls, in all of its Python processes and threads.

Also a plugin of pytest. Processes that a test starts know it by the variable that pytest sets.
"""

from __future__ import annotations

import json
import os
import sys
import threading

from .ends import PLACE, append

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from typing import Any

JOB = "WHET_REACH"
"""Environment variable: the arguments of `Tracer` as JSON, paths from `ends.PLACE`."""
CURRENT = "PYTEST_CURRENT_TEST"


class Tracer:
    """Notes the calls of one process.

    What is met is written at once: a worker may be killed at any time.

    Args:
        folder: the project's.
        functions: path and first line of each that matters.
        out: file that takes what is found; several processes append to it.
    """

    def __init__(self, folder: str, functions: list[list[Any]], out: str) -> None:
        real = os.path.realpath(folder)
        self.wanted = {(os.path.join(real, path), line): i for i, (path, line) in enumerate(functions)}
        self.out = out
        self.seen: dict[int, Any] = {}

    def begin(self) -> None:
        """Forgets all, and starts."""
        self.seen.clear()
        threading.settrace(self.see)
        sys.settrace(self.see)

    def end(self) -> None:
        """Stops."""
        sys.settrace(None)
        threading.settrace(None)

    def see(self, frame: Any, event: str, argument: Any) -> None:
        """Notes what begins to run. Not by its hash: that of code is made of all that it holds."""
        code = frame.f_code
        if id(code) not in self.seen:
            self.seen[id(code)] = code
            number = self.wanted.get((os.path.realpath(code.co_filename), code.co_firstlineno))
            test = os.environ.get(CURRENT, "").rpartition(" (")[0]
            if number is not None and test:
                append(self.out, json.dumps([test, number]).encode())


_tracer: list[Tracer] = []


def install() -> None:
    """Makes this process ready to note its calls, as the environment says."""
    job, place = json.loads(os.environ[JOB]), os.environ[PLACE]
    out = os.path.join(place, job["out"])
    _tracer.append(Tracer(os.path.join(place, job["folder"]), job["functions"], out))
    if CURRENT in os.environ:
        _tracer[0].begin()


def pytest_runtest_logstart(nodeid: str, location: Any) -> None:
    """Begins a test, with its fixtures."""
    _tracer[0].begin()


def pytest_runtest_logfinish(nodeid: str, location: Any) -> None:
    """Ends a test."""
    _tracer[0].end()
