"""Samples which line of one Python file is on top of the stack.

Also a program of its own: handed to ``python3 -c`` as text with the path of a program and the path of a report,
it runs the program and writes one ``line hits`` a line.
"""

from __future__ import annotations

import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from typing import Any

SECONDS = 0.001


class Sampler:
    """Counts hits by line of a file, once a millisecond of CPU time while it is on."""

    def __init__(self, filename: str) -> None:
        self.filename = filename
        self.hits: dict[int, int] = {}
        signal.signal(signal.SIGPROF, self._sample)

    def _sample(self, signum: int, frame: Any) -> None:
        while frame is not None and frame.f_code.co_filename != self.filename:
            frame = frame.f_back
        if frame is not None and frame.f_lineno is not None:  # a frame between two lines has none
            self.hits[frame.f_lineno] = self.hits.get(frame.f_lineno, 0) + 1

    def on(self) -> None:
        """Begins to sample."""
        signal.setitimer(signal.ITIMER_PROF, SECONDS, SECONDS)

    def off(self) -> None:
        """Stops sampling."""
        signal.setitimer(signal.ITIMER_PROF, 0)


def main() -> None:
    """Runs the program that is named on the command line."""
    import runpy

    program, report = sys.argv[1:3]
    sys.argv[:] = [program]
    sampler = Sampler(program)
    sampler.on()
    try:
        runpy.run_path(program, run_name="__main__")
    finally:
        sampler.off()
        with open(report, "w") as file:
            file.writelines(f"{line} {hits}\n" for line, hits in sorted(sampler.hits.items()))


if __name__ == "__main__":
    main()
