"""What a program wrote is what it had written when it ended."""

from __future__ import annotations

import shutil
from contextlib import closing

import pytest

from whet.sandbox.bubblewrap import Bubblewrap
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.protocol import Job

RUNS = 50
LEFT_BEHIND = "(while kill -0 $$ 2>/dev/null; do :; done; echo late) & echo soon"
"""Ends at once; what it leaves running writes when nothing has its number any more."""


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_what_waits_for_a_program_s_end_writes_nothing_for_it() -> None:
    written = set()
    with closing(Bubblewrap()) as sandbox, closing(sandbox.open(Job("programs", find_interpreter()))) as session:
        for _ in range(RUNS):
            session.ask("prepare", ["/bin/sh", "-c", LEFT_BEHIND], b"", seconds=20.0)
            session.ask("go", seconds=20.0)
            (_, stdout, _), _ = session.ask("output", seconds=20.0)
            written.add(stdout)
    assert written == {b"soon\n"}
