"""Tells how much memory the lines of one Python file take.

A line is charged for what it calls in other files. `tracemalloc` knows what lives at a moment, but not when most
lives. So the same work is done twice: the first time finds how much is held at most, the second looks at what lives
when so much is reached.

Also a program of its own: handed to ``python3 -c`` as text with the path of a program, that of a report, seconds and
the most bytes that an earlier run met (0 in the first run), it runs the program and writes what it found.
"""

from __future__ import annotations

import sys
import time
import tracemalloc

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from typing import Any

_clock = time.monotonic
FRAMES = 8
"""Calls in other files through which an allocation is followed back to a line."""
NEARLY = 0.98
"""Share of `reach` at which what lives is looked at. Nearer to 1, a run that differs a little never gets there; a
smaller share looks before most lives."""


class MemoryTracer:
    """Follows the memory of a file's lines while it is on.

    Attributes:
        filename: of the lines.
        peak: the most bytes that were allocated at a time.
        most: the most that were held between two lines.
        rises: by line, the most bytes that one execution of it added for a moment.
        held: by line, bytes and blocks that lived when about as much as `reach` was held.
    """

    def __init__(self, filename: str, seconds: float, reach: int = 0) -> None:
        self.filename = filename
        self.peak = 0
        self.most = 0
        self.rises: dict[int, int] = {}
        self.held: dict[int, tuple[int, int]] = {}
        self._end = _clock() + seconds
        self._reach = reach
        self._line = 0  # 0: nothing of the file is running
        self._callers: list[int] = []
        self._before = 0

    def on(self) -> None:
        """Begins to follow."""
        tracemalloc.start(FRAMES)
        sys.settrace(self._trace)

    def off(self) -> None:
        """Stops; what lives now is told where `reach` was never met."""
        sys.settrace(None)
        if self._reach and tracemalloc.is_tracing():
            self._look()
        tracemalloc.stop()

    def _trace(self, frame: Any, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename != self.filename or not tracemalloc.is_tracing():
            return None
        current, peak = tracemalloc.get_traced_memory()
        self.peak = max(self.peak, peak)
        self.most = max(self.most, current)
        if self._line:
            self.rises[self._line] = max(self.rises.get(self._line, 0), peak - self._before)
        if event == "call":
            self._callers.append(self._line)
            self._line = frame.f_lineno
        elif event == "return":
            self._line = self._callers.pop() if self._callers else 0
        else:
            self._line = frame.f_lineno or self._line
        if _clock() > self._end or (self._reach and current >= NEARLY * self._reach):
            self.off()
            return None
        self._before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        return self._trace

    def _look(self) -> None:
        for group in tracemalloc.take_snapshot().statistics("traceback"):
            if group.traceback[-1].filename == _OWN:
                continue
            for frame in reversed(group.traceback):
                if frame.filename == self.filename:
                    size, count = self.held.get(frame.lineno, (0, 0))
                    self.held[frame.lineno] = size + group.size, count + group.count
                    break


_OWN = MemoryTracer.on.__code__.co_filename


def rows(first: MemoryTracer, second: MemoryTracer) -> list[tuple[int, int, int]]:
    """Returns (line, bytes, blocks) from what both times told; line 0 stands for the peak of all."""
    found = [(0, max(first.peak, second.peak), 0)]
    for line in sorted({*first.rises, *second.held}):
        size, count = second.held.get(line, (0, 0))
        found.append((line, max(size, first.rises.get(line, 0)), count))
    return found


def main() -> None:
    """Runs the program that is named on the command line."""
    import runpy

    program, report, seconds, reach = sys.argv[1:5]
    sys.argv[:] = [program]
    tracer = MemoryTracer(program, float(seconds), int(reach))
    tracer.on()
    try:
        runpy.run_path(program, run_name="__main__")
    finally:
        tracer.off()
        with open(report, "w") as file:
            file.write(f"0 {tracer.peak} {tracer.most}\n")
            file.writelines(f"{line} {rise} 0\n" for line, rise in sorted(tracer.rises.items()))
            file.writelines(f"{line} {size} {count}\n" for line, (size, count) in sorted(tracer.held.items()))


if __name__ == "__main__":
    main()
