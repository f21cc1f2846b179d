"""The mix of machine instructions of a kernel, from what cuobjdump or nvdisasm print of its SASS.

Counted are instructions as they stand, not as often as they run: the loop that matters may be three of a hundred lines.
The classes follow the instruction set tables of NVIDIA's "CUDA Binary Utilities".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest

FUNCTION = re.compile(r"^\s*Function\s*:\s*(?P<dumped>\S+)|^\.text\.(?P<section>[^\s:]+):", re.MULTILINE)
INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P[T\d]\s+)?(?P<opcode>[A-Z][A-Z0-9_.]*)")
WIDTHS = {"U8": 8, "S8": 8, "U16": 16, "S16": 16, "64": 64, "128": 128, "256": 256}
WORD = 32
"""Bits that a thread moves where the opcode names no width."""
LOADS = {"LDG": "global", "LD": "generic", "LDS": "shared", "LDSM": "shared", "LDL": "local"}
STORES = {"STG": "global", "ST": "generic", "STS": "shared", "STSM": "shared", "STL": "local"}
ASYNC = frozenset({"LDGSTS", "UBLKCP", "UTMALDG", "UTMASTG", "UTMAPF"})
"""Copies that run beside the arithmetic: cp.async and the tensor memory accelerator."""
FMA = frozenset({"FFMA", "HFMA2", "DFMA", "FFMA2", "FFMA32I"})
TENSOR = re.compile(r"[HIQBDO]MMA$|[HIQBO]?GMMA$|UTC[A-Z]*MMA$|WGMMA$")
BRANCHES = frozenset({"BRA", "BRX", "JMP", "JMX", "BRXU", "JMXU", "CALL", "RET", "BREAK", "BSYNC"})
BARRIERS = frozenset({"BAR", "SYNCS", "DEPBAR", "LDGDEPBAR", "WARPSYNC", "MEMBAR", "UCGABAR_ARV", "UCGABAR_WAIT"})
SPECIAL = frozenset({"MUFU"})
ATOMICS = frozenset({"ATOM", "ATOMG", "ATOMS", "RED", "REDG"})
PADDING = frozenset({"NOP"})


@dataclass(frozen=True, slots=True)
class Mix:
    """The instructions of one kernel.

    Attributes:
        kernel: as the linker names it.
        total: all of them, but for padding.
        loads: ``global 128`` and the like (memory, bits of a thread) -> how many.
        stores: in the same way.
        fma: fused multiply-adds of the ordinary units.
        tensor: instructions of the tensor cores.
        async_copies: copies from global to shared memory that run beside the rest.
        special: of the unit for exponentials, roots and the like.
        atomics: atomics and reductions in memory.
        branches: jumps, calls and where branches meet again.
        barriers: waits for other threads or for memory.
    """

    kernel: str
    total: int = 0
    loads: Mapping[str, int] = field(default_factory=dict)
    stores: Mapping[str, int] = field(default_factory=dict)
    fma: int = 0
    tensor: int = 0
    async_copies: int = 0
    special: int = 0
    atomics: int = 0
    branches: int = 0
    barriers: int = 0


def mixes(text: str) -> tuple[Mix, ...]:
    """Returns the mix of each kernel in a disassembly; functions without instructions are left out."""
    return tuple(mix for name, body in functions(text) if (mix := _mix(name, body)).total)


def functions(text: str) -> Iterator[tuple[str, str]]:
    """Yields the name and the text of each function of a disassembly."""
    heads = list(FUNCTION.finditer(text))
    for head, after in zip_longest(heads, heads[1:]):
        yield head["dumped"] or head["section"], text[head.end() : after.start() if after else None]


def _mix(name: str, body: str) -> Mix:
    loads: Counter[str] = Counter()
    stores: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for match in INSTRUCTION.finditer(body):
        opcode = match["opcode"].rstrip(".")
        base, *modifiers = opcode.split(".")
        if base in PADDING:
            continue
        counts["total"] += 1
        if base in LOADS:
            loads[f"{LOADS[base]} {_width(base, modifiers)}"] += 1
        elif base in STORES:
            stores[f"{STORES[base]} {_width(base, modifiers)}"] += 1
        elif kind := _kind(base):
            counts[kind] += 1
    return Mix(name, loads=dict(sorted(loads.items())), stores=dict(sorted(stores.items())), **counts)


def _kind(base: str) -> str:
    if TENSOR.search(base):
        return "tensor"
    classes = {"fma": FMA, "async_copies": ASYNC, "special": SPECIAL, "atomics": ATOMICS}
    classes |= {"branches": BRANCHES, "barriers": BARRIERS}
    return next((name for name, opcodes in classes.items() if base in opcodes), "")


def _width(base: str, modifiers: list[str]) -> int:
    if base in ("LDSM", "STSM"):  # `M88.4` moves four 8x8 matrices of 16 bits: 32 bits of a thread for each
        return WORD * next((int(word) for word in reversed(modifiers) if word.isdigit()), 1)
    return next((WIDTHS[word] for word in modifiers if word in WIDTHS), WORD)
