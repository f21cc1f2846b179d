"""What ``whet bench self oracle`` counts: killed, excused and killable mutants, and the exploits' answers."""

from __future__ import annotations

import shutil

import pytest
from whet.benchmarks.self.oracle import Found

from whet.benchmarks.self import oracle
from whet.core.audit import Audit, MutantOutcome
from whet.core.result import TaskName
from whet.core.verdict import Reason


def mutant(id: str, killed_by: str | None, usual: bool = False) -> MutantOutcome:
    return MutantOutcome(id, "constant", 3, "", killed_by, Reason.WRONG_OUTPUT if killed_by else None, usual)


def found(*mutants: MutantOutcome, **excused: str) -> Found:
    name = TaskName("t", "python", "t.py::t")
    return Found(Audit(name, 1, (), "", len(mutants), mutants, 1.0), excused, (0.5, 0.7, 0.6))


def test_a_survivor_counts_unless_it_is_excused_and_a_killed_one_needs_no_excuse() -> None:
    one = found(
        mutant("a", "differential", usual=True), mutant("b", None), mutant("c", None), mutant("d", "build"),
        b="no input tells it apart", a="wrongly excused",
    )  # fmt: skip
    assert [each.id for each in one.killable] == ["a", "c"]
    assert one.killed == 1
    assert oracle._row("t", one).startswith("| t | 3 | 1 | 1 of 2: 50.0 %")
    lines = list(oracle._total({"t": one}))
    assert "excused 33.3% (at most 5 %), killed 50.00% (goal 99 %); exact 95 % bounds" in lines
    assert "survivor: t c, line 3, constant" in lines
    assert not any("survivor: t b" in line for line in lines)


@pytest.mark.corpus
@pytest.mark.skipif(shutil.which("bwrap") is None or shutil.which("g++") is None, reason="needs bubblewrap and g++")
def test_the_mutants_of_its_tasks_are_killed_by_the_differential_rung() -> None:
    lines = [line for line in oracle.mutants_report(mutants=12, seed=7) if line]
    assert [line for line in lines if line.startswith("survivor")] == []
    rows = [line.split(" | ")[0].removeprefix("| ") for line in lines if line.startswith("| ")]
    assert rows == ["task", *oracle.TASKS, "all"]
