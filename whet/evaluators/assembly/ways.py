"""Where a translation leaves the way of its source: said to whoever has to mend it, as far as it is known.

Source and answer are called on the input that shows a difference, each in the emulator of its machine, which logs every
instruction. Nothing is concluded from that: a verdict stands before.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from whet.core.signature import Signature
from whet.core.task import Task
from whet.core.verdict import Reason
from whet.evaluators.abi.cases import Case
from whet.evaluators.abi.conventions import CONVENTIONS
from whet.evaluators.abi.deck import deal
from whet.evaluators.abi.records import told
from whet.evaluators.abi.stepping import logged_offsets, moved
from whet.evaluators.artifacts import Builder
from whet.evaluators.assembly.blocks import Block, aligned, blocks, way
from whet.evaluators.finding import Fault
from whet.sandbox.toolchains import native
from whet.sandbox.toolchains.assembly import Assembled, object_file
from whet.sandbox.toolchains.driver import Driver
from whet.sandbox.toolchains.isas import ISAS

SECONDS = 5.0
"""Seconds of one run in the emulator: a single call, with its instructions logged or not; there are up to four runs.
A smaller limit loses the blocks of slow calls; a larger one delays the report where a call does not end."""
MOST_PAIRS = 8
"""Pairs of blocks that are listed, first those that the input ran. More show more of a long routine and cost tokens."""
MOST_LINES = 10
"""Of a block's disassembly."""
ADDRESS = re.compile(r" at \w+\+(0x[0-9a-f]+)")
"""How a fault names an instruction of the answer."""


@dataclass(frozen=True, slots=True)
class _Side:
    """A routine on one machine: its object and its blocks."""

    isa: str
    made: Assembled
    code: list[Block]


class Ways:
    """Compares answers to the routine that they translate, block by block. Safe for several threads.

    Args:
        builder: of the task, which is a translation.
        signature: its contract.
    """

    def __init__(self, builder: Builder, signature: Signature) -> None:
        self._builder = builder
        self._task = builder.task
        self._signature = signature
        self._source: _Side | None = None
        self._looked = False
        self._lock = threading.Lock()

    def told(self, answer: Assembled, found: Fault, case: Case, seed: int) -> str:
        """Returns what is known of the blocks concerned; empty where nothing is.

        Args:
            answer: the object that failed.
            found: what is wrong with it.
            case: on which.
            seed: of what registers and memory hold beside it.
        """
        source = self._translated()
        theirs = _side(self._task, answer)
        if source is None or not theirs.code:
            return ""
        pairs = aligned(source.code, theirs.code)
        if (at := ADDRESS.search(found.detail)) is not None:
            return _at(source, theirs, pairs, int(at[1], 16))
        if found.reason is not Reason.WRONG_OUTPUT:
            return ""
        ways = [self._way(side, case, seed) for side in (source, theirs)]
        return _compared(source, theirs, pairs, *ways)

    def _translated(self) -> _Side | None:
        """Returns the source, on the first machine that takes its text: no task says which that is."""
        with self._lock:
            if not self._looked:
                self._source, self._looked = self._assembled(), True
            return self._source

    def _assembled(self) -> _Side | None:
        text, place = self._task.support[self._task.translated], self._builder
        for isa in ISAS.values():
            task = replace(self._task, isa=isa.name, features=())
            if isa.lacking() or not native.is_assembly(text):
                continue
            made = object_file(place.sandbox, place.interpreter, task, text)
            if isinstance(made, Assembled) and (side := _side(task, made)).code:
                return side
        return None

    def _way(self, side: _Side, case: Case, seed: int) -> list[int] | None:
        """Returns the blocks that a call goes through, by their numbers; None where that cannot be seen."""
        place, symbol = self._builder, self._task.symbol or ""
        driver = Driver(place.sandbox, place.interpreter, ISAS[side.isa], self._signature.externs)
        deck = deal(self._signature, [case], CONVENTIONS[side.isa], seed, ())

        def ran(first: int, last: int) -> tuple[tuple[int, int, int], list[int] | None]:
            done = driver.run(side.made.content, symbol, deck.data, SECONDS, logged=(first, last))
            greeting = told(deck, done).greeting
            return greeting, None if moved(done, greeting, greeting) else logged_offsets(done.log, greeting[0])

        greeting, _ = ran(0, 0)
        again, executed = ran(greeting[1], greeting[2] - 1) if any(greeting) else (greeting, None)
        return way(side.code, executed) if executed is not None and again == greeting else None


def _side(task: Task, made: Assembled) -> _Side:
    return _Side(task.isa, made, blocks(made.listing, task.symbol or "", task.isa))


def _at(source: _Side, theirs: _Side, pairs: dict[int, int], offset: int) -> str:
    """Returns the block of the answer that holds an instruction, and its counterpart."""
    number = next((n for n, block in enumerate(theirs.code) if offset in block.starts), None)
    if number is None:
        return ""
    lines = [f"in this block of the answer:{_shown(theirs.code[number])}"]
    counterpart = next((ours for ours, other in pairs.items() if other == number), None)
    if counterpart is not None:
        lines.append(f"which answers to this one of the source:{_shown(source.code[counterpart])}")
    return "\n".join(lines)


def _compared(
    source: _Side, theirs: _Side, pairs: dict[int, int], ours: list[int] | None, other: list[int] | None
) -> str:
    if not pairs:
        return ""
    taken, seen = Counter(ours or ()), Counter(other or ())
    rows = []
    for one, two in sorted(pairs.items(), key=lambda pair: not (taken[pair[0]] or seen[pair[1]]))[:MOST_PAIRS]:
        left = _span(source.code[one]) + ("" if ours is None else f", {taken[one]}x")
        right = _span(theirs.code[two]) + ("" if other is None else f", {seen[two]}x")
        rows.append(f"  {left}  ~  {right}")
    lines = [
        "blocks of the source ~ of the answer, where counterparts are known, and how often this input ran them:",
        *rows,
    ]
    if ours is not None and other is not None:
        back = {two: one for one, two in pairs.items()}
        mine, others = [one for one in ours if one in pairs], [back[two] for two in other if two in back]
        lines += _parting(source, theirs, pairs, mine, others)
    return "\n".join(lines)


def _parting(
    source: _Side, theirs: _Side, pairs: dict[int, int], mine: Sequence[int], others: Sequence[int]
) -> list[str]:
    """Returns where the ways part; both are told by the source's blocks that have a counterpart."""
    both = enumerate(zip(mine, others, strict=False))
    same = next((number for number, (one, two) in both if one != two), min(len(mine), len(others)))
    if same == len(mine) == len(others):
        return ["both went the same way through these blocks"]
    if not same:
        return []
    last = mine[same - 1]
    ours = _span(source.code[mine[same]]) if same < len(mine) else "the end"
    then = _span(theirs.code[pairs[others[same]]]) if same < len(others) else "the end"
    return [
        f"the ways part behind number {same} of them. The source goes on to {ours}, from:{_shown(source.code[last])}",
        f"the answer goes on to {then} (rightly, where a turn takes more elements), from:"
        f"{_shown(theirs.code[pairs[last]])}",
    ]


def _span(block: Block) -> str:
    """Returns the first and the last instruction of a block, with their offsets."""
    return block.lines[0] if len(block.lines) == 1 else f"{block.lines[0]} ... {block.lines[-1]}"


def _shown(block: Block) -> str:
    more = len(block.lines) - MOST_LINES
    rest = [f"... {more} more"] if more > 0 else []
    return "".join(f"\n    {line}" for line in (*block.lines[:MOST_LINES], *rest))
