"""The edits of assembly: what they write, and that C answers to such tasks are edited as C."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from whet.agents.catalogue.registry import proposals
from whet.agents.models.base import Brief

SOURCE = """\
#include <stdint.h>
uint32_t hash(const uint32_t *a, int n) {
    uint32_t h = 7;
    for (int i = 0; i < n; i++) h = h * 31 + a[i];
    return h;
}
"""
LOOP = """\
\t.text
\t.globl f
f:
\txorl %eax, %eax
\t.p2align 4,,10
\t.p2align 3
.L3:
\taddl (%rdi), %eax
\tjmp .L4
.L4:
\tsubq $1, %rsi
\tjne .L3  # back
\tret
"""


def edited(source: str):
    return proposals(Brief("asm", "function", "f", source))


def test_loops_are_aligned_and_other_labels_are_not():
    found = edited(LOOP)
    assert [each.edit for each in found] == ["align-loops", "align-loops"]
    old = "\t.p2align 4,,10\n\t.p2align 3\n.L3:"
    assert [each.source for each in found] == [LOOP.replace(old, f"\t.p2align {power}\n.L3:") for power in (5, 6)]
    assert [each.edit for each in edited(found[0].source)] == ["align-loops"]  # the other size


def test_straight_code_stays():
    assert edited(LOOP.replace("jne .L3", "nop")) == []


@pytest.mark.parametrize("branch", ["b.ne\t.L3", "cbnz\tx1, .L3", "bne\ta4,a5,.L3", "tbz\tw0, 3, .L3", "b\t.L3"])
def test_other_machines_jump_too(branch):
    assert len(edited(LOOP.replace("jne .L3  # back", branch))) == 2


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
def test_the_compilers_text_keeps_its_instructions(tmp_path):
    def run(*words):
        return subprocess.run(words, cwd=tmp_path, check=True, capture_output=True, text=True, timeout=60).stdout

    (tmp_path / "hash.c").write_text(SOURCE)
    run("gcc", "-O3", "-S", "hash.c", "-o", "old.s")
    found = edited((tmp_path / "old.s").read_text())
    assert len(found) == 2
    (tmp_path / "new.s").write_text(found[1].source)
    seen = {}
    for name in ("old", "new"):
        run("gcc", "-c", f"{name}.s", "-o", f"{name}.o")
        text = run("objdump", "-d", "--no-show-raw-insn", f"{name}.o")
        seen[name] = [word for word in re.findall(r"^\s+[0-9a-f]+:\t(\w+)", text, re.MULTILINE) if "nop" not in word]
    assert [word for word in seen["new"] if word not in ("cs", "data16", "xchg")] == [
        word for word in seen["old"] if word not in ("cs", "data16", "xchg")
    ]


def test_an_answer_in_c_is_edited_as_c():
    assert {each.edit for each in edited(SOURCE.replace("hash", "f"))} >= {"unroll-pragma", "pragma"}
