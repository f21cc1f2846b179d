"""``whet bench self asm``: each fault with its rung, what is skipped, and the gain against the strongest baseline."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from whet.benchmarks.self import asm
from whet.core.errors import UsageError
from whet.core.verdict import Reason
from whet.evaluators.finding import Skipped
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.protocol import Sandbox
from whet.sandbox.toolchains.isas import ISAS
from whet.testing.asm_faults.table import rows

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with closing(open_sandbox("bubblewrap", False)) as opened:
        yield opened


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.mark.corpus
def test_each_fault_is_told_with_the_rung_that_catches_it(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asm, "ISAS", {"riscv64": ISAS["riscv64"]})
    if lacking := ISAS["riscv64"].lacking():
        pytest.skip(str(lacking))
    faults = [row for row in rows() if row.isa == "riscv64" and row.faulty]
    lines = list(asm._faults(sandbox, find_interpreter(None)))
    blank = lines.index("")
    told = [cells(line) for line in lines[2:blank]]
    assert told == [[row.isa, row.name, row.rung, str(row.verdict)] for row in faults]
    isa, seeded, caught, rungs, right, _ = cells(lines[-1])
    assert (isa, int(seeded), int(caught), right) == ("riscv64", len(faults), len(faults), "3 of 3")
    assert rungs == f"calls {len(faults) - 2}, build 2"


def test_a_machine_without_a_cross_compiler_skips_its_faults(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = Skipped(Reason.TOOL_MISSING, "gcc not found; install with: apt-get install gcc-riscv64-linux-gnu")
    monkeypatch.setattr(asm, "lacking", lambda isa: missing)
    lines = list(asm._faults(sandbox, find_interpreter(None)))
    assert len(lines) == 2 + 1 + 2 + 3
    assert all("skipped: " in line and "apt-get install" in line for line in lines[-3:])


@pytest.mark.corpus
def test_a_verdict_before_timing_has_its_calls_and_branches(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asm, "task_names", lambda: ("dot-i32",))
    *_, row, within, taken = asm._verdicts(sandbox, find_interpreter(None))
    assert re.fullmatch(r"\| dot-i32 \| \d+ ms \| \d+ ms \| 2000 \| 2 of 2 \|", row)
    assert re.fullmatch(r"medians within 200 ms: [01] of 1; the longest \d+ ms", within)
    assert taken == "tasks whose calls take 98% of the branches: 1 of 1"


@pytest.mark.corpus
def test_the_gain_of_a_best_version_is_against_the_strongest_baseline(scripted: Callable[..., None]) -> None:
    scripted(ratio=3.0)
    *_, row = asm._gains(["dot-i32"])
    name, status, headline, strongest, each = cells(row)
    assert (name, status) == ("dot-i32", "improved")
    against = dict(one.rsplit(": ", 1) for one in each.split("; "))
    assert {"the reference with gcc -O3", "the reference with gcc -O3 -march=native"} <= set(against)
    least = min(against, key=lambda one: float(against[one].removesuffix("x")))
    assert float(against[strongest].removesuffix("x")) == float(against[least].removesuffix("x"))
    assert headline.startswith(against[strongest])


def test_an_unknown_task_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="no assembly task find-bite; did you mean 'find-byte'"):
        next(asm.report(["find-bite"]))
