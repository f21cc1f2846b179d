"""A compiled function in memory, as the engines see it: loaded, relocated, disassembled."""

from __future__ import annotations

import bisect
import functools
import io
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import angr
import capstone
import cle

from whet.evaluators.prove.proof import Block, Code

MACHINES = {"x86_64": 62, "aarch64": 183}
RELOCATABLE = 1
ALLOCATED = 2
RELOCATIONS = {
    "R_X86_64_PC32", "R_X86_64_PLT32", "R_X86_64_64", "R_X86_64_PC64", "R_X86_64_32", "R_X86_64_32S",
    "R_AARCH64_ADR_PREL_PG_HI21", "R_AARCH64_ADD_ABS_LO12_NC", "R_AARCH64_LDST8_ABS_LO12_NC",
    "R_AARCH64_LDST16_ABS_LO12_NC", "R_AARCH64_LDST32_ABS_LO12_NC", "R_AARCH64_LDST64_ABS_LO12_NC",
    "R_AARCH64_LDST128_ABS_LO12_NC", "R_AARCH64_CALL26", "R_AARCH64_JUMP26", "R_AARCH64_ABS64", "R_AARCH64_PREL32",
}  # fmt: skip
"""Those that the loader is known to resolve as the system's linker does."""
BOOKKEEPING = (".eh_frame", ".note", ".comment", ".debug")
"""Sections that no code reads; what stands in them decides nothing."""


class Undecided(Exception):
    """The engines cannot tell; the text says why."""


class OutOfTime(Undecided):
    """The engines could not tell in the time that they had."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the object that is in memory when the function runs."""

    start: int
    end: int
    executable: bool


class Image:
    """A loaded function.

    Args:
        code: the object, which may be hostile.

    Raises:
        Undecided: it is no object of its machine, has no such function, or needs what the loader does not know.
    """

    def __init__(self, code: Code) -> None:
        _expect_object(code)
        try:
            self.project: Any = angr.Project(io.BytesIO(code.object), auto_load_libs=False)
        except (cle.CLEError, angr.AngrError, struct.error, ValueError, KeyError) as error:
            raise Undecided(f"the object cannot be loaded: {type(error).__name__}: {error}") from None
        self.isa = code.isa
        main = self.project.loader.main_object
        self.sections = [
            Section(one.vaddr, one.vaddr + one.memsize, one.is_executable)
            for one in main.sections
            if one.flags & ALLOCATED and one.memsize and not one.name.startswith(BOOKKEEPING)
        ]
        symbol = main.get_symbol(code.symbol)
        if symbol is None or symbol.is_import or self.section(symbol.rebased_addr) is None:
            raise Undecided(f"the object has no function {code.symbol}")
        self.start: int = symbol.rebased_addr
        if not self.executable(self.start):
            raise Undecided(f"{code.symbol} is no code")
        section = self.section(self.start)
        assert section is not None
        self.end = min(self.start + symbol.size, section.end) if symbol.size else section.end
        self._expect_relocations(main)

    def section(self, address: int) -> Section | None:
        """Returns the part of the object that an address lies in."""
        return next((one for one in self.sections if one.start <= address < one.end), None)

    def executable(self, address: int) -> bool:
        """Returns whether code of the object lies at an address."""
        section = self.section(address)
        return section is not None and section.executable

    def import_at(self, address: int) -> str | None:
        """Returns the symbol that the object lacks and whose place this address stands for."""
        found = self.project.loader.find_symbol(address)
        return found.name if found is not None and self.section(address) is None else None

    @functools.lru_cache(maxsize=4096)  # noqa: B019 - an image lives as long as its process
    def instruction(self, address: int) -> Any | None:
        """Returns capstone's reading of the instruction at an address, or None where it has none."""
        section = self.section(address)
        assert section is not None
        data = self.project.loader.memory.load(address, min(16, section.end - address))
        return next(iter(_disassembler(self.isa).disasm(data, address, 1)), None)

    @functools.cached_property
    def instructions(self) -> tuple[Any, ...]:
        """The instructions of the function in their order, up to the first that cannot be read."""
        data = self.project.loader.memory.load(self.start, self.end - self.start)
        return tuple(_disassembler(self.isa).disasm(data, self.start))

    def told(self, address: int) -> str:
        """Returns an instruction in words, with its offset in the function."""
        found = self.instruction(address) if self.executable(address) else None
        text = f"{found.mnemonic} {found.op_str}".strip() if found is not None else "bytes that are no instruction"
        return f"{address - self.start:+#x}: {text}"

    def block(self, address: int) -> Block | None:
        """Returns the basic block of the function that an address lies in."""
        if not self.start <= address < self.end:
            return None
        leaders = sorted(set(self._leaders()))
        at = bisect.bisect_right(leaders, address)
        start, end = leaders[at - 1], leaders[at] if at < len(leaders) else self.end
        lines = tuple(self.told(one.address) for one in self.instructions if start <= one.address < end)
        return Block(start - self.start, end - self.start, lines)

    def _leaders(self) -> Iterable[int]:
        yield self.start
        for one in self.instructions:
            if one.group(capstone.CS_GRP_JUMP) or one.group(capstone.CS_GRP_RET):
                yield one.address + one.size
                yield from (op.imm for op in one.operands if op.type == capstone.CS_OP_IMM and self.inside(op.imm))

    def inside(self, address: int) -> bool:
        """Returns whether an address lies in the function itself."""
        return self.start <= address < self.end

    def _expect_relocations(self, main: Any) -> None:
        for one in main.relocs:
            if self.section(one.rebased_addr) is None:
                continue
            kind = type(one).__name__
            if kind not in RELOCATIONS or not one.resolved:
                name = one.symbol.name if one.symbol is not None else ""
                raise Undecided(f"the object has a relocation {kind} of {name or 'no symbol'}, which is not understood")


@functools.cache
def _disassembler(isa: str) -> Any:
    made = {
        "x86_64": (capstone.CS_ARCH_X86, capstone.CS_MODE_64),
        "aarch64": (capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM),
    }[isa]
    disassembler = capstone.Cs(*made)
    disassembler.detail = True
    return disassembler


def _expect_object(code: Code) -> None:
    if code.isa not in MACHINES:
        raise Undecided(f"no proofs for {code.isa}; there are some for {' and '.join(MACHINES)}")
    head = code.object[:20]
    if len(head) < 20 or head[:6] != b"\x7fELF\x02\x01":
        raise Undecided("this is no 64-bit ELF object")
    kind, machine = struct.unpack_from("<HH", head, 16)
    if kind != RELOCATABLE:
        raise Undecided("this is an ELF file, and no relocatable object")
    if machine != MACHINES[code.isa]:
        raise Undecided(f"the object is of machine {machine}, and {code.isa} is {MACHINES[code.isa]}")
