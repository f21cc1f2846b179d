"""The rung of proof in the ladder: what no call shows falls there, and the Coder is told the input and the block."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import whet
from whet.core.result import Result
from whet.core.verdict import Rung
from whet.evaluators.prove.engines import available
from whet.sandbox.toolchains.isas import ISAS
from whet.testing.scripted import ScriptedModel

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
    pytest.mark.skipif(not available(), reason="the extra `prove` (angr, z3, triton-library) is not installed"),
]
TOML = """\
[task]
name = "first"
language = "asm"
target = "first.s"
symbol = "first"
isa = "x86_64"
[signature]
prototype = "int32_t first(const int32_t *a, int64_t n)"
a = {length = "n"}
n = {role = "size", min = 1, max = 3}
[oracle]
reference = "first.c"
[workload]
sizes = [1, 3]
"""
REFERENCE = """\
#include <stdint.h>
int32_t first(const int32_t *a, int64_t n) { return (int32_t)((uint32_t)a[0] + (uint32_t)n); }
"""
FRAME = """\
    .text
    .globl first
    .type first, {sign}function
first:
{body}
    ret
    .size first, .-first
    .section .note.GNU-stack,"",{sign}progbits
"""
RIGHT = FRAME.format(sign="@", body="    movl (%rdi), %eax\n    addl %esi, %eax")
WRONG = FRAME.format(
    sign="@", body="    movl (%rdi), %eax\n    cmpl $0x1badcafe, %eax\n    jne 1f\n    incl %eax\n1:  addl %esi, %eax"
)
"""At one input of 2^32."""
ARM = FRAME.format(sign="%", body="    ldr w2, [x0]\n    add w0, w2, w1")
WRONG_ARM = ARM.replace(
    "    add w0", "    movz w3, 0xcafe\n    movk w3, 0x1bad, lsl 16\n    cmp w2, w3\n    cinc w2, w2, eq\n    add w0"
)
INPUT = f"a=[{0x1BADCAFE}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "first"
    place.mkdir()
    for name, text in {"whet.toml": TOML, "first.c": REFERENCE, "first.s": RIGHT}.items():
        (place / name).write_text(text)
    return place


def proof_of(result: Result) -> Rung:
    return next(rung for rung in result.rungs if rung.name == "prove")


def verified(folder: Path, text: str) -> Result:
    answer = folder.parent / "answer.s"
    answer.write_text(text)
    return whet.verify(str(folder), candidate=answer, home=folder.parent / "home", until="prove")


def test_what_the_calls_cannot_show_is_a_counterexample(folder: Path) -> None:
    rung = proof_of(verified(folder, WRONG))
    assert (rung.status, rung.reason) == ("failed", "counterexample")
    assert INPUT in rung.detail
    assert "in the block at 0x" in rung.detail


def test_a_right_answer_is_proved_for_every_size_of_its_contract(folder: Path) -> None:
    swapped = FRAME.format(sign="@", body="    leal (%rsi), %eax\n    addl (%rdi), %eax")
    rung = proof_of(verified(folder, swapped))
    assert rung.status == "passed", rung.detail
    assert rung.evidence["label"] == "proved"
    assert rung.evidence["engines"] == ["angr", "triton"]


def test_a_translation_is_mended_from_the_provers_input_and_block_and_then_proved(folder: Path) -> None:
    if lacking := ISAS["aarch64"].lacking():
        pytest.skip(str(lacking))
    answers = [f"Change: a\nKind: algorithm\n\n```asm\n{text}```\n" for text in (WRONG_ARM, ARM)]
    model = ScriptedModel({"coder": answers})
    result = whet.optimize(
        str(folder / "first.s"), to="aarch64", model=model, judge_model="catalogue", candidates=1, rounds=2,
        home=folder.parent / "home",
    )  # fmt: skip
    assert result.candidates.rejected == {"counterexample": 1}
    told = model.requests[-1].messages[-1].text
    assert INPUT in told, "the concrete input"
    assert "in the block at 0x" in told
    assert "cmp w2, w3" in told or "add w0, w2, w1" in told
    assert result.message.startswith("a right translation was found")
    assert proof_of(result).status == "passed", proof_of(result).detail


def test_what_no_engine_follows_is_skipped_and_says_so(folder: Path) -> None:
    if lacking := ISAS["riscv64"].lacking():
        pytest.skip(str(lacking))
    text = (folder / "whet.toml").read_text()
    (folder / "whet.toml").write_text(text.replace('"x86_64"', '"riscv64"'))
    (folder / "first.s").unlink()
    rung = proof_of(verified(folder, FRAME.format(sign="@", body="    lw a2, 0(a0)\n    addw a0, a2, a1")))
    assert (rung.status, rung.reason) == ("skipped", "tool_missing")
    assert "no engine follows riscv64" in rung.detail
