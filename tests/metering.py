"""What tests of metrics need: tools that a machine may lack, and a ladder for a metric."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from whet.core.options import Options
from whet.evaluators.ladder import Ladder, open_ladder
from whet.evaluators.targets import read_task

needs_bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
needs_valgrind = pytest.mark.skipif(
    shutil.which("valgrind", path="/usr/bin") is None or shutil.which("bwrap") is None,
    reason="valgrind or bubblewrap is not installed",
)
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
WORKLOAD = """\
sizes = [20]
def make_input(size, rng):
    return ([rng.randrange(1000) for _ in range(size)],)
"""


def opened(folder: Path, name: str = "target.py::f", **options: Any) -> Ladder:
    settings = Options(**options)
    made = open_ladder(read_task(f"{folder}/{name}", settings), settings, 1)
    made.validate()
    return made
