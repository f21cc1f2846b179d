"""Times the lines of one Python file.

A line is charged for what it calls in other files. CPython runs signal handlers and switches threads at loop ends
only, so samples taken from inside would all fall there; tracing does not have that bias.

Also a program of its own: handed to ``python3 -c`` as text with the path of a program and the path of a report,
it runs the program and writes one ``line nanoseconds`` a line.
"""

from __future__ import annotations

import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from typing import Any

_clock = time.perf_counter_ns


class LineTimer:
    """Adds up nanoseconds by line of a file while it is on."""

    def __init__(self, filename: str) -> None:
        self.filename = filename
        self.spent: dict[int, int] = {}
        self._line = 0  # 0: nothing of the file is running
        self._callers: list[int] = []
        self._since = 0

    def on(self) -> None:
        """Begins to time."""
        self._line = 0
        self._callers.clear()
        sys.settrace(self._trace)

    def off(self) -> None:
        """Stops timing."""
        sys.settrace(None)

    def _trace(self, frame: Any, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename != self.filename:
            return None
        now = _clock()
        if self._line:
            self.spent[self._line] = self.spent.get(self._line, 0) + now - self._since
        if event == "call":
            self._callers.append(self._line)
            self._line = frame.f_lineno
        elif event == "return":
            self._line = self._callers.pop() if self._callers else 0
        else:
            self._line = frame.f_lineno or self._line
        self._since = _clock()  # what this function takes is nobody's
        return self._trace


def main() -> None:
    """Runs the program that is named on the command line."""
    import runpy

    program, report = sys.argv[1:3]
    sys.argv[:] = [program]
    timer = LineTimer(program)
    timer.on()
    try:
        runpy.run_path(program, run_name="__main__")
    finally:
        timer.off()
        with open(report, "w") as file:
            file.writelines(f"{line} {spent}\n" for line, spent in sorted(timer.spent.items()))


if __name__ == "__main__":
    main()
