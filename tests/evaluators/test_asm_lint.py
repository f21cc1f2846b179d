"""What the text of an assembly routine may hold."""

from __future__ import annotations

import pytest

from whet.core.verdict import Reason
from whet.evaluators.assembly.lint import forbidden_instructions, lint

RIGHT = """\
# Adds one.
    .text
    .p2align 4
    .globl next
    .type next, @function
next:
    leal 1(%rdi), %eax   # .incbin "x"
    ret; nop
    .size next, .-next
    .section .rodata.str,"aMS",@progbits,1
text: .string "a;.incbin \\"b\\""
    .section .note.GNU-stack,"",@progbits
"""


def found(text: str, isa: str = "x86_64") -> str:
    fault = lint(text, "next", isa)
    assert fault is None or fault.reason is Reason.FORBIDDEN_CONSTRUCT
    return "" if fault is None else fault.detail


def test_a_routine_is_one_function_and_read_only_data() -> None:
    assert found(RIGHT) == ""
    assert found(RIGHT.replace("#", "//").replace("@function", "%function"), "aarch64") == ""


@pytest.mark.parametrize(
    ("added", "said"),
    [
        ('.incbin "/etc/passwd"', "no routine needs it"),
        ('  lab: .include "x.s"', "no routine needs it"),
        ("nop; .incbin 'x'", "no routine needs it"),
        ('.section .init_array,"aw"', "read-only data alone"),
        ('.section .text,"awx",@progbits', "cannot write"),
        (".data", "no routine needs it"),
        (".comm cache,8,8", "no routine needs it"),
        (".globl other", "only global symbol is next"),
        (".global next, other", "only global symbol is next"),
        (".weak memcpy", "no routine needs it"),
        (".symver next,memcpy@GLIBC_2.14", "no routine needs it"),
        (".type next, @gnu_indirect_function", "chooses another"),
        (".arch generic64", "no routine needs it"),
        (".code32", "no routine needs it"),
        ('.macro m a\n.\\a "x"\n.endm', "macro's argument"),
        ('.macro m a\n \\a "x"\n.endm', "macro's argument"),
        ('/* a\n comment */ .incbin "x"', "line 14"),
    ],
)
def test_what_reaches_elsewhere_is_refused_by_its_line(added: str, said: str) -> None:
    assert said in found(RIGHT + added + "\n")


@pytest.mark.parametrize("line", [".globl next", ".type next, @function", ".size next, .-next", ".note.GNU-stack"])
def test_what_tools_need_is_asked_for(line: str) -> None:
    text = "\n".join(one for one in RIGHT.split("\n") if line not in one)
    assert line in found(text)


@pytest.mark.parametrize(
    ("isa", "code", "said"),
    [
        ("x86_64", "syscall", "syscall at offset 0x4"),
        ("x86_64", "rdtsc", "rdtsc"),
        ("x86_64", "int    $0x80", "int"),
        ("x86_64", "lock cpuid", "cpuid"),
        ("aarch64", "svc\t#0x0", "svc"),
        ("aarch64", "mrs\tx0, cntvct_el0", "mrs"),
        ("riscv64", "ecall", "ecall"),
        ("riscv64", "rdcycle\ta0", "rdcycle"),
        ("x86_64", "rep stos %al,%es:(%rdi)", ""),
        ("x86_64", "imul   %esi,%edi", ""),
        ("x86_64", "insertps $0x1,%xmm0,%xmm1", ""),
    ],
)
def test_instructions_that_ask_the_kernel_or_the_clock_are_read_from_the_object(isa: str, code: str, said: str) -> None:
    fault = forbidden_instructions(f"0000000000000000 <next>:\n   0:\tnop\n   4:\t{code}\n", isa)
    assert (fault.detail if fault else "")[: len(said)] == said
    assert (fault is None) is (said == "")
