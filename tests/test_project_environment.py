"""What candidates run on and may import: the project's interpreter and packages, not whet's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from whet.core.task import Kind, Task
from whet.core.verdict import Reason
from whet.evaluators.finding import Fault, Passed
from whet.evaluators.foreign_imports import foreign_imports, own_modules
from whet.evaluators.screening import screened

SLOW = "def f(xs):\n    return sorted(xs)\n"


def task(source=SLOW, **support):
    files = {f"{name}.py": text for name, text in support.items()}
    return Task("f", "python", Kind.FUNCTION, Path("/p/f.py"), source, "f", Path("/p"), support=files)


def test_what_whet_needs_and_what_that_needs_is_known():
    assert {"pydantic", "requests", "rich", "git", "numpy"} <= own_modules()
    assert not {"json", "whet", "pytest", "torch"} & own_modules()


@pytest.mark.parametrize(
    "line",
    [
        "import requests",
        "from pydantic import BaseModel",
        "import json, rich.console as c",
        "def g():\n    import yaml, requests",
    ],
)
def test_a_candidate_that_rests_on_whets_own_packages_falls_at_the_screen(line):
    found = screened(task(), f"{line}\n{SLOW}")
    assert isinstance(found, Fault)
    assert found.reason is Reason.FORBIDDEN_CONSTRUCT
    assert "which the target's project does not" in found.detail


@pytest.mark.parametrize("line", ["import heapq", "import numpy", "import whet_not_here", "from . import requests"])
def test_other_imports_are_left_to_the_build(line):
    assert isinstance(screened(task(), f"{line}\n{SLOW}"), Passed)


def test_what_the_target_or_a_file_beside_it_imports_may_be_imported():
    candidate = f"import requests\n{SLOW}"
    assert isinstance(screened(task(f"import requests.adapters\n{SLOW}"), candidate), Passed)
    assert isinstance(screened(task(near="import requests\n"), candidate), Passed)
    assert isinstance(screened(task(near="import heapq\n"), candidate), Fault)
    assert foreign_imports(candidate, ["no python (", SLOW]) == ["requests"]
