"""Loops whose first instruction lies across a line of the instruction cache."""

from __future__ import annotations

import re
from collections.abc import Iterator

from whet.agents.catalogue.base import Label, Proposal
from whet.agents.models.base import Brief

LABEL = re.compile(r"^(\.L\w+):")
BRANCH = re.compile(r"^\s+(?:j[a-z]+|c?b[a-z.]*|tbn?z)\s+(?:.*,\s*)?(\.L\w+)\s*(?:[#/;@].*)?$")
ALIGNED = re.compile(r"^\s*\.(?:p2|b)?align\b")
SIZES = (32, 64)
"""Bytes: what processors fetch or keep decoded at once, and a line of the cache."""


class AlignedLoops:
    """Begins each loop at a multiple of 32 or 64 bytes, by directives alone."""

    name = "align-loops"
    languages: tuple[str, ...] = ("asm",)
    label = Label.COMPILER_FLAG
    summary = "begins each loop of assembly at a multiple of 32 or 64 bytes"
    needs = "a local label to which a later branch jumps back"
    unsafe = "never wrong; slower where what is skipped is run through often"
    assumes: tuple[str, ...] = ()

    def propose(self, brief: Brief) -> Iterator[Proposal]:
        """Yields one proposal a size, for all loops of the file."""
        lines = brief.source.split("\n")
        heads = _heads(lines)
        for size in SIZES if heads else ():
            source = "\n".join(_aligned(lines, heads, size.bit_length() - 1))
            if source != brief.source:
                why = f"loops begin anywhere, and now at multiples of {size} bytes"
                yield Proposal(source, self.name, self.label, min(heads) + 1, why)


def _heads(lines: list[str]) -> set[int]:
    """Returns the numbers, from 0, of the lines with a label to which a later line jumps back."""
    labels: dict[str, int] = {}
    heads = set()
    for number, line in enumerate(lines):
        if found := LABEL.match(line):
            labels[found[1]] = number
        elif (branch := BRANCH.match(line)) and branch[1] in labels:
            heads.add(labels[branch[1]])
    return heads


def _aligned(lines: list[str], heads: set[int], power: int) -> Iterator[str]:
    waiting: list[str] = []  # directives that align: they give way to ours before the head of a loop
    for number, line in enumerate(lines):
        if ALIGNED.match(line):
            waiting.append(line)
            continue
        yield from [f"\t.p2align {power}"] if number in heads else waiting
        waiting = []
        yield line
    yield from waiting
