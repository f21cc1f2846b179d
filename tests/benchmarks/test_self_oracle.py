"""The campaigns ``mutants`` and ``oracle``: killed, excused and killable mutants, and right programs."""

from __future__ import annotations

import shutil

import pytest

from whet.benchmarks.self.campaigns import oracle
from whet.benchmarks.self.campaigns.campaign import ItemResult, Record, Status
from whet.benchmarks.self.campaigns.mutants import STATEFUL, TASKS, Mutants, MutationResult
from whet.benchmarks.self.campaigns.oracle import OracleErrors
from whet.core.audit import Audit, MutantOutcome
from whet.core.result import TaskName
from whet.core.verdict import Reason


def mutant(id: str, killed_by: str | None, usual: bool = False) -> MutantOutcome:
    return MutantOutcome(id, "constant", 3, "", killed_by, Reason.WRONG_OUTPUT if killed_by else None, usual)


def found(*mutants: MutantOutcome, **excused: str) -> MutationResult:
    name = TaskName("t", "python", "t.py::t")
    return MutationResult(Audit(name, 1, (), "", len(mutants), mutants, 1.0), excused)


def kept(id: str, finding: ItemResult) -> Record:
    return Record(id, "", "", 1.0, finding.status, finding.line, finding.facts)


def test_a_survivor_counts_unless_it_is_excused_and_a_killed_one_needs_no_excuse() -> None:
    one = found(
        mutant("a", "differential", usual=True), mutant("b", None), mutant("c", None), mutant("d", "build"),
        b="no input tells it apart", a="wrongly excused",
    )  # fmt: skip
    assert [each.id for each in one.killable] == ["a", "c"]
    assert one.finding.status is Status.WRONG
    lines = list(Mutants().table([kept("t", one.finding)]))
    assert lines[2].startswith("| t | 3 | 1 | 1 of 2: 50.0 %")
    assert lines[3].startswith("| all | 3 | 1 | 1 of 2: 50.0 %")
    assert "excused 33.3% (at most 5 %), killed 50.00% (goal 99 %); exact 95 % bounds" in lines
    assert "survivor: t c, line 3, constant" in lines
    assert not any("survivor: t b" in line for line in lines)
    assert found(mutant("a", "differential"), mutant("b", None), b="no input tells it apart").finding.status == "right"


def test_right_programs_that_are_rejected_are_told_with_their_rate() -> None:
    well = ItemResult(Status.RIGHT, "", {"tried": 4, "rejected": [], "seconds": [1.0, 2.0, 9.0]})
    ill = ItemResult(Status.WRONG, "", {"tried": 4, "rejected": ["twin 1: differential wrong_output"], "seconds": []})
    lines = list(OracleErrors().table([kept("a", well), kept("b", ill)]))
    assert lines[2:4] == ["| a | 4 | 0 | 2.00 |", "| b | 4 | 1 |  |"]
    assert lines[5].startswith("right programs rejected: 1 of 8: 12.5 %")
    assert lines[6] == "rejected: b: twin 1: differential wrong_output"


NEEDED = pytest.mark.skipif(
    shutil.which("bwrap") is None or shutil.which("g++") is None, reason="needs bubblewrap and g++"
)


@pytest.mark.corpus
@NEEDED
def test_the_best_version_and_a_twin_of_a_task_are_accepted() -> None:
    one = oracle.judged("dedup-events", 7, twins=1)
    assert one.status is Status.RIGHT, one.line
    assert one.facts["tried"] == len(one.facts["seconds"]) == 2


@pytest.mark.corpus
@NEEDED
def test_the_mutants_of_its_tasks_are_killed_by_the_differential_rung() -> None:
    campaign = Mutants(seed=7, most=12)
    assert [item.id for item in campaign.asked] == [*TASKS, *STATEFUL]
    with campaign.opened() as measure:
        assert [found.line for found in map(measure, campaign.asked) if found.status is not Status.RIGHT] == []
