"""The plugin of pytest that fails a test of tier 1 whose verdict a real clock decides; see `guard`."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Set
from pathlib import Path

import pytest
from guard import MARKS

ALLOWED = frozenset({"timed", "smoke", "exhaustive", "reads_clock"})
"""Markers of tests that may read it. Those of a corpus may too, but where the slice of a commit has them."""
MEND = (
    "{test} is of tier 1 and had a real clock decide ({calls}). Take figures from the fixture `scripted`; where only "
    "a real clock shows it, mark the test `timed`, and where no verdict follows, `reads_clock` with the reason"
)


def may_read(marks: Set[str]) -> bool:
    """Tells whether a test may read a real clock, by the names of its marks."""
    return bool(marks & ALLOWED) or ("corpus" in marks and "slice" not in marks)


class Tiers:
    """Watches each test."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="whet-guard-")
        self._path = Path(self._folder.name, "calls")

    def pytest_runtest_setup(self, item) -> None:
        self._path.unlink(missing_ok=True)
        if item.config.getoption("--record") or may_read({mark.name for mark in item.iter_markers()}):
            os.environ.pop(MARKS, None)
        else:
            os.environ[MARKS] = str(self._path)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item):
        report = yield
        if report.when != "teardown" and (told := self._told(item)):
            report.longrepr = told if report.passed else f"{report.longreprtext}\n\n{told}"
            report.outcome = "failed"
        return report

    def _told(self, item) -> str:
        """Returns what is said against a test; empty for nothing."""
        if not os.environ.get(MARKS) or not self._path.exists():
            return ""
        calls = sorted(set(self._path.read_text().split()))
        return MEND.format(test=item.nodeid, calls=", ".join(calls))

    def pytest_unconfigure(self) -> None:
        os.environ.pop(MARKS, None)
        self._folder.cleanup()
