"""Seeded faults in assembly routines: each is caught, for what it is, and right routines pass."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from functools import cache

import pytest

from whet.core.task import Tolerance
from whet.core.verdict import Reason
from whet.evaluators.abi.calls import CallTests, lacking
from whet.evaluators.abi.cases import from_contract
from whet.evaluators.finding import Finding, Passed
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.toolchains.driver import Driver
from whet.sandbox.toolchains.isas import ISAS
from whet.testing.asm_faults.table import Row, reference, rows, signature
from whet.testing.native_objects import objects

ROWS = rows()
ROUTINES = sorted({row.routine for row in ROWS})
SEED = 20_261_122
EXACT = Tolerance()

Check = Callable[[Row], Finding]


@pytest.fixture(scope="module")
def check() -> Iterator[Check]:
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    sandbox, interpreter = open_sandbox("bubblewrap", False), find_interpreter(None)

    @cache
    def built(isa: str) -> tuple[dict[str, bytes], dict[str, bytes]]:
        if missing := lacking(isa):
            pytest.skip(missing.detail)
        references = objects(sandbox, interpreter, isa, {name: reference(name) for name in ROUTINES}, "c")
        texts = {row.name: row.text for row in ROWS if row.isa == isa}
        return references, objects(sandbox, interpreter, isa, texts, "s")

    @cache
    def tests(isa: str, routine: str) -> CallTests:
        contract = signature(routine)
        driver = Driver(sandbox, interpreter, ISAS[isa], contract.externs)
        cases = from_contract(contract, SEED, specials=True)
        return CallTests(driver, contract, routine, built(isa)[0][routine], cases, SEED, EXACT)

    yield lambda row: tests(row.isa, row.routine).check(built(row.isa)[1][row.name])
    sandbox.close()


@pytest.mark.parametrize("row", [row for row in ROWS if row.reason], ids=lambda row: f"{row.isa} {row.name}")
def test_a_seeded_fault_is_caught_for_what_it_is(check: Check, row: Row) -> None:
    found = check(row)
    assert not isinstance(found, Passed), found
    assert (found.reason, row.said in found.detail) == (row.reason, True), found.detail


@pytest.mark.parametrize("row", [row for row in ROWS if not row.reason], ids=lambda row: f"{row.isa} {row.name}")
def test_a_right_routine_passes(check: Check, row: Row) -> None:
    found = check(row)
    assert isinstance(found, Passed), found
    counts = [one["instructions"] for one in found.evidence["instructions"]]
    assert len(counts) > 3
    assert min(counts) > 0


def test_the_table_holds_what_it_is_for() -> None:
    faulty = [row for row in ROWS if row.reason]
    assert len(faulty) >= 30
    assert {row.isa for row in faulty} == {"x86_64", "aarch64", "riscv64"}
    assert {row.reason for row in faulty} >= {
        Reason.ABI_VIOLATION, Reason.MEMORY_ERROR, Reason.WRONG_OUTPUT, Reason.TIMEOUT, Reason.CHEATING,
    }  # fmt: skip
    assert len({row.name for row in ROWS}) == len(ROWS)
