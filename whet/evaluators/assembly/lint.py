"""What the text of an assembly routine may hold: one function, read-only data, and nothing that reaches elsewhere.

Directives are held against a list of what routines need: a text has no other way to name a file, a section that runs
before its caller or a second symbol. Memory that could be written between calls has no place in a routine either.
What its instructions are is read from the object, where no macro hides them: see `forbidden_instructions`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from whet.core.verdict import Reason
from whet.evaluators.finding import Fault

NO_TRANSLATION = "a translation is assembly: what a compiler makes of other languages is its own work"
DATA = frozenset({
    "2byte", "4byte", "8byte", "ascii", "asciz", "byte", "double", "dword", "fill", "float", "half", "hword", "int",
    "long", "octa", "quad", "short", "single", "skip", "space", "string", "value", "word", "xword", "zero",
})  # fmt: skip
LAYOUT = frozenset({"align", "balign", "p2align", "text", "section", "rodata", "previous", "pushsection", "popsection"})
SYMBOLS = frozenset({"globl", "global", "type", "size", "local", "hidden", "set", "equ", "equiv"})
FACTS = frozenset({"file", "ident", "loc", "intel_syntax", "att_syntax"})
"""Said about the text by compilers, and its dialect."""
MACROS = frozenset({
    "macro", "endm", "exitm", "purgem", "rept", "irp", "irpc", "endr", "if", "ifdef", "ifndef", "ifb", "ifnb", "ifc",
    "ifnc", "ifeq", "ifne", "ifge", "ifgt", "ifle", "iflt", "else", "elseif", "endif",
})  # fmt: skip
OF_PROGRAMS = frozenset({"data", "bss", "comm", "lcomm", "extern"})
OF_ISA: dict[str, frozenset[str]] = {
    "x86_64": frozenset(),
    "aarch64": frozenset({"arch", "cpu", "arch_extension"}),
    "riscv64": frozenset({"option", "attribute"}),
}
"""Directives that compilers write for other instruction sets; ``.arch`` of x86 would undo the task's features."""
SECTIONS = re.compile(r"\.(?:text|rodata)(?:[.\w]*)|\.note\.GNU-stack|\.comment")
COMMENTS = {"x86_64": r"#.*", "aarch64": r"//.*", "riscv64": r"#.*"}
WORDS = re.compile(r"\.([A-Za-z_]\w*)\s*(.*)", re.DOTALL)
MADE_UP = re.compile(r"^\s*\.?\\|\.\\")
"""What only a macro's argument says."""
LABEL = re.compile(r"\s*[\w.$]+:")
INSTRUCTIONS = {
    "x86_64": re.compile(
        r"syscall|sysenter|sysexit|sysret|int\d?|into|rdtscp?|rdpmc|rdrand|rdseed|rdpid|cpuid|xgetbv|hlt|in[bwl]?|out[bwl]?"
        r"|ins[bwl]|outs[bwl]|iret[qlw]?|sgdt|sidt|sldt|str|smsw|(?:rd|wr)(?:fs|gs)base[lq]?|wrpkru|xbegin"
    ),
    "aarch64": re.compile(r"svc|hvc|smc|brk|hlt|mrs|msr|udf"),
    "riscv64": re.compile(r"ecall|ebreak|csr\w+|rd(?:cycle|time|instret)h?|fence\.i|uret|sret|mret|wfi"),
}
"""What asks the kernel, the clock or the processor for something, by the instruction set; whole mnemonics."""


@dataclass(frozen=True, slots=True)
class _Statement:
    line: int
    text: str


def lint(source: str, symbol: str, isa: str, program: bool = False) -> Fault | None:
    """Returns what a routine's text holds that it may not, or lacks.

    Args:
        source: the text.
        symbol: of the function.
        isa: its instruction set.
        program: whether it is a whole program, which may keep data and names those of the C library that it calls.
    """
    if "\0" in source:
        return Fault(Reason.SYNTAX_ERROR, "it holds a NUL byte")
    told: dict[str, str] = {}
    sections: set[str] = set()
    for statement in _statements(source, isa):
        if MADE_UP.search(statement.text):
            why = "a macro's argument stands for a directive or an instruction"
            return Fault(Reason.FORBIDDEN_CONSTRUCT, f"line {statement.line}: {statement.text[:80]}: {why}")
        if match := WORDS.match(statement.text):
            name, rest = match[1].lower(), match[2].strip()
            if why := _refused(name, rest, symbol, isa, program):
                return Fault(Reason.FORBIDDEN_CONSTRUCT, f"line {statement.line}: .{name} {rest[:80]}: {why}".rstrip())
            if name in ("globl", "global", "type", "size") and rest.replace(",", " ").split()[:1] == [symbol]:
                told["globl" if name == "global" else name] = rest
            if name in ("section", "pushsection"):
                sections.add(rest.partition(",")[0].strip().strip('"'))
    missing = [form for key, form in _forms(symbol, isa).items() if key not in told]
    if ".note.GNU-stack" not in sections:
        missing.append('.section .note.GNU-stack,"",@progbits')
    if missing:
        return Fault(
            Reason.FORBIDDEN_CONSTRUCT, f"it lacks {'; '.join(missing)}: tools would not see the function as one"
        )
    return None


def _forms(symbol: str, isa: str) -> dict[str, str]:
    sign = "%" if isa == "aarch64" else "@"
    return {
        "globl": f".globl {symbol}",
        "type": f".type {symbol}, {sign}function",
        "size": f".size {symbol}, .-{symbol}",
    }


def _refused(name: str, rest: str, symbol: str, isa: str, program: bool) -> str:
    """Returns why a directive has no place in a routine; empty where it has one."""
    if program and name in OF_PROGRAMS:
        return ""
    if name.startswith("cfi_") or name in DATA | MACROS | FACTS:
        return ""
    if name in SYMBOLS:
        if name == "type" and "indirect" in rest:
            return "a routine is no function that chooses another one"
        others = [one.strip() for one in rest.split(",")] if name in ("globl", "global") else [symbol]
        return "" if others == [symbol] else f"the only global symbol is {symbol}"
    if name in LAYOUT:
        section = rest.partition(",")[0].strip().strip('"')
        if program and re.fullmatch(r"\.(?:data|bss)(?:[.\w]*)", section):
            return "what is written is no code" if re.search(r'"[^"]*x[^"]*"', rest) else ""
        if name in ("section", "pushsection") and not SECTIONS.fullmatch(section):
            return "a routine has code and read-only data alone"
        return "a routine cannot write to its own code" if re.search(r'"[^"]*w[^"]*"', rest) else ""
    if name in OF_ISA[isa]:
        return ""
    return "no routine needs it"


def _statements(source: str, isa: str) -> Iterator[_Statement]:
    text = re.sub(r"/\*.*?\*/", lambda match: "\n" * match[0].count("\n"), source, flags=re.DOTALL)
    for number, line in enumerate(text.split("\n"), 1):
        bare = _outside_strings(line, COMMENTS[isa])
        for part in bare.split(";"):
            while match := LABEL.match(part):
                part = part[match.end() :]
            if part.strip():
                yield _Statement(number, part.strip())


def _outside_strings(line: str, comment: str) -> str:
    """Returns a line without its comment; what its strings hold is made harmless where it could be read as code."""
    kept = re.sub(r'"(?:\\.|[^"\\])*"', lambda match: re.sub(r"[;#/:]", "_", match[0]), line)
    return re.sub(comment, "", kept)


def forbidden_instructions(listing: str, isa: str) -> Fault | None:
    """Returns the first instruction that no routine may hold, from what objdump says of its object.

    Args:
        listing: of ``objdump -d --no-show-raw-insn``.
        isa: of the object.
    """
    for line in listing.splitlines():
        place, _, code = line.partition(":\t")
        words = [
            word for word in code.split() if word not in ("lock", "rep", "repz", "repnz", "notrack", "bnd", "data16")
        ]
        if words and INSTRUCTIONS[isa].fullmatch(words[0]):
            said = f"{words[0]} at offset 0x{place.strip()}"
            return Fault(Reason.FORBIDDEN_CONSTRUCT, f"{said}: a routine asks neither the kernel nor the clock")
    return None
