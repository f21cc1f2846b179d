"""Every suite has its page, its line in the table, and says how far its adapter was tried."""

from __future__ import annotations

import re

import pytest
from paths import ROOT

from whet.benchmarks.suites.registry import MODULES, suite_named

DOCS = ROOT / "docs"


@pytest.mark.parametrize("name", MODULES)
def test_a_suite_is_documented_as_far_as_it_was_tried(name):
    suite = suite_named(name)
    assert suite.name == name
    assert suite.origin.source
    assert suite.origin.licence
    table = (DOCS / "benchmarks.md").read_text()
    (line,) = (line for line in table.splitlines() if line.startswith(f"| {name} | ["))
    page, status = re.search(r"\((benchmarks/[\w-]+\.md)\) \| (.+) \|$", line).groups()
    assert status == suite.status
    assert line.partition("[")[2].partition("]")[0].lower() in (DOCS / page).read_text().lower()
    assert page in (DOCS.parent / "mkdocs.yml").read_text()
