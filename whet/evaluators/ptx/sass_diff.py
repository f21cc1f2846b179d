"""The difference between two disassemblies, kernel by kernel, without what only says where code lies."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import unified_diff

from whet.evaluators.profilers.sass import PADDING, functions

LINE = re.compile(r"^\s*/\*(?P<address>[0-9a-f]{4,})\*/\s+(?P<text>[^;\n]*?)\s*;|^(?P<label>\.L\w+):", re.MULTILINE)
OPCODE = re.compile(r"(?:@!?U?P[T\d]\s+)?(?P<opcode>[A-Z][A-Z0-9_.]*)")
TARGET = re.compile(r"`\((?P<label>\.L\w+)\)|\b0x(?P<address>[0-9a-f]+)$")
JUMPS = re.compile(r"(?:@!?U?P[T\d]\s+)?(?:BRA|BRX|JMP|CALL|BSSY|SSY|PBK|PRET|WARPSYNC\.COLLECTIVE)\b")
CONTEXT = 2
"""Unchanged instructions that are shown on both sides of a change. More help to find the place, and leave less of
`LINES` to the changes themselves."""
LINES = 60
"""Of a kernel's diff that are kept."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction of a kernel; jumps go to ``L0``, ``L1``, in the order in which they are met."""

    opcode: str
    text: str


@dataclass(frozen=True, slots=True)
class KernelChange:
    """What became of one kernel.

    Attributes:
        kernel: as the linker names it.
        opcodes: opcode with its modifiers -> how many before and after, where they differ.
        diff: unified diff of the instructions; empty where they are the same.
        cut: lines of the diff that were left out.
    """

    kernel: str
    opcodes: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    diff: str = ""
    cut: int = 0

    @property
    def changed(self) -> bool:
        """Whether any instruction did."""
        return bool(self.diff)


def instructions(body: str) -> tuple[Instruction, ...]:
    """Returns the instructions of one kernel, from what cuobjdump or nvdisasm print of it; padding is left out."""
    rows = [match for match in LINE.finditer(body) if not _is_padding(match)]
    targets: dict[str, str] = {}
    found: list[tuple[str, str]] = []
    for row in rows:
        text = " ".join((row["text"] or "").split())
        target = TARGET.search(text) if JUMPS.match(text) else None
        if target:
            name = targets.setdefault(target["label"] or f"{int(target['address'], 16):x}", f"L{len(targets)}")
            text = f"{text[: target.start()]}{name}"
        found.append((row["label"] or f"{int(row['address'], 16):x}", text))
    made = []
    for place, text in found:
        if place in targets:
            made.append(Instruction("", f"{targets[place]}:"))
        if text:
            opcode = OPCODE.match(text)
            made.append(Instruction(opcode["opcode"].rstrip(".") if opcode else "", text))
    return tuple(made)


def compare_sass(before: str, after: str) -> tuple[KernelChange, ...]:
    """Returns what became of each kernel of two disassemblies, in the order of the second one."""
    old = {name: instructions(body) for name, body in functions(before)}
    new = {name: instructions(body) for name, body in functions(after)}
    return tuple(_change(name, old.get(name, ()), new.get(name, ())) for name in dict.fromkeys([*new, *old]))


def _change(kernel: str, old: tuple[Instruction, ...], new: tuple[Instruction, ...]) -> KernelChange:
    counts = [Counter(one.opcode for one in side if one.opcode) for side in (old, new)]
    opcodes = {
        opcode: (counts[0][opcode], counts[1][opcode])
        for opcode in sorted(counts[0] | counts[1])
        if counts[0][opcode] != counts[1][opcode]
    }
    before, after = ([one.text for one in side] for side in (old, new))
    rows = list(unified_diff(before, after, "before", "after", lineterm="", n=CONTEXT))
    return KernelChange(kernel, opcodes, "\n".join(rows[:LINES]), max(0, len(rows) - LINES))


def _is_padding(row: re.Match[str]) -> bool:
    return (row["text"] or "").split(" ")[0].split(".")[0] in PADDING
