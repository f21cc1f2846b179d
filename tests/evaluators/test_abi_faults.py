"""Seeded faults in assembly routines: each is caught, for what it is and by its rung, and right routines pass."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from functools import cache

import pytest

from whet.core.verdict import Reason
from whet.evaluators.abi.calls import lacking
from whet.evaluators.finding import Fault, Passed, Skipped
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import find_interpreter
from whet.testing.asm_faults.judging import FaultBench
from whet.testing.asm_faults.table import BUILD, CALLS, SCREEN, STEPS, Row, rows

ROWS = rows()
Benches = Callable[[str], FaultBench]


@pytest.fixture(scope="module")
def bench() -> Iterator[Benches]:
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    sandbox, interpreter = open_sandbox("bubblewrap", False), find_interpreter(None)

    @cache
    def made(isa: str) -> FaultBench:
        if missing := lacking(isa):
            pytest.skip(missing.detail)
        return FaultBench(sandbox, interpreter, isa, [row for row in ROWS if row.isa == isa])

    yield made
    sandbox.close()


def named(row: Row) -> str:
    return f"{row.isa} {row.name}"


@pytest.mark.parametrize("row", [row for row in ROWS if row.reason], ids=named)
@pytest.mark.corpus(one_in=8)
def test_a_seeded_fault_is_caught_for_what_it_is(bench: Benches, row: Row) -> None:
    """By its calls, also where an earlier rung keeps it from being called."""
    found = bench(row.isa).called(row)
    assert isinstance(found, Fault | Skipped), found
    assert (found.reason, row.said in found.detail) == (row.reason, True), found.detail
    if isinstance(found, Fault):
        assert found.evidence.get("stepped", False) is row.stepped


@pytest.mark.parametrize("row", [row for row in ROWS if row.before], ids=named)
def test_what_asks_the_kernel_or_the_clock_is_never_called(bench: Benches, row: Row) -> None:
    assert row.before is not None
    rung, found = bench(row.isa).climbed(row)
    assert isinstance(found, Fault), found
    assert (rung, found.reason) == (row.before.rung, row.before.reason), found.detail
    assert row.before.said in found.detail


@pytest.mark.parametrize("row", [row for row in ROWS if not row.faulty], ids=named)
def test_a_right_routine_passes(bench: Benches, row: Row) -> None:
    rung, found = bench(row.isa).climbed(row)
    assert isinstance(found, Passed), found
    assert rung == ""
    counts = [one["instructions"] for one in found.evidence["instructions"]]
    assert len(counts) > 3
    assert min(counts) > 0


def test_the_table_holds_what_it_is_for() -> None:
    faulty = [row for row in ROWS if row.faulty]
    assert len(faulty) >= 30
    assert {row.isa for row in faulty} == {"x86_64", "aarch64", "riscv64"}
    assert {row.verdict for row in faulty} >= {
        Reason.ABI_VIOLATION, Reason.MEMORY_ERROR, Reason.WRONG_OUTPUT, Reason.TIMEOUT, Reason.FORBIDDEN_CONSTRUCT,
    }  # fmt: skip
    assert Reason.CHEATING in {row.reason for row in faulty}, "forged verdicts, which the calls tell as well"
    assert {row.rung for row in faulty} == {SCREEN, BUILD, CALLS, STEPS}
    assert len({row.name for row in ROWS}) == len(ROWS)
