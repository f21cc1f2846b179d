"""The engines' process as it is seen from outside: it loads them as soon as it is started, and then takes one job."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

from whet.core.about import ROOT
from whet.evaluators.prove.worker import LOADING_SECONDS

NEEDED = ("angr", "claripy", "z3", "capstone")
SECONDS = 20.0
"""Wall seconds of the engines for all cases of a candidate. More reach larger sizes, and a candidate that cannot be
decided takes as much longer; with fewer the proof ends at smaller sizes."""
MEMORY = 6 << 30
"""Of the engines' process, in bytes of address space."""


def available() -> bool:
    """Returns whether the engines are installed."""
    return all(importlib.util.find_spec(name) is not None for name in NEEDED)


class Engines:
    """A process that loads the engines, which takes them a second and more: what is started early is ready when asked.

    Args:
        seconds: wall time for the job.
        memory: bytes of address space that it may take.
    """

    def __init__(self, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self.seconds = seconds
        self._home = tempfile.TemporaryDirectory(prefix="whet-prove-")
        home = self._home.name
        # Nothing of this environment, such as a key, is the engines' business.
        surroundings = {
            "PATH": os.environ.get("PATH", os.defpath), "HOME": home, "TMPDIR": home,
            "PYTHONPATH": ROOT, "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip
        self._child = subprocess.Popen(
            [sys.executable, "-m", "whet.evaluators.prove.worker", str(memory), str(int(seconds))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=home, env=surroundings,
            start_new_session=True,
        )  # fmt: skip

    def answers(self, job: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Yields what they say of a job, as far as it comes in time; they take no other one."""
        try:
            said, _ = self._child.communicate(json.dumps(job).encode(), timeout=self.seconds + LOADING_SECONDS)
        except subprocess.TimeoutExpired:
            self._child.kill()
            said, _ = self._child.communicate()
        for line in said.decode(errors="replace").splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                return  # a line that the end of the process cut off

    def stop(self) -> None:
        """Ends the process, in the midst of an answer too, which then ends there."""
        self._child.kill()

    def close(self) -> None:
        """Ends the process, whether or not it was asked anything, and removes its files."""
        with self._child:
            self.stop()
        self._home.cleanup()
