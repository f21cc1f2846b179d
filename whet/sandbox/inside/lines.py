"""What the lines of a Python target's file cost: time, and memory."""

from __future__ import annotations

import time

from .invocation import invoke
from .line_timer import LineTimer
from .memory_tracer import MemoryTracer, rows

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from typing import Any

_clock = time.perf_counter_ns


def hot_lines(target: Any, payloads: list[bytes], seconds: float) -> list[tuple[int, int]]:
    """Runs inputs for some seconds; returns (line of the target's file, nanoseconds)."""
    timer = LineTimer(target.module.__file__)
    end = _clock() + int(seconds * 1e9)
    while _clock() < end:
        for payload in payloads:
            init, args, kwargs = target.decode(payload)
            timer.on()
            try:
                target.call(init, args, kwargs)
            except Exception:  # an input on which the target raises still costs time
                pass
            finally:
                timer.off()
    return sorted(timer.spent.items())


def memory_lines(target: Any, payload: bytes, seconds: float) -> list[tuple[int, int, int]]:
    """Runs an input three times; returns (line of the target's file, bytes, blocks), line 0 for the peak of all."""

    def followed(reach: int) -> MemoryTracer:
        given = target.decode(payload)
        tracer = MemoryTracer(target.module.__file__, seconds, reach)
        tracer.on()
        try:
            invoke(target, *given)
        finally:
            tracer.off()
        return tracer

    invoke(target, *target.decode(payload))  # what it keeps from its first call is no call's own
    first = followed(0)
    return rows(first, followed(max(1, first.most)))
