"""What the engines are not trusted with, and what they do not model: traps of divisions, inexact operations."""

from __future__ import annotations

import re
from typing import Any

import capstone
import claripy
from capstone import x86_const as x86

REFUSED = {
    "x86_64": re.compile(
        r"(syscall|sysenter|int|into|rdtsc|rdtscp|cpuid|rdrand|rdseed|rdpmc|xgetbv|xsave\w*|xrstor\w*|in|out|ins\w|"
        r"outs\w|f[a-z0-9]+|ldmxcsr|stmxcsr|vldmxcsr|vstmxcsr|xbegin|xend|xabort|popf\w?|rd[fg]sbase|wr[fg]sbase|hlt)"
    ),
    "aarch64": re.compile(r"(svc|hvc|smc|hlt|mrs|msr|sys|sysl|ldx\w*|stx\w*|ldax\w*|stlx\w*)"),
}
"""Mnemonics of which the outcome is not in the inputs, or that are not modelled well enough: system, clocks, x87."""
LOOSE = {
    "x86_64": re.compile(r"vfn?m(add|sub)\w*|v?dpp[sd]|v?cvtsi2ss"),
    "aarch64": re.compile(r"fn?m(add|sub)|fml[as]l?2?|fmulx|frecp\w*|frsqrt\w*|fcmla|fcadd|bf\w+dot|bfml\w*"),
}
"""Instructions on floats that are taken apart into steps which round more often than the machine does."""
WRONG = {"x86_64": (), "aarch64": ("sbcs", "ngcs")}
"""Instructions of which the engine says something else than the machine does."""
TRAPS = ("ud0", "ud1", "ud2", "int1", "int3", "udf", "brk")
"""Mnemonics of what does nothing but end the process."""
FLOATS = re.compile(r"F(16|32|64|128)|F0x")
EXACT = re.compile(
    r"Iop_("
    r"(Add|Sub|Mul|Div|Sqrt)(F32|F64|32F0x4|64F0x2|32Fx4|64Fx2|32Fx8|64Fx4)|"
    r"Cmp(F32|F64)|Cmp(EQ|LT|LE)(32F0x4|64F0x2|32Fx4|64Fx2)|(Neg|Abs)(F32|F64)|"
    r"Reinterp(F32asI32|I32asF32|F64asI64|I64asF64)|F32toF64|F64toF32|I32StoF64|I32UtoF64|I64StoF64|I32StoF32|I64StoF32"
    r")"
)
"""Operations on floats of which the engine's model is the standard's."""
EXACT_HERE = {"x86_64": re.compile(r"Iop_(Min|Max)(32F0x4|64F0x2|32Fx4|64Fx2)"), "aarch64": re.compile(r"(?!)")}
"""The engine takes the second where the comparison does not hold, as x86 does and AArch64 does not."""
ESTIMATES = re.compile(r"Est|Recip|RSqrt|Crypto|AES|SHA|BCD|PolynomialMul|Perm8x32|QDMulHi")


def refused(isa: str, instruction: Any) -> str | None:
    """Returns why an instruction is not followed at all, or None."""
    mnemonic = instruction.mnemonic.split()[-1]
    if REFUSED[isa].fullmatch(mnemonic):
        return "what it does is not modelled"
    if mnemonic in WRONG[isa]:
        return "the engine's model of its flags is wrong"
    if LOOSE[isa].fullmatch(mnemonic):
        return "the engine rounds it more often than the machine does"
    return None


def on_floats(operation: str) -> bool:
    """Returns whether an operation of VEX computes with floats."""
    return FLOATS.search(operation) is not None


def doubtful(operation: str, isa: str) -> bool:
    """Returns whether the engine's model of an operation is not exact, or not known to be."""
    if ESTIMATES.search(operation):
        return True
    return on_floats(operation) and not (EXACT.fullmatch(operation) or EXACT_HERE[isa].fullmatch(operation))


def trap(state: Any, instruction: Any, isa: str) -> Any | None:
    """Returns the condition under which a division traps, or has a result that the engine takes for another one.

    AArch64 defines a division by zero as zero; the engine does not know that, so it counts as a fault there too.
    """
    if isa == "aarch64":
        if instruction.mnemonic in ("sdiv", "udiv"):
            divisor = getattr(state.regs, instruction.reg_name(instruction.operands[2].reg))
            return divisor == 0
        return None
    if instruction.mnemonic not in ("div", "idiv"):
        return None
    operand = instruction.operands[0]
    width = 8 * operand.size
    divisor = _value(state, instruction, operand)
    halves = {8: ("ah", "al"), 16: ("dx", "ax"), 32: ("edx", "eax"), 64: ("rdx", "rax")}[width]
    high, low = (getattr(state.regs, name) for name in halves)
    if instruction.mnemonic == "div":
        return claripy.Or(divisor == 0, claripy.UGE(high, divisor))
    return claripy.Or(divisor == 0, _overflows(claripy.Concat(high, low), divisor))


def _overflows(dividend: Any, divisor: Any) -> Any:
    """Returns the condition under which a signed quotient leaves its width."""
    width = divisor.length
    low = dividend[width - 1 : 0]
    extended = low.sign_extend(width)
    if dividend is extended or dividend.structurally_match(
        extended
    ):  # as `cdq` makes it: only one quotient is too large
        return claripy.And(low == 1 << (width - 1), divisor == -1)
    quotient = dividend.SDiv(divisor.sign_extend(width))
    return quotient != quotient[width - 1 : 0].sign_extend(width)


def _value(state: Any, instruction: Any, operand: Any) -> Any:
    if operand.type == capstone.CS_OP_REG:
        return getattr(state.regs, instruction.reg_name(operand.reg))
    place = operand.mem
    address = claripy.BVV(place.disp, 64)
    if place.base == x86.X86_REG_RIP:
        address += instruction.address + instruction.size
    elif place.base:
        address += getattr(state.regs, instruction.reg_name(place.base))
    if place.index:
        address += getattr(state.regs, instruction.reg_name(place.index)) * place.scale
    return state.memory.load(address, operand.size, endness="Iend_LE", inspect=False)
