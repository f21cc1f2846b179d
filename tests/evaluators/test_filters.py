"""Cheap filters: what they flag, and that they only decide what is measured first."""

from __future__ import annotations

import os

# Before langgraph is imported: a state that is not plain data would come back as something else.
os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from collections import Counter
from dataclasses import replace

import pytest
from work import Work, answer, scripted, version

from whet.benchmarks.self.filters import Specimen, report
from whet.core.candidate import content_id
from whet.core.task import Kind
from whet.core.verdict import Rung, RungStatus
from whet.evaluators.filters import FILTERS, LABELLED, flagging
from whet.evaluators.hints.base import MEANINGS
from whet.evaluators.hints.registry import hints
from whet.testing.tabled import Row, TabledEvaluator

SORTED = "def f(xs):\n    return sorted(xs)\n"


def test_every_hint_is_in_one_filter_or_earns_a_label():
    assert Counter(hint for group in (*FILTERS.values(), LABELLED) for hint in group) == Counter(MEANINGS.keys())


@pytest.mark.parametrize(
    ("source", "flagged"),
    [
        ("def f(xs):\n    xs.sort()\n    return xs\n", ("memory",)),
        ("def f(xs):\n    xs[0] = 1\n    return xs\n", ("memory",)),
        ("def f(xs):\n    xs = list(xs)\n    xs.sort()\n    return xs\n", ()),
        ("def f(xs):\n    return heapq.nsmallest(len(xs), xs)\n", ("compile",)),
        ("import heapq\ndef f(xs):\n    return heapq.nsmallest(len(xs), xs)\n", ()),
        ("from heapq import *\ndef f(xs):\n    return nsmallest(len(xs), xs)\n", ()),
        ("def f(xs):\n    match xs:\n        case [x, *rest]:\n            return [x, *rest]\n", ()),
        ("import numpy as np\ndef f(xs):\n    return np.sort(np.float32(xs))\n", ("numerics",)),
        ("import time\ndef f(xs):\n    return sorted(xs) or time.time()\n", ("tricks",)),
        ("seen = {}\ndef f(xs):\n    seen[0] = y = xs\n    return y\n", ("memory",)),
    ],
)
def test_what_is_flagged(source, flagged):
    assert flagging((hint.name for hint in hints("python", source, SORTED)), Kind.FUNCTION) == flagged


def test_what_outlives_a_call_is_nothing_in_a_program():
    assert flagging(["module_state"], Kind.FUNCTION) == ("memory",)
    assert flagging(["module_state"], Kind.PROGRAM) == ()


def test_what_is_flagged_is_measured_last_and_wins_all_the_same(tmp_path):
    work = Work(tmp_path)
    flagged, plain = content_id(version(1)), content_id(version(2))

    class Screening(TabledEvaluator):
        def check(self, candidate):
            verdict = super().check(candidate)
            hint = {"name": "module_state", "line": 1, "text": ""}
            evidence = {"hints": [hint]} if candidate.id == flagged else {}
            return replace(verdict, rungs=(Rung("screen", RungStatus.PASSED, evidence=evidence), *verdict.rungs))

    rows = {version(1): Row(3.0, seconds=0.1), version(2): Row(2.0, seconds=0.9)}
    model = scripted([answer(version(1)), answer(version(2))])
    result = work.optimize(model, {}, evaluator=Screening(work.task, rows, journal=work.journal), rounds=1)
    measured = [line.split()[1] for line in work.journal_lines() if line.startswith("measure")]
    assert measured == [plain, flagged]
    assert result.candidate.id == flagged


def test_the_report_counts_what_was_planted():
    def corpus():
        for source, right in ((version("y"), False), (version("xs.sort()"), False), (version("xs.pop()"), True)):
            yield Specimen("planted", Kind.FUNCTION, "python", source, SORTED, right)
        yield Specimen("planted", Kind.FUNCTION, "python", version(3), SORTED, False)

    lines = {line.split(" | ")[0]: line.split(" | ") for line in report((corpus,), twins=0) if line.startswith("| ")}
    assert lines["| **compile**"][1:3] == ["1", "0"]
    assert lines["| **memory**"][1:3] == ["2", "1"]
    assert lines["| **memory**"][3].startswith("50.0 %")
    assert lines["| **any of them**"][4].startswith("66.7 %")
