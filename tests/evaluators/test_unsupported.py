"""What this processor or a compiler lacks: told in words, and never taken for a fault of the candidate."""

from __future__ import annotations

import platform
import shutil
from pathlib import Path
from typing import Any

import pytest

import whet
from whet.core.options import Options
from whet.core.result import Result, Status
from whet.evaluators.artifacts import Builder
from whet.evaluators.targets import read_task
from whet.evaluators.timing.measuring import refused_by_clang
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.toolchains.native import found

CPUINFO = Path("/proc/cpuinfo")
pytestmark = [
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
    pytest.mark.skipif(
        platform.machine() != "x86_64" or "fma4" in CPUINFO.read_text().split(), reason="a processor with FMA4"
    ),
]
TOML = """\
[task]
language = "asm"
target = "axpy.s"
symbol = "axpy"
[signature]
prototype = "void axpy(float a, const float *x, float *y, int64_t n)"
a = {min = 1, max = 1}
n = {role = "size", min = 0}
[oracle]
reference = "axpy.c"
[workload]
sizes = [16, 500]
"""
REFERENCE = """\
#include <stdint.h>
void axpy(float a, const float *x, float *y, int64_t n) {
    for (int64_t i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}
"""
SUM = "    vmulss (%rdi), %xmm0, %xmm2\n    vaddss %xmm1, %xmm2, %xmm2\n"
FMA4 = "    vfmaddss %xmm1, (%rdi), %xmm0, %xmm2\n"
ROUTINE = f"""\
    .text
    .globl axpy
    .type axpy, @function
axpy:
    test %rdx, %rdx
    jle 2f
1:  vmovss (%rsi), %xmm1
{SUM}    vmovss %xmm2, (%rsi)
    add $4, %rdi
    add $4, %rsi
    dec %rdx
    jnz 1b
2:  ret
    .size axpy, .-axpy
    .section .note.GNU-stack,"",@progbits
"""


def folder(tmp_path: Path, build: str = "", reference: str = REFERENCE) -> Path:
    (tmp_path / "whet.toml").write_text(TOML + (f"[build]\n{build}\n" if build else ""))
    (tmp_path / "axpy.c").write_text(reference)
    return tmp_path


def judged(task: Path, text: str, **options: Any) -> Result:
    file = task / "answer.s"
    file.write_text(text)
    return whet.verify(str(task), candidate=file, home=task / "home", **options)


@pytest.mark.corpus
def test_an_instruction_that_is_not_here_is_no_fault_of_the_answer(tmp_path: Path) -> None:
    found = judged(folder(tmp_path), ROUTINE.replace(SUM, FMA4), until="confirm")
    assert found.status is Status.NO_IMPROVEMENT
    assert found.message.startswith("neither right nor wrong: unsupported here: this machine lacks the instruction at")
    reasons = {
        rung.name: rung.reason for rung in found.rungs if rung.status == "skipped" and rung.reason != "not_asked"
    }
    assert reasons == dict.fromkeys(("differential", "hazard", "prove", "measure", "confirm"), "unsupported_cpu")
    assert all(rung.status != "failed" for rung in found.rungs)


@pytest.mark.corpus
def test_a_deliberate_stop_is_a_crash_all_the_same(tmp_path: Path) -> None:
    found = judged(folder(tmp_path), ROUTINE.replace(SUM, f"{SUM}    ud2\n"), until="differential")
    assert (found.status, found.rungs[-1].reason) == (Status.REJECTED, "crash")


@pytest.mark.corpus
def test_the_command_line_says_what_is_lacking_once(whet: Any, tmp_path: Path) -> None:
    task = folder(tmp_path)
    (task / "answer.s").write_text(ROUTINE.replace(SUM, FMA4))
    done = whet("verify", task, "--candidate", task / "answer.s")
    assert done.returncode == 3
    assert done.stdout.count("    unsupported here: this machine lacks the instruction") == 1


@pytest.mark.corpus
def test_a_reference_that_does_not_run_with_the_tasks_features_is_told(whet: Any, tmp_path: Path) -> None:
    task = folder(tmp_path, 'features = ["fma4"]')
    (task / "answer.s").write_text(ROUTINE)
    done = whet("verify", task, "--candidate", task / "answer.s")
    assert done.returncode == 5
    (line,) = done.stderr.splitlines()
    assert "does not run on this processor, which lacks an instruction that its features (fma4) allow" in line


@pytest.mark.corpus
def test_a_feature_that_only_an_answer_uses_skips_that_answer_alone(tmp_path: Path) -> None:
    plain = REFERENCE.replace("a * x[i] + y[i]", "x[i] + y[i]")  # nothing to fuse, and a is 1
    task = folder(tmp_path, 'features = ["avx", "fma4"]', plain)
    right = judged(task, ROUTINE, until="differential")
    assert all(rung.status != "failed" for rung in right.rungs), right.rungs[-1]
    absent = judged(task, ROUTINE.replace(SUM, FMA4), until="differential")
    assert [rung.reason for rung in absent.rungs if rung.name == "differential"] == ["unsupported_cpu"]


@pytest.mark.corpus(one_in=8)
def test_a_feature_that_no_compiler_knows_is_told_with_its_words(whet: Any, tmp_path: Path) -> None:
    task = folder(tmp_path, 'features = ["avx9"]')
    (task / "answer.s").write_text(ROUTINE)
    done = whet("verify", task, "--candidate", task / "answer.s")
    assert done.returncode == 5
    (line,) = done.stderr.splitlines()
    assert "-mavx9" in line


@pytest.mark.skipif(found("clang") is None, reason="clang is not installed")
def test_a_flag_that_clang_refuses_costs_its_baseline_alone(tmp_path: Path) -> None:
    task = read_task(str(folder(tmp_path, 'flags = ["-O3", "-fopt-info"]')), Options())
    sandbox = open_sandbox("bubblewrap", False)
    try:
        builder = Builder(task, sandbox, find_interpreter(None), layouts=1)
        assert "-fopt-info" in refused_by_clang(builder, ("clang",))
        assert refused_by_clang(builder, ()) == ""
    finally:
        sandbox.close()
