"""What authors of rewrites are told of where they run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from paths import TESTS

from whet.agents.evaluations import Evaluations, StoredEvaluations
from whet.core.circumstances import ModuleCost
from whet.core.options import Options
from whet.core.store import Store
from whet.core.task import Kind, Task
from whet.evaluators.circumstances import caches
from whet.evaluators.ladder import open_ladder
from whet.evaluators.targets import read_task
from whet.testing.tabled import TabledEvaluator

ANSWERS = TESTS / "answers"
TASK = Task("f", "python", Kind.FUNCTION, Path("/p/f.py"), "def f(): ...\n", "f", Path("/p"))


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("folder", "target", "sizes"),
    [("smooth", "smooth.py::smooth", (1000, 3000)), ("report", "report.cpp", (2000, 4000))],
)
def test_a_ladder_finds_what_its_candidates_run_on(folder, target, sizes):
    options = Options(workload=ANSWERS / folder / "workload.py", until="differential")
    ladder = open_ladder(read_task(str(ANSWERS / folder / target), options), options, seed=1)
    try:
        ladder.validate()
        found = ladder.circumstances()
    finally:
        ladder.close()
    assert found.processor
    assert found.interpreter.startswith("CPython 3.")
    assert [each.name for each in found.timed] == [f"size {size}" for size in sizes]
    assert all(0 < one.seconds < 60 for one in found.timed)
    assert sizes[0] < found.timed[0].bytes < found.timed[1].bytes
    if folder == "smooth":
        assert set(found.packages) == {"numpy"}
        assert found.compiler is None
    else:
        assert "g++" in str(found.compiler)


PROBLEM = """\
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.product = nn.Linear(width, width)

    def forward(self, x):
        return torch.relu(self.product(x)) * 2


def get_inputs():
    return [torch.randn(64, 256)]


def get_init_inputs():
    return [256]
"""


@pytest.mark.corpus
def test_what_a_call_of_a_module_costs_is_counted(tmp_path):
    problem = tmp_path / "problem.py"
    problem.write_text(PROBLEM)
    options = Options(until="differential")
    ladder = open_ladder(read_task(str(problem), options), options, seed=1)
    try:
        ladder.validate()
        (timed,) = ladder.circumstances().timed
    finally:
        ladder.close()
    moved = 4 * (64 * 256 + 256 * 256 + 256 + 64 * 256)
    assert timed.cost == ModuleCost(2 * 64 * 256 * 256, moved, 3 * 4 * 64 * 256, 3, "float32")
    assert timed.cost.intensity == pytest.approx(2 * 64 * 256 * 256 / moved)


def test_caches_are_read_from_the_system(tmp_path):
    for index, (level, kind, size) in enumerate(
        [("1", "Data", "48K"), ("1", "Instruction", "32K"), ("2", "Unified", "2M"), ("3", "Unified", "many")]
    ):
        (tmp_path / f"index{index}").mkdir()
        for name, text in (("level", level), ("type", kind), ("size", size)):
            (tmp_path / f"index{index}" / name).write_text(f"{text}\n")
    (tmp_path / "index9").mkdir()
    assert caches(tmp_path) == {"L1": 48 << 10, "L2": 2 << 20}
    assert caches(tmp_path / "nowhere") == {}


def test_a_run_is_told_the_same_wherever_it_goes_on(tmp_path):
    class Elsewhere(TabledEvaluator):
        def circumstances(self):
            return replace(super().circumstances(), processor="another machine")

    store = Store(tmp_path)
    try:
        first = Evaluations(store, "run", TabledEvaluator(TASK, {})).circumstances()
        assert first.processor == "a table"
        assert Evaluations(store, "run", Elsewhere(TASK, {})).circumstances() == first
        assert StoredEvaluations(store, "run", TASK, Elsewhere(TASK, {})).circumstances() == first
    finally:
        store.close()
