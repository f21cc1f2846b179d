"""Blocks of a routine and of its translation: cut from listings, aligned where that is certain, told beside a fault."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import whet
from whet.benchmarks import tasks
from whet.core.verdict import Reason
from whet.evaluators.assembly.blocks import Block, aligned, blocks, way
from whet.sandbox.toolchains.isas import ISAS

FOLDER = Path(tasks.__file__).parent / "asm"
ARM = (FOLDER / "dot-i32" / "answers" / "aarch64.s").read_text()
LISTING = """\
made.o:     file format elf64-x86-64


Disassembly of section .text:

0000000000000010 <helper>:
  10:	ret

0000000000000020 <sum>:
  20:	xor    %eax,%eax
  22:	test   %rsi,%rsi
  25:	je     31 <sum+0x11>
  27:	add    (%rdi),%eax        # a remark
  29:	add    $0x4,%rdi
  2d:	dec    %rsi
  2f:	jne    27 <sum+0x7>
  31:	ret
"""


def listing(file: Path, isa: str, place: Path) -> str:
    if lacking := ISAS[isa].lacking():
        pytest.skip(str(lacking))
    tools, made = ISAS[isa], place / "made.o"
    subprocess.run([tools.tool("gcc"), "-c", file, "-o", made], check=True)
    words = [tools.tool("objdump"), "-d", "--no-show-raw-insn", str(made)]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def test_blocks_end_where_code_branches_and_begin_where_it_is_entered() -> None:
    found = blocks(LISTING, "sum", "x86_64")
    assert [one.start for one in found if one.start >= 0] == [0x0, 0x7, 0x11]
    first, turn, last = found[-3:]
    assert (first.next, turn.next, last.next) == ((0x11, 0x7), (0x7, 0x11), ())
    assert (first.loops, turn.loops, last.loops) == (0, 1, 0)
    assert (first.traits, turn.traits) == ((False, False, False), (True, False, False))
    assert turn.lines[0] == "7: add (%rdi),%eax"
    assert turn.lines[-1] == "f: jne 7 <sum+0x7>"


def test_a_function_that_is_not_there_has_no_blocks() -> None:
    assert blocks(LISTING, "other", "x86_64") == []
    assert blocks("", "sum", "x86_64") == []


@pytest.mark.parametrize("isa", ["aarch64", "riscv64"])
def test_one_routine_answers_to_itself_block_by_block(isa: str, tmp_path: Path) -> None:
    code = blocks(listing(FOLDER / "base64-encode" / "answers" / f"{isa}.s", isa, tmp_path), "base64_encode", isa)
    assert len(code) > 4
    assert aligned(code, code) == {number: number for number in range(len(code))}


def test_the_tail_of_a_vector_loop_is_known_in_a_translation(tmp_path: Path) -> None:
    source = blocks(listing(FOLDER / "dot-i32" / "best.s", "x86_64", tmp_path), "dot_i32", "x86_64")
    answer = blocks(listing(FOLDER / "dot-i32" / "answers" / "aarch64.s", "aarch64", tmp_path), "dot_i32", "aarch64")
    pairs = aligned(source, answer)
    tail = next(n for n, block in enumerate(source) if "imul" in " ".join(block.lines))
    assert "madd" in " ".join(answer[pairs[tail]].lines)
    assert 0 not in pairs, "the source has a second vector loop, so its entry goes on to something else"


def test_what_fits_in_two_places_is_not_known() -> None:
    def block(start: int, reads: bool) -> Block:
        return Block(start, (start,), ("nop",), (), 0, (reads, False, False))

    once, twice = [block(4, True)], [block(4, True), block(8, True)]
    assert aligned(once, once) == {0: 0}
    assert aligned(once, twice) == {}
    assert aligned(once, [block(4, False)]) == {}


def test_a_text_of_very_many_blocks_is_not_gone_through() -> None:
    lines = "\n".join(f"{at:4x}:\tjmp    0 <sum>" for at in range(0, 4 * 3000, 4))
    assert blocks(f"Disassembly of section .text:\n\n0000000000000000 <sum>:\n{lines}\n", "sum", "x86_64") == []


def test_a_way_is_told_in_blocks_where_it_fits_them() -> None:
    code = blocks(LISTING, "sum", "x86_64")
    turn = [0x7, 0x9, 0xD, 0xF]
    numbers = [code.index(one) for one in code[-3:]]
    executed = [0x0, 0x2, 0x5, *turn, *turn, 0x11]
    assert way(code, executed) == [numbers[0], numbers[1], numbers[1], numbers[2]]
    assert way(code, [0x0, 0x3]) is None, "no instruction begins there"
    assert way(code, []) is None


def told(place: Path, wrong: str) -> tuple[Reason | None, str]:
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    if lacking := ISAS["aarch64"].lacking():
        pytest.skip(str(lacking))
    folder = place / "dot"
    shutil.copytree(FOLDER / "dot-i32", folder)
    file = folder / "whet.toml"
    text = file.read_text().replace('isa = "x86_64"', 'isa = "aarch64"\nkind = "transpile"\nsource = "best.s"')
    file.write_text("\n".join(line for line in text.split("\n") if "features" not in line))
    assert wrong != ARM
    (place / "wrong.s").write_text(wrong)
    result = whet.verify(str(folder), candidate=place / "wrong.s", home=place / "home")
    failed = next(one for one in result.rungs if one.status == "failed")
    return failed.reason, failed.detail


@pytest.mark.corpus
def test_a_wrong_result_names_the_blocks_that_the_input_ran(tmp_path: Path) -> None:
    wrong = ARM.replace("    adds x2, x2, #8\n", "    add x2, x2, #8\n    cmp x2, #1\n")
    reason, detail = told(tmp_path, wrong.replace("b.eq .Ldone", "b.le .Ldone"))
    assert reason is Reason.WRONG_OUTPUT
    assert "(n=1)" in detail
    lines = detail.splitlines()
    (tail,) = [line for line in lines if "mov (%rdi),%ecx" in line and "~" in line]
    if shutil.which("qemu-x86_64") is not None:
        assert ", 1x  ~  " in tail
    assert "ldr w4, [x0], #4" in tail
    assert tail.endswith(", 0x")
    assert "the ways part" in detail


@pytest.mark.corpus
def test_a_bad_access_names_its_block_and_the_counterpart(tmp_path: Path) -> None:
    reason, detail = told(tmp_path, ARM.replace("adds x2, x2, #8", "adds x2, x2, #9"))
    assert reason is Reason.MEMORY_ERROR
    ours, theirs = detail.split("which answers to this one of the source:")
    assert "in this block of the answer:\n    3c: ldr w4, [x0], #4" in ours
    assert "imul (%rsi),%ecx" in theirs
