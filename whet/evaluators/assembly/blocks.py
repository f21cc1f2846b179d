"""Basic blocks of a routine, and which of them answer to which blocks of its translation.

Blocks are cut from objdump's listing, so they are the same for every dialect and macro. Two blocks are held to be
counterparts only where nothing else would fit: they lie in as many loops, go on to as many blocks, read, write and call
alike, and so do the blocks that follow them; and matching from the first block on gives the same pairs as matching from
the last one back.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\t(\S.*)$")
LABEL = re.compile(r"^([0-9a-f]+) <([^>]+)>:$")
TARGET = re.compile(r"(?:^|[\s,])([0-9a-f]+) <")
BRANCH = {
    "x86_64": re.compile(r"j\w+|loop\w*"),
    "aarch64": re.compile(r"b(?:\.\w+)?|cbn?z|tbn?z"),
    "riscv64": re.compile(r"b\w+|j"),
}
ALWAYS = frozenset({"jmp", "b", "j"})
RETURN = frozenset({"ret", "repz"})
CALL = frozenset({"call", "bl", "blr", "jal", "jalr"})
UNCHANGING = re.compile(r"cmp|test|v?u?comis|vptest|ptest|bt")
"""Instructions of x86-64 whose last operand is only read."""
STACK = re.compile(r"%[re]sp|\[sp|\(sp\)|\(s0\)")


MOST = 1000
"""Blocks of a routine; one of more is not gone through."""


@dataclass(frozen=True, slots=True)
class Block:
    """Instructions of which all are executed where the first is.

    Attributes:
        start: offset of the first one from the begin of the function.
        starts: offsets of all of them.
        lines: their disassembly.
        next: offsets of the blocks that may follow.
        loops: how many loops it lies in.
        traits: whether it reads memory, writes memory, calls; the stack's own aside.
    """

    start: int
    starts: tuple[int, ...]
    lines: tuple[str, ...]
    next: tuple[int, ...]
    loops: int
    traits: tuple[bool, bool, bool]

    @property
    def look(self) -> tuple[object, ...]:
        """By what counterparts are known."""
        return self.loops, len(self.next), self.traits


def blocks(listing: str, symbol: str, isa: str) -> list[Block]:
    """Returns the blocks of the section that holds a function, in their order; none where it is not found or too long.

    Args:
        listing: of ``objdump -d --no-show-raw-insn``.
        symbol: of the function, whose first instruction has the offset 0.
        isa: of the object.
    """
    code = _code(listing, symbol)
    if not code:
        return []
    offsets = [offset for offset, _ in code]
    behind = dict(pairwise(offsets))
    ways = {offset: _ways(text, isa, behind.get(offset)) for offset, text in code}
    firsts = {0, offsets[0]}
    for offset, (targets, ends) in ways.items():
        if ends:
            firsts |= {*targets, behind.get(offset, 0)}
    cuts = [number for number, offset in enumerate(offsets) if offset in firsts]
    if len(cuts) > MOST:
        return []
    parts = [code[start:end] for start, end in zip(cuts, [*cuts[1:], len(code)], strict=True)]
    edges = [(part[0][0], part[-1][0], ways[part[-1][0]][0]) for part in parts]
    begins = {part[0][0] for part in parts}
    back = [(target, last) for _, last, targets in edges for target in targets if target <= last]
    return [
        Block(
            start=first,
            starts=tuple(offset for offset, _ in part),
            lines=tuple(f"{offset:x}: {' '.join(text.split())}" for offset, text in part),
            next=tuple(target for target in targets if target in begins),
            loops=sum(low <= first <= high for low, high in back),
            traits=_traits([text for _, text in part], isa),
        )
        for part, (first, _, targets) in zip(parts, edges, strict=True)
    ]


def _code(listing: str, symbol: str) -> list[tuple[int, str]]:
    """Returns offset and text of each instruction of the function's section."""
    for section in re.split(r"^Disassembly of section .*$", listing, flags=re.MULTILINE):
        labels = {match[2]: int(match[1], 16) for line in section.splitlines() if (match := LABEL.match(line))}
        if symbol in labels:
            found = (INSTRUCTION.match(line) for line in section.splitlines())
            return [(int(one[1], 16) - labels[symbol], _bare(one[2], labels[symbol])) for one in found if one]
    return []


def _bare(text: str, origin: int) -> str:
    """Returns an instruction without what objdump remarks, its target as an offset from the function."""
    text = re.split(r"\s+(?:# |//)", text)[0]
    return TARGET.sub(lambda match: match[0].replace(match[1], f"{int(match[1], 16) - origin:x}", 1), text)


def _ways(text: str, isa: str, following: int | None) -> tuple[tuple[int, ...], bool]:
    """Returns where an instruction goes on to, and whether a block ends with it."""
    name, operands = _split(text)
    onward = () if following is None else (following,)
    if name in RETURN:
        return (), True
    if not BRANCH[isa].fullmatch(name):
        return onward, False
    target = TARGET.search(operands)
    targets = () if target is None else (int(target[1], 16),)
    return (targets if name in ALWAYS else (*targets, *onward)), True


def _split(text: str) -> tuple[str, str]:
    name, _, operands = text.replace("\t", " ").partition(" ")
    return name, operands.strip()


def _traits(code: Sequence[str], isa: str) -> tuple[bool, bool, bool]:
    reads = writes = calls = False
    for text in code:
        name, operands = _split(text)
        calls |= name in CALL
        if (
            STACK.search(operands)
            or not re.search(r"[(\[]", operands)
            or name.startswith(("lea", "nop", "cs", "data16"))
        ):
            continue
        if isa == "x86_64":
            last = operands.endswith(")") and not UNCHANGING.match(name)
            writes |= last
            reads |= not last or not re.match(r"v?mov", name)
        else:
            stores = name.startswith("st") if isa == "aarch64" else name.startswith(("s", "fs"))
            writes |= stores
            reads |= not stores
    return reads, writes, calls


def aligned(source: Sequence[Block], answer: Sequence[Block]) -> dict[int, int]:
    """Returns the numbers of source blocks whose counterpart is certain, and its number."""
    ours, theirs = _looks(source), _looks(answer)
    forward = _common(ours, theirs)
    backward = _common(ours[::-1], theirs[::-1])
    mirrored = {(len(ours) - 1 - one, len(theirs) - 1 - other) for one, other in backward}
    return dict(sorted(forward & mirrored))


def _looks(code: Sequence[Block]) -> list[object]:
    """Returns what each block is known by: its own traits, and those of the blocks that may follow."""
    own = {one.start: one.look for one in code}
    return [(one.start == 0, one.look, sorted(map(str, (own[start] for start in one.next)))) for one in code]


def _common(ours: Sequence[object], theirs: Sequence[object]) -> set[tuple[int, int]]:
    """Returns the pairs of a longest common subsequence: of several, the one whose pairs come first."""
    length = [[0] * (len(theirs) + 1) for _ in range(len(ours) + 1)]
    for one in reversed(range(len(ours))):
        for other in reversed(range(len(theirs))):
            same = length[one + 1][other + 1] + 1 if ours[one] == theirs[other] else 0
            length[one][other] = max(same, length[one + 1][other], length[one][other + 1])
    pairs: set[tuple[int, int]] = set()
    one = other = 0
    while one < len(ours) and other < len(theirs):
        if ours[one] == theirs[other] and length[one][other] == length[one + 1][other + 1] + 1:
            pairs.add((one, other))
            one, other = one + 1, other + 1
        elif length[one + 1][other] == length[one][other]:
            one += 1
        else:
            other += 1
    return pairs


def way(code: Sequence[Block], executed: Sequence[int]) -> list[int] | None:
    """Returns the numbers of the blocks that were executed, in their order; None where the offsets do not fit them.

    Args:
        code: the blocks.
        executed: offset of each executed instruction.
    """
    number = {block.start: at for at, block in enumerate(code)}
    known = {offset for block in code for offset in block.starts}
    if not executed or not known.issuperset(executed):
        return None
    # A string instruction that is repeated is logged each time: only the first of a block enters it.
    return [number[offset] for offset in executed if offset in number]
