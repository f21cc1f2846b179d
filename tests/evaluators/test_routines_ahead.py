"""What the checks of a native function need is made beside other rungs: nothing of it shows but the time."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from whet.core.errors import BaselineError
from whet.core.options import Options
from whet.core.signature import Signature
from whet.evaluators.artifacts import Builder
from whet.evaluators.assembly.routines import ProofBeside, Routines
from whet.evaluators.finding import Finding, Passed, Skipped
from whet.evaluators.inputs.source import InputSource
from whet.evaluators.oracle import Oracle
from whet.evaluators.prove.engines import Engines, available
from whet.evaluators.prove.proof import ProofAnswer
from whet.evaluators.prove.prove import prove
from whet.evaluators.signature import SignatureTable, read_signature
from whet.evaluators.targets import read_task
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import find_interpreter
from whet.testing.proofs.corpus import compiled

pytestmark = [
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed"),
]
SEED = 11
SUM = """\
#include <stdint.h>
int64_t sum(const int64_t *numbers, int64_t n)
{
    uint64_t total = 0;
    for (int64_t i = 0; i < n; i++)
        total += (uint64_t)numbers[i];
    return (int64_t)total;
}
"""
BEYOND = SUM.replace("i < n", "i <= n")
"""Reads what nobody gave it, after each buffer."""


def routines(folder: Path, text: str) -> Iterator[Routines]:
    (folder / "sum.c").write_text(text)
    task = read_task(f"{folder}/sum.c::sum", Options())
    with closing(open_sandbox("auto", False)) as sandbox:
        builder = Builder(task, sandbox, find_interpreter(None), layouts=1)
        with (
            closing(InputSource(task, sandbox, builder.interpreter)) as source,
            closing(Oracle(task, source, builder)) as oracle,
            closing(Routines(builder, source, oracle)) as judge,
        ):
            yield judge


def test_calls_that_were_made_ready_are_those_of_the_check(tmp_path: Path) -> None:
    found: list[Finding] = []
    for ahead in (False, True):
        for judge in routines(tmp_path, SUM):
            if ahead:
                judge.deal_ahead(SEED)
            found.append(judge.check(SUM, SEED))
    assert isinstance(found[0], Passed), found[0]
    assert found[0] == found[1]


def test_a_reference_that_fails_while_calls_are_made_ready_is_told_by_the_check(tmp_path: Path) -> None:
    for judge in routines(tmp_path, BEYOND):
        judge.deal_ahead(SEED)
        with pytest.raises(BaselineError, match="reference"):
            judge.check(BEYOND, SEED)


@pytest.mark.skipif(not available(), reason="the extra `prove` (angr, z3, triton-library) is not installed")
def test_a_proof_that_nobody_waits_for_is_ended() -> None:
    table = SignatureTable.model_validate({"prototype": "int32_t f(int32_t x)"})
    signature: Signature = read_signature(table, "f", "here")
    endless, right = compiled("1: jmp 1b", "x86_64"), compiled("int32_t f(int32_t x) { return x; }", "x86_64")

    def look(engines: Engines) -> Finding:
        found = prove(right, endless, signature, engines=engines)
        assert not isinstance(found, Skipped)
        assert found.answer is ProofAnswer.INCONCLUSIVE
        return Passed(found.reason)

    beside = ProofBeside(look)
    beside.close()
    assert isinstance(ended := beside.found(), Passed)
    assert "ended before it had an answer" in ended.detail
