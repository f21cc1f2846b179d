"""Which branches of a reference the calls of a routine take: counted by gcov, and told where they are too few."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from whet.benchmarks.self.asm import TASKS, task_names
from whet.core.options import Options
from whet.evaluators.artifacts import Builder
from whet.evaluators.assembly.coverage import GOAL, Coverage, read_report
from whet.evaluators.assembly.routines import Routines
from whet.evaluators.finding import Passed
from whet.evaluators.inputs.source import InputSource
from whet.evaluators.oracle import Oracle
from whet.evaluators.targets import read_task
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.protocol import Sandbox
from whet.sandbox.toolchains.isas import ISAS
from whet.testing.asm_faults.judging import SEED

QUICK = ("utf8-valid", "find-text")
RARE = """\
#include <stdint.h>

int32_t sum(const int32_t *a, int64_t n) {
    uint32_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        if (a[i] == 123456789) sum += 1;
        else sum += (uint32_t)a[i];
    }
    return (int32_t)sum;
}
"""
TOML = """\
[task]
name = "sum"
language = "asm"
kind = "transpile"
source = "sum.s"
target = "sum.riscv64.s"
symbol = "sum"
isa = "riscv64"
[signature]
prototype = "int32_t sum(const int32_t *a, int64_t n)"
a = {length = "n"}
n = {role = "size", min = 0}
[oracle]
reference = "sum.c"
[workload]
sizes = [16, 64]
"""
ANSWER = """\
    .text
    .globl sum
    .type sum, @function
sum:
    li t0, 0
    li t3, 123456789
    slli a1, a1, 2
    add a1, a0, a1
1:  beq a0, a1, 3f
    lw t1, 0(a0)
    addi a0, a0, 4
    bne t1, t3, 2f
    li t1, 1
2:  addw t0, t0, t1
    j 1b
3:  mv a0, t0
    ret
    .size sum, .-sum
    .section .note.GNU-stack,"",@progbits
"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    with closing(open_sandbox("auto", False)) as opened:
        yield opened


def routines(folder: Path, sandbox: Sandbox) -> Iterator[Routines]:
    task = read_task(str(folder), Options())
    builder = Builder(task, sandbox, find_interpreter(None), layouts=1)
    with (
        closing(InputSource(task, sandbox, builder.interpreter)) as source,
        closing(Oracle(task, source, builder)) as oracle,
    ):
        yield Routines(builder, source, oracle)


@pytest.mark.corpus
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else (pytest.mark.corpus,)) for name in task_names()]
)
def test_the_calls_of_our_own_tasks_take_all_branches(name: str, sandbox: Sandbox) -> None:
    for judge in routines(TASKS / name, sandbox):
        found = judge.coverage(SEED)
        assert isinstance(found, Coverage)
        assert found.branches > 0
        assert found.share >= GOAL, found


@pytest.mark.corpus
def test_branches_that_no_call_takes_are_told_with_a_right_translation(tmp_path: Path, sandbox: Sandbox) -> None:
    if lacking := ISAS["riscv64"].lacking():
        pytest.skip(str(lacking))
    for name, text in {"sum.c": RARE, "whet.toml": TOML, "sum.s": "sum: ret\n"}.items():
        (tmp_path / name).write_text(text)
    for judge in routines(tmp_path, sandbox):
        found = judge.check(ANSWER, SEED)
        assert isinstance(found, Passed), found
        assert "only 3 of 4 branches of the reference were taken (75.0%), less than 98%" in found.detail
        assert "in line 6" in found.detail
        assert found.evidence["coverage"] == {"branches": 4, "taken": 3, "missed_lines": [6]}


def test_a_report_counts_what_the_text_has() -> None:
    def branch(count: int, throw: bool = False) -> dict[str, object]:
        return {"count": count, "throw": throw, "fallthrough": False}

    lines = [
        {"line_number": 4, "branches": [branch(3), branch(0)]},
        {"line_number": 5, "branches": [branch(0, throw=True), branch(7)]},
        {"line_number": 6, "branches": []},
    ]
    header = {"file": "/usr/include/other.h", "lines": [{"line_number": 1, "branches": [branch(0)]}]}
    report = json.dumps({"files": [header, {"file": "sum.c", "lines": lines}]}).encode()
    found = read_report(report, "sum.c")
    assert (found.branches, found.taken, found.missed) == (3, 2, (4,))
    assert not found.enough
    with pytest.raises(ValueError, match="nothing of other"):
        read_report(report, "other.c")


def test_a_text_without_branches_has_nothing_left_out() -> None:
    assert str(Coverage(0, 0)) == "the reference has no branches"
    assert Coverage(0, 0).enough
