"""Reads the forms of instructions on which the engine's models are tried."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("forms.toml")
REGISTERS = {
    "x86_64": {64: ("rax", "rcx", "r8"), 32: ("eax", "ecx", "r8d"), 16: ("ax", "cx", "r8w"), 8: ("al", "cl", "r8b")},
    "aarch64": {64: ("x3", "x4", "x5"), 32: ("w3", "w4", "w5")},
}
FLAGS = {
    "x86_64": "mov r8, rax\nseto dl\nlahf\nshr eax, 8\nand eax, 0xc1\nlea edx, [rdx + 2 * rax]\nmov rax, r8",
    "aarch64": "cset x5, cs\ncset x6, vs\ncset x7, eq\ncset x8, mi\n"
    "add x5, x5, x6, lsl 1\nadd x5, x5, x7, lsl 2\nadd x5, x5, x8, lsl 3",
}
"""Puts the flags into the register that was zero before."""


def forms(isa: str) -> Mapping[str, str]:
    """Returns the forms of an instruction set: a name of each, and its instructions."""
    return {
        text.replace("\n", "; "): text for group in tomllib.loads(FILE.read_text())[isa] for text in _texts(group, isa)
    }


def _texts(group: Mapping[str, Any], isa: str) -> Iterator[str]:
    words = group["of"].split(";") if ";" in group["of"] else group["of"].split()
    for one in filter(None, map(str.strip, words)):
        form = group["form"].replace("{}", one)
        for width in group.get("widths", [max(REGISTERS[isa])]):
            a, b, other = REGISTERS[isa][width]
            for lanes in group.get("lanes", "none").split():
                text = form.format(a=a, b=b, o=other, l=lanes)
                yield f"{text}\n{FLAGS[isa]}" if group.get("flags") else text
