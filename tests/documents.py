"""Whole documents of whet's schemas, to hold the manual's examples against."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from whet.core.audit import Audit, MutantOutcome, NullOutcome
from whet.core.condition import Condition
from whet.core.counter import Counter
from whet.core.evidence import Comparison, Replication
from whet.core.measurement import Speedup, WorkloadRatio
from whet.core.profile import HotFunction, HotLine, Memory, MemoryLine, Profile, ProfileReport
from whet.core.result import Cost, Counts, Result, Status, TaskName, Winner
from whet.core.verdict import Rung, RungStatus

FREE = {"by_reason", "by_rung", "prices", "rejected"}
"""Objects whose keys are data."""


def whole_documents() -> dict[str, Any]:
    """Returns one document of each schema, none of whose lists is empty and none of whose objects lacks."""
    task = TaskName("t", "python", "t.py::t")
    ratio = WorkloadRatio("1", 2.0, 1.9, 2.1)
    speedup = Speedup(2.0, 1.9, 2.1, 0.99, "time", 20, 40, (0.9, 1.1), "original", (ratio,))
    rung = Rung("build", RungStatus.PASSED)
    winner = Winner("1f", None, "file", (), "", "")
    result = Result("r", task, Status.IMPROVED, speedup, winner, (rung,), Counts(), Cost(), 1.0)
    result = replace(result, conditions=(Condition("hashable", "xs", "xs can be hashed", "t([])", "..."),))
    row = Comparison("verdict", "improved", "improved", True)
    memory = Memory((MemoryLine(1, "", 1, 1, None),), 1, "tracemalloc")
    function = HotFunction("t", "t.py", 1, 1.0, None)
    profile = Profile((HotLine(1, 1.0, ""),), "py-spy", "", (function,), "samples", memory)
    counter = Counter("cpu-seconds", 0.1, "s", "rusage", False, True, "")
    mutant = MutantOutcome("1f", "name", 1, "", None, None, False)
    made = (
        result,
        Replication("r", "1f", "", (row,), (row,), result),
        ProfileReport(task, profile, (counter,), {"backend": "docker", "version": "1"}),
        Audit(task, 1, (NullOutcome("zeros", 1, 1),), "", 1, (mutant,), 1.0),
    )
    documents = [json.loads(json.dumps(each.to_json())) for each in made]
    return {document["schema"]: document for document in documents}


def assert_alike(shown, real, where: str) -> None:
    """Asserts that an example has the keys that the real document has; ``...`` and ``{}`` stand for any."""
    if isinstance(shown, dict) and isinstance(real, dict):
        if not shown or "..." in shown:
            return
        if set(shown) == {"schema"}:
            assert shown["schema"] == real["schema"], where
            return
        assert set(shown) == set(real), where
        for key in set(shown) - FREE:
            assert_alike(shown[key], real[key], f"{where}: {key}")
    elif isinstance(shown, list) and isinstance(real, list) and shown and isinstance(shown[0], dict):
        for element in shown:
            kinds = [each for each in real if set(each) == set(element)]
            assert kinds, f"{where}: no element of the real document has the keys {sorted(element)}"
            assert_alike(element, kinds[0], where)
