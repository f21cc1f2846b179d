"""Whole programs of assembly for another machine: linked with its C library, and run on stdin in an emulator."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import whet
from whet.benchmarks import tasks
from whet.core.errors import UsageError
from whet.core.options import Options
from whet.core.result import Result, Status
from whet.core.task import Kind
from whet.evaluators.assembly.lint import lint
from whet.evaluators.targets import read_task
from whet.sandbox.toolchains.isas import ISAS
from whet.testing.scripted import ScriptedModel

TASK = Path(tasks.__file__).parent / "asm" / "programs" / "run-lengths"
BOTH = ("aarch64", "riscv64")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    for isa in BOTH:
        if lacking := ISAS[isa].lacking():
            pytest.skip(str(lacking))
    place = tmp_path / "run-lengths"
    shutil.copytree(TASK, place)
    return place


def answer(isa: str) -> str:
    return (TASK / "answers" / f"{isa}.s").read_text()


def verified(folder: Path, text: str) -> Result:
    file = folder / "answer.s"
    file.write_text(text)
    return whet.verify(str(folder), candidate=file, home=folder.parent / "home")


@pytest.mark.corpus
def test_a_right_program_passes_its_cases_and_fresh_inputs(folder: Path) -> None:
    found = verified(folder, answer("aarch64"))
    rungs = {one.name: one for one in found.rungs}
    assert (found.status, found.speedup, found.candidates.correct) == (Status.NO_IMPROVEMENT, None, 1)
    assert rungs["test"].detail == "4 cases pass"
    assert (rungs["differential"].status, "fresh inputs agree" in rungs["differential"].detail) == ("passed", True)
    assert "branches of the reference were taken (100.0%)" in rungs["differential"].detail
    assert (rungs["measure"].status, rungs["measure"].reason) == ("skipped", "unsupported_cpu")


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("old", "new", "rung", "reason", "said"),
    [
        ("cmp x0, 0\n    b.le .Ltold", "cmp x0, 1\n    b.le .Ltold", "test", "wrong_output", "on "),
        ("cset w0, eq", "mov w0, 0", "differential", "crash", "expected exit code 1, got 0"),
        ("ldrb w8, [x19], 1", "ldrsb w8, [x19], 1\n ldr x9, [x9, x8]", "test", "crash", "signal 11"),
        ("bl read", "bl reed", "build", "build_error", "reed"),
        ("bl read", "mov x8, 63\n    svc 0", "build", "forbidden_construct", "svc"),
        ("bl read", "bl syscall", "build", "forbidden_construct", "it calls syscall"),
        ("bl read", "bl system", "build", "forbidden_construct", "it calls system"),
        (".type tell", ".globl tell\n .type tell", "screen", "forbidden_construct", "only global symbol is main"),
        (".bss\n", '.section .init_array,"aw"\n', "screen", "forbidden_construct", "code and read-only data"),
        (".bss\n", '.section .data,"awx"\n', "screen", "forbidden_construct", "no code"),
    ],
)
def test_a_wrong_program_falls_at_its_rung(folder: Path, old: str, new: str, rung: str, reason: str, said: str) -> None:
    text = answer("aarch64")
    assert old in text
    found = verified(folder, text.replace(old, new, 1))
    failed = next(one for one in found.rungs if one.status == "failed")
    assert (failed.name, failed.reason) == (rung, reason), failed.detail
    assert said in failed.detail


@pytest.mark.corpus
def test_what_no_case_shows_is_shown_by_fresh_inputs(folder: Path) -> None:
    # Only bytes above those of the cases are spoilt.
    wrong = answer("aarch64").replace("cmp w8, w22", "cmp w8, 48\n    cinc w8, w8, eq\n    cmp w8, w22", 1)
    found = verified(folder, wrong)
    failed = next(one for one in found.rungs if one.status == "failed")
    assert (failed.name, failed.reason) == ("differential", "wrong_output")
    assert "stdin" in failed.detail


@pytest.mark.corpus
def test_c_is_no_translation(folder: Path) -> None:
    found = verified(folder, (TASK / "run-lengths.c").read_text())
    assert found.candidates.rejected == {"forbidden_construct": 1}


@pytest.mark.corpus
def test_a_program_is_translated_and_repaired(folder: Path) -> None:
    right = answer("riscv64")
    wrong = right.replace("li s2, 1", "li s2, 0")
    model = ScriptedModel({"coder": [f"Change: a\nKind: algorithm\n\n```asm\n{text}```\n" for text in (wrong, right)]})
    result = whet.optimize(
        str(folder / "run-lengths.s"), to="riscv64", model=model, judge_model="catalogue", candidates=1, rounds=2,
        output=folder / "out.s", home=folder.parent / "home",
    )  # fmt: skip
    assert result.candidate is not None, result.message
    assert result.candidates.rejected == {"wrong_output": 1}
    assert (folder / "out.s").read_text() == right
    first, second = ("\n".join(message.text for message in request.messages) for request in model.requests)
    assert "Translate the program in the file `run-lengths.s`" in first
    assert "call putchar@PLT" in first
    assert "wrong_output" in second
    assert "stdout, line" in second


def test_such_a_task_is_a_program_without_a_time(folder: Path) -> None:
    task = read_task(str(folder), Options())
    assert (task.kind, task.symbol, task.signature, task.untimed) == (Kind.PROGRAM, None, None, True)
    assert len(task.workload.cases) == 4


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('reference = "run-lengths.c"', "", "needs [oracle] reference"),
        ('kind = "transpile"\nsource = "run-lengths.s"', 'kind = "program"', "is to be translated"),
        ('kind = "transpile"\nsource = "run-lengths.s"', "", "needs a symbol and a [signature]"),
        ('source = "run-lengths.s"', 'source = "other.s"', "no file other.s"),
        ('cases = "cases/"', 'cases = "none/"', "no folder of cases"),
    ],
)
def test_a_file_that_does_not_fit_is_told(tmp_path: Path, old: str, new: str, said: str) -> None:
    place = tmp_path / "program"
    shutil.copytree(TASK, place)
    text = (place / "whet.toml").read_text()
    assert old in text
    (place / "whet.toml").write_text(text.replace(old, new, 1))
    with pytest.raises(UsageError) as raised:
        read_task(str(place), Options())
    assert said in str(raised.value)


def test_what_a_program_may_hold_a_routine_may_not() -> None:
    text = "\n.globl main\n.type main, @function\nmain: ret\n.size main, .-main\n.data\nkept: .quad 0\n"
    text += '.section .note.GNU-stack,"",@progbits\n'
    assert lint(text, "main", "x86_64", program=True) is None
    assert lint(text, "main", "x86_64") is not None
