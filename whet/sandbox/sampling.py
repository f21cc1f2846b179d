"""Samples a sandboxed process from outside, while it works: nothing in its sandbox is loosened for that."""

from __future__ import annotations

import resource
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO

from whet.sandbox.counters.process import Silent
from whet.sandbox.protocol import Session

WORK_SECONDS = 1.0
"""Seconds of the process's work that are sampled: 250 samples of py-spy, 499 of perf. More give finer shares and take
longer; with less, lines that take little are missed."""
MOST_SECONDS = 5.0
"""Wall seconds after which no further work begins, where little of each call is the process's own. More make a profile
take longer; with less, such a process gets fewer samples."""
ATTACH_SECONDS = 10.0
"""Seconds in which a profiler must attach. Less loses profiles on a busy machine; more delays the report of one that
hangs."""
END_SECONDS = 20.0
"""Seconds in which an interrupted profiler must write its report and end. Less loses profiles on a busy machine; more
delays the report of one that hangs."""
REPORT_BYTES = 32 << 20
"""Bytes of a report at most. perf copies 8 KiB of stack a sample, some 4 MiB a second for each thread that works. Less
loses reports on many threads; more lets a hostile process fill more of our disk and memory."""
TOOL_MEMORY = 4 << 30
"""Bytes of address space of a profiler at most. Less fails profilers on processes with large libraries; more lets a
hostile process make one take more of the machine's memory."""


def inner(session: Session) -> int:
    """Returns the process that a sandbox was made for, as this machine numbers it; it has answered before.

    Raises:
        Silent: it is not to be seen from here.
    """
    pids = session.pids()
    if not pids:
        raise Silent("the sandbox's processes are not to be seen from here")
    return pids[-1]


def sample(argv: Sequence[str], ready: bytes, work: Callable[[], float]) -> None:
    """Runs a profiler that samples a process, and keeps that process at work meanwhile.

    What the profiler reads is hostile, so its report and its memory are bounded.

    Args:
        argv: attaches, and writes its report when it is interrupted.
        ready: what it says once it has attached.
        work: makes the process work once, and returns for how many seconds it did; called again and again until that
            makes a second, or five have passed.

    Raises:
        Silent: it could not attach, or did not end well.
    """
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"},
        )
    except OSError as error:
        raise Silent(f"{argv[0]} cannot be started: {error.strerror}") from None
    with process:
        try:
            for which, limit in ((resource.RLIMIT_FSIZE, REPORT_BYTES), (resource.RLIMIT_AS, TOOL_MEMORY)):
                with suppress(ProcessLookupError):
                    resource.prlimit(process.pid, which, (limit, limit))
            assert process.stdout is not None
            _await(process.stdout, ready)
            end = time.monotonic() + MOST_SECONDS
            worked = 0.0
            while worked < WORK_SECONDS and time.monotonic() < end:
                worked += work()
            process.send_signal(signal.SIGINT)
            said, _ = process.communicate(timeout=END_SECONDS)
        except subprocess.TimeoutExpired:
            raise Silent(f"it did not end within {END_SECONDS:g} s") from None
        finally:
            process.kill()
    # perf passes on the signal that ended its watch.
    if process.returncode not in (0, -signal.SIGINT):
        raise Silent(_last_line(said) or f"it ended with {process.returncode}")


def _await(pipe: IO[bytes], ready: bytes) -> None:
    said = b""
    deadline = time.monotonic() + ATTACH_SECONDS
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while ready not in said:
            if not selector.select(max(0.0, deadline - time.monotonic())):
                raise Silent(f"it did not attach within {ATTACH_SECONDS:g} s")
            piece = pipe.read1(4096)  # type: ignore[attr-defined]
            if not piece:
                raise Silent(_last_line(said) or "it did not attach")
            said += piece


def _last_line(said: bytes) -> str:
    lines = said.decode("utf-8", "replace").split("\n")
    return next((line.strip()[:200] for line in reversed(lines) if line.strip()), "")
