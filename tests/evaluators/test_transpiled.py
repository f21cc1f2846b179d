"""Routines for other instruction sets: judged in an emulator, and never timed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import whet
from whet.benchmarks import tasks
from whet.core.errors import UsageError
from whet.core.result import Result, Status
from whet.sandbox.toolchains.isas import ISAS
from whet.testing.scripted import ScriptedModel

FOLDER = Path(tasks.__file__).parent / "asm"
NAMES = sorted(path.parent.parent.name for path in FOLDER.glob("*/answers/riscv64.s"))
QUICK = ("dot-i32",)


def verified(name: str, isa: str, place: Path, changed: tuple[str, str] = ("", "")) -> Result:
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    if lacking := ISAS[isa].lacking():
        pytest.skip(str(lacking))
    folder = place / name
    shutil.copytree(FOLDER / name, folder)
    file = folder / "whet.toml"
    text = file.read_text()
    file.write_text(
        "\n".join(line for line in text.replace('"x86_64"', f'"{isa}"').split("\n") if "features" not in line)
    )
    answer = place / f"{isa}.s"
    answer.write_text((FOLDER / name / "answers" / f"{isa}.s").read_text().replace(*changed))
    return whet.verify(str(folder), candidate=answer, home=place / "home")


@pytest.mark.corpus
@pytest.mark.parametrize("isa", ["aarch64", "riscv64"])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else (pytest.mark.corpus,)) for name in NAMES]
)
def test_a_right_translation_is_right_and_has_no_time(name: str, isa: str, tmp_path: Path) -> None:
    found = verified(name, isa, tmp_path)
    rungs = {one.name: one for one in found.rungs}
    assert (found.status, found.speedup) == (Status.NO_IMPROVEMENT, None), found.message
    assert rungs["differential"].status == "passed"
    assert "with the ABI kept" in rungs["differential"].detail
    assert rungs["differential"].evidence["emulated"] is True
    assert rungs["differential"].evidence["instructions"], "they are counted"
    assert (rungs["measure"].status, rungs["measure"].reason) == ("skipped", "unsupported_cpu")
    assert "no score" in rungs["measure"].detail


@pytest.mark.corpus
@pytest.mark.parametrize(("isa", "old", "new"), [("aarch64", "add", "sub"), ("riscv64", "addw", "subw")])
def test_a_wrong_translation_is_told_by_its_smallest_input(isa: str, old: str, new: str, tmp_path: Path) -> None:
    found = verified("dot-i32", isa, tmp_path, (f"{old} ", f"{new} "))
    failed = next(one for one in found.rungs if one.status == "failed")
    assert (found.status, failed.name) == (Status.REJECTED, "differential")
    assert failed.reason in ("wrong_output", "memory_error", "timeout")


@pytest.mark.corpus
@pytest.mark.parametrize(("isa", "call"), [("aarch64", "b time"), ("riscv64", "tail time")])
def test_what_the_contract_does_not_name_is_not_there_to_be_called(isa: str, call: str, tmp_path: Path) -> None:
    failed = verified("dot-i32", isa, tmp_path, ("    ret\n", f"    {call}\n")).rungs[-1]
    assert (failed.name, failed.status, failed.reason) == ("build", "failed", "build_error"), failed.detail
    assert "it refers to time, which the task's externs do not name" in failed.detail


def translated(isa: str, place: Path, *answers: str) -> tuple[Result, Path]:
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    if lacking := ISAS[isa].lacking():
        pytest.skip(str(lacking))
    folder, output = place / "dot", place / "out.s"
    shutil.copytree(FOLDER / "dot-i32", folder)
    model = ScriptedModel({"coder": [f"Change: the same\nKind: algorithm\n\n```asm\n{text}```\n" for text in answers]})
    result = whet.optimize(
        str(folder / "best.s"), to=isa, model=model, judge_model="catalogue", candidates=1, rounds=3, output=output,
        home=place / "home",
    )  # fmt: skip
    return result, output


@pytest.mark.corpus
def test_a_wrong_guess_is_repaired_from_the_input_that_shows_it(tmp_path: Path) -> None:
    right = (FOLDER / "dot-i32" / "answers" / "riscv64.s").read_text()
    wrong = right.replace("addw t0, t0, t4", "subw t0, t0, t4")
    result, output = translated("riscv64", tmp_path, wrong, right)
    assert (result.status, result.speedup, result.candidates.correct) == (Status.NO_IMPROVEMENT, None, 1)
    assert result.candidates.rejected == {"wrong_output": 1}
    assert result.candidate is not None
    assert result.message.startswith("a right translation was found")
    assert output.read_text() == right


@pytest.mark.corpus
def test_what_a_compiler_would_make_of_c_is_no_translation(tmp_path: Path) -> None:
    reference = (FOLDER / "dot-i32" / "dot-i32.c").read_text()
    result, output = translated("aarch64", tmp_path, reference)
    assert (result.candidate, result.candidates.rejected) == (None, {"forbidden_construct": 1})
    assert not output.exists()


SCALAR = """\
    .text
    .globl dot_i32
    .type dot_i32, @function
dot_i32:
    xorl %eax, %eax
    testq %rdx, %rdx
    jle 2f
1:  movl -4(%rdi,%rdx,4), %ecx
    imull -4(%rsi,%rdx,4), %ecx
    addl %ecx, %eax
    decq %rdx
    jnz 1b
2:  ret
    .size dot_i32, .-dot_i32
    .section .note.GNU-stack,"",@progbits
"""


@pytest.mark.corpus
@pytest.mark.skipif(not ISAS["x86_64"].native, reason="no x86-64 machine")
def test_a_translation_to_this_machine_is_judged_here_and_not_timed(tmp_path: Path) -> None:
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    folder = tmp_path / "dot"
    shutil.copytree(FOLDER / "dot-i32", folder)
    shutil.copy(folder / "answers" / "aarch64.s", folder / "arm.s")
    answers = [SCALAR.replace("addl %ecx", "subl %ecx"), SCALAR]
    model = ScriptedModel({"coder": [f"Change: the same\nKind: algorithm\n\n```asm\n{text}```\n" for text in answers]})
    home = tmp_path / "home"
    result = whet.optimize(
        str(folder / "arm.s"), to="x86_64", model=model, judge_model="catalogue", candidates=1, rounds=2, home=home
    )
    assert result.message.startswith("a right translation was found"), result.message
    assert (result.speedup, result.candidates.rejected) == (None, {"wrong_output": 1})
    file, table = folder / "whet.toml", "[signature]"
    file.write_text(file.read_text().replace(table, f'kind = "transpile"\nsource = "arm.s"\n{table}', 1))
    (tmp_path / "answer.s").write_text(SCALAR)
    found = whet.verify(str(folder), candidate=tmp_path / "answer.s", home=home)
    rungs = {one.name: one for one in found.rungs}
    assert (found.status, found.speedup) == (Status.NO_IMPROVEMENT, None), found.message
    assert "2 of 2 branches of the reference were taken" in rungs["hazard"].detail, "told with the watched calls"
    for name in ("measure", "confirm"):
        assert (rungs[name].status, rungs[name].reason) == ("skipped", "not_asked")
        assert "of a translation it counts that it is right" in rungs[name].detail


def test_a_translation_needs_a_contract_and_a_known_isa(tmp_path: Path) -> None:
    (tmp_path / "alone.s").write_text("ret\n")
    wrong = (("alone.s", "riscv64", "whet.toml"), ("none.s", "riscv64", "no file"), ("alone.s", "mips", "mips"))
    for target, isa, said in wrong:
        with pytest.raises(UsageError, match=said):
            whet.optimize(str(tmp_path / target), to=isa, home=tmp_path / "home")
