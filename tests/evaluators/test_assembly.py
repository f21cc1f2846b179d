"""Assembly routines as targets: what their task says, and what is caught of wrong ones before anything is timed."""

from __future__ import annotations

import re
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import whet
from whet.agents.coder import coder_request
from whet.agents.situation import Situation
from whet.core.candidate import Candidate
from whet.core.circumstances import Circumstances
from whet.core.errors import UsageError
from whet.core.options import Options
from whet.core.profile import Profile
from whet.core.result import Result
from whet.core.task import Task
from whet.evaluators.artifacts import Builder
from whet.evaluators.assembly import mca
from whet.evaluators.assembly.mca import loops
from whet.evaluators.inputs.source import AT_ONCE, InputSource
from whet.evaluators.profilers import perf
from whet.evaluators.targets import read_task
from whet.sandbox.backends import open_sandbox
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.toolchains import native
from whet.sandbox.toolchains.caller import caller_text

TOML = """\
[task]
name = "dot-i32"
language = "asm"
target = "dot.s"
symbol = "dot"
isa = "x86_64"
[signature]
prototype = "int32_t dot(const int32_t *a, const int32_t *b, int64_t n)"
a = {role = "in", length = "n", align = 4, may_alias = ["b"]}
n = {role = "size", min = 0}
externs = []
[oracle]
reference = "dot.c"
tolerance = "exact"
[workload]
sizes = [16, 1024, 1048576]
[build]
flags = ["-O3"]
features = ["avx2"]
[limits]
seconds = 10
memory = "2GiB"
processes = 32
output = "64MiB"
"""
REFERENCE = """\
#include <stdint.h>
int32_t dot(const int32_t *a, const int32_t *b, int64_t n) {
    uint32_t sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (uint32_t)a[i] * (uint32_t)b[i];
    return (int32_t)sum;
}
"""
ROUTINE = """\
    .text
    .p2align 4
    .globl dot
    .type dot, @function
dot:
    xorl %eax, %eax
    testq %rdx, %rdx
    jle 2f
1:
    movl -4(%rdi,%rdx,4), %ecx
    imull -4(%rsi,%rdx,4), %ecx
    addl %ecx, %eax
    decq %rdx
    jnz 1b
2:
    ret
    .size dot, .-dot
    .section .note.GNU-stack,"",@progbits
"""
needs_sandbox = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "dot"
    place.mkdir()
    (place / "whet.toml").write_text(TOML)
    (place / "dot.c").write_text(REFERENCE)
    return place


def verified(folder: Path, source: str, name: str = "answer.s", **options: Any) -> Result:
    file = folder.parent / name
    file.write_text(source)
    return whet.verify(str(folder), candidate=file, home=folder.parent / "home", **{"until": "prove", **options})


def fallen(result: Result) -> tuple[str, str, str]:
    return next(
        ((one.name, str(one.reason), one.detail) for one in result.rungs if one.status == "failed"), ("", "", "")
    )


def read(folder: Path) -> Task:
    return read_task(str(folder), Options())


@needs_sandbox
@pytest.mark.corpus(one_in=8)
def test_many_inputs_are_drawn_in_portions(folder: Path) -> None:
    (folder / "dot.s").write_text(ROUTINE)
    task, interpreter = read(folder), find_interpreter(None)
    with (
        closing(open_sandbox("bubblewrap", False)) as sandbox,
        closing(InputSource(task, sandbox, interpreter)) as source,
    ):
        seeds = range(2 * AT_ONCE + 3)
        assert source.draw(16, seeds) == [source.draw(16, [seed])[0] for seed in seeds]


@needs_sandbox
def test_the_text_of_a_routine_that_nobody_wrote_is_a_compilers(folder: Path) -> None:
    task = read(folder)
    assert "vpmulld" in task.source, "the features of the task are used"
    assert task.original == (REFERENCE, "c")
    assert not task.standing
    (folder / "dot.s").write_text(ROUTINE)
    task = read(folder)
    assert (task.source, task.standing) == (ROUTINE, True)


@needs_sandbox
def test_baselines_are_both_compilers_and_a_routine_that_somebody_wrote(folder: Path) -> None:
    (folder / "dot.s").write_text(ROUTINE)
    found = native.variants(read(folder), ROUTINE)
    plain: set[tuple[str, ...]] = {(), ("-march=native",)}
    assert {one for one in found if not native.WORDS & set(one)} == plain
    assert found[0] == ("-march=native",), "what is strongest as a rule comes first: a search rests on it"
    assert (native.STANDING,) in found
    if native.found("clang"):
        assert {(native.BY_CLANG, *flags) for flags in plain} < set(found)
    assert native.variants(read(folder), REFERENCE) == found


@pytest.mark.corpus
@needs_sandbox
def test_right_answers_in_assembly_and_in_c_pass(folder: Path) -> None:
    assert fallen(verified(folder, ROUTINE)) == ("", "", "")
    assert fallen(verified(folder, REFERENCE.replace("sum = 0;", "sum = 0u;"), "answer.c")) == ("", "", "")


@needs_sandbox
@pytest.mark.parametrize(
    ("old", "new", "rung", "reason", "said"),
    [
        ("imull", "imulll", "build", "build_error", "dot.s:11"),
        ("ret\n", "jmp memcpy@PLT\n", "build", "build_error", "memcpy, which the task's externs do not name"),
        ("ret\n", "jmp clock_gettime@PLT\n", "build", "build_error", "clock_gettime, which"),
        ("xorl %eax, %eax", "xorl %eax, %eax; vpxord %zmm0, %zmm0, %zmm0", "build", "build_error", "vpxord"),
        ("xorl %eax, %eax", "movl $there, %eax; xorl %eax, %eax", "build", "build_error", "recompile with -fPIC"),
        ("xorl %eax, %eax", "rdtsc; xorl %eax, %eax", "build", "forbidden_construct", "rdtsc at offset"),
        ('.section .note.GNU-stack,"",@progbits', "", "screen", "forbidden_construct", "GNU-stack"),
        ("addl %ecx", "subl %ecx", "differential", "wrong_output", "expected"),
    ],
)
@pytest.mark.corpus(one_in=8)
def test_what_is_wrong_falls_where_it_should(
    folder: Path, old: str, new: str, rung: str, reason: str, said: str
) -> None:
    there = '\n.section .rodata\nthere: .long 1\n.section .note.GNU-stack,"",@progbits\n' if "there" in new else ""
    found = fallen(verified(folder, ROUTINE.replace(old, new, 1) + there))
    assert found[:2] == (rung, reason), found
    assert said in found[2]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('reference = "dot.c"', "", "needs [oracle] reference"),
        ('reference = "dot.c"', 'reference = "dot.py"', "no C or C++ file"),
        ('reference = "dot.c"', 'reference = "none.c"', "none.c"),
        ('symbol = "dot"\n', "", "needs a symbol and a [signature]"),
        ('isa = "x86_64"', 'isa = "sparc"', "isa"),
        ('features = ["avx2"]', 'features = ["-march=native"]', "no feature of a processor"),
        ('n = {role = "size", min = 0}', 'm = {role = "size"}', "no argument m"),
    ],
)
def test_what_a_task_lacks_is_one_line(folder: Path, old: str, new: str, said: str) -> None:
    (folder / "whet.toml").write_text(TOML.replace(old, new))
    with pytest.raises(UsageError) as caught:
        read(folder)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@needs_sandbox
def test_the_caller_hands_over_what_the_contract_names(folder: Path) -> None:
    task = read(folder)
    assert task.signature is not None
    text = caller_text(task.signature, "dot")
    assert 'int32_t whet_function(const void *, const void *, int64_t) __asm__("dot");' in text
    assert text.count("memcpy(&a") == 3


@needs_sandbox
@pytest.mark.skipif(shutil.which(mca.TOOL) is None, reason="llvm-mca is not installed")
def test_the_coder_begins_with_the_compilers_output_and_what_llvm_mca_says_of_its_loops(folder: Path) -> None:
    with closing(open_sandbox("bubblewrap", False)) as sandbox:
        said = mca.advice(sandbox, find_interpreter(None), ROUTINE)
    assert re.match(r"lines 9 to 14: [\d.]+ cycles a round, [\d.]+ instructions a cycle", said)
    task = read(folder)
    place = Circumstances("a processor", {}, "CPython 3.11", {}, "gcc 12", ())
    profile = Profile((), "perf", "", model=said)
    facts = Situation(task, "time", 1, place, 1, 2, Candidate(task.source), profile, None)
    shown = "\n".join(message.text for message in coder_request(facts).messages)
    assert "vpmulld" in shown, "the compiler's own output"
    assert "What llvm-mca makes of its innermost loops (a model of the processor, without caches)" in shown
    assert said in shown


def test_loops_are_found_from_their_jumps() -> None:
    found = list(loops(ROUTINE))
    assert [(one.first, one.last) for one in found] == [(9, 14)]
    assert found[0].text.split("\n")[0].startswith("movl")
    nested = "a:\n nop\nb:\n inc %eax\n jnz b\n jmp a\n"
    assert [(one.first, one.last) for one in loops(nested)] == [(3, 5)]
    assert list(loops("ret\n")) == []


@pytest.mark.corpus
@needs_sandbox
@pytest.mark.parametrize("language", ["asm", "c"])
def test_more_arguments_than_can_be_passed_are_told_in_a_line(whet: Any, tmp_path: Path, language: str) -> None:
    many = ", ".join(f"int64_t a{number}" for number in range(29))
    text = f"#include <stdint.h>\nint64_t f({many}, int64_t n) {{ return a0 + n; }}\n"
    (tmp_path / "f.c").write_text(text)
    (tmp_path / "answer.c").write_text(text.replace("a0 + n", "n + a0"))
    reference = '[oracle]\nreference = "f.c"\n' if language == "asm" else ""
    (tmp_path / "whet.toml").write_text(
        f'[task]\nlanguage = "{language}"\ntarget = "{"f.s" if language == "asm" else "f.c"}"\nsymbol = "f"\n'
        f'[signature]\nprototype = "int64_t f({many}, int64_t n)"\nn = {{role = "size"}}\n{reference}'
        "[workload]\nsizes = [1]\n"
    )
    done = whet("verify", tmp_path, "--candidate", tmp_path / "answer.c")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.endswith("f takes 30 arguments; 24 of them would lie on the stack, and at most 16 can be passed there")


@pytest.mark.corpus
@needs_sandbox
@pytest.mark.skipif(shutil.which(perf.PATH) is None, reason="perf is not installed")
def test_hot_lines_of_a_short_routine_are_found_by_calling_it_again_and_again(folder: Path) -> None:
    (folder / "dot.s").write_text(ROUTINE)
    task, interpreter = read(folder), find_interpreter(None)
    with closing(open_sandbox("bubblewrap", False)) as sandbox:
        with closing(InputSource(task, sandbox, interpreter)) as source:
            inputs = source.draw(1024, [1, 2])
        found = perf.profile(Builder(task, sandbox, interpreter, layouts=1), ROUTINE, inputs)
    if not found.lines:
        pytest.skip(f"perf cannot watch here: {found.note}")
    assert sum(line.share for line in found.lines) > 0.9
    assert sum(line.share for line in found.lines if line.line in range(9, 16)) > 0.8, "the loop"
