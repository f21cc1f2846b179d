"""The graph of answers behind ``whet bench self search``: published, and frozen before any strategy was tuned on it.

A graph stands for one task and one language model. Its nodes are programs: an algorithm family, and which of the
family's steps were made. A question is a node, a role, the class of what the Judge asked for, and the number of the
sample; the answer to it is drawn once and for all from the graph's seed. Most answers make a step or two, of which some
are slower; others are wrong, cheat, say the same again, or begin anew with another family. What a verdict finds of an
answer is planted with it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from whet.core.profile import HotLine
from whet.core.verdict import Reason
from whet.testing.tabled import Row

VERSION = 1
"""A change of anything in this file is another graph, and gets another number."""
CLASSES = ("algorithm", "data structure", "library call", "vectorisation", "memory")
FAMILIES, STEPS = 3, 7
"""Families of a graph, the original's first; and steps of each."""
SIZES = ((0.20, 0.60, 0.95), (0.65, 1.03, 1.25), (0.90, 1.25, 1.80), (1.00, 1.80, 4.00))
"""Of steps: the share of those up to here, and their least and largest gain. A fifth make the program slower."""
NEEDS = 0.3
"""Share of the steps that are open only when a certain other one was made."""
CHEATS, REPEATS, JUMPS, PAIRS = 0.04, 0.12, 0.06, 0.15
"""Shares of the answers that cheat, say the same again, begin another family, or make two steps at once."""
ASKED = 4
"""So many times more often an answer is of the class that was asked for; jumps are of the class ``algorithm``."""
INSIGHT = 0.6
"""Share of the Judge's directives that name the class of the step with the largest gain; others name any class."""
SHOWN = 4
"""Hot lines of a program."""


@dataclass(frozen=True, slots=True)
class ProgramEdit:
    """One change of a program.

    Attributes:
        kind: its class.
        gain: speedup that it brings.
        wrong: probability that an answer gets it wrong.
        needs: number of the step that must come first; None for none.
    """

    kind: str
    gain: float
    wrong: float
    needs: int | None


@dataclass(frozen=True, slots=True)
class Node:
    """A program.

    Attributes:
        family: number of its algorithm family.
        made: numbers of the family's steps that were made.
        fault: ``wrong`` or ``cheat`` where it is one; empty where it is right.
        mark: tells apart texts that are wrong in different ways, or say the same in another layout.
    """

    family: int = 0
    made: frozenset[int] = frozenset()
    fault: str = ""
    mark: str = ""


class Graph:
    """One task with its model.

    Args:
        seed: names it.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        drawn = self._drawn("graph")
        self._starts = [1.0, *(drawn.uniform(0.6, 1.5) for _ in range(FAMILIES - 1))]
        self._families = [_steps(drawn) for _ in range(FAMILIES)]
        self.original = Node()

    def speedup(self, node: Node) -> float:
        """Returns how much faster than the original a right program is."""
        return self._starts[node.family] * math.prod(self._families[node.family][step].gain for step in node.made)

    def answer(self, parent: Node, asked: str, sample: str) -> Node:
        """Returns the Coder's answer to a question.

        Args:
            parent: the program that it builds upon.
            asked: the class that it was asked for; empty where none was.
            sample: names one of the answers to the question.
        """
        drawn = self._drawn(f"coder {_name(parent)} {asked} {sample}")
        open = self._open(parent)
        luck = drawn.random()
        if luck < CHEATS:
            return Node(parent.family, parent.made, "cheat", sample)
        if luck < CHEATS + REPEATS or not open:
            return replace(drawn.choice((parent, self.original)), mark=drawn.choice(("", sample)))
        if luck < CHEATS + REPEATS + JUMPS * (ASKED if asked == "algorithm" else 1):
            other = drawn.choice([family for family in range(FAMILIES) if family != parent.family])
            return Node(other)
        steps = drawn.choices(open, [self._weight(parent.family, step, asked) for step in open], k=2)
        return self._stepped(parent, steps if drawn.random() < PAIRS else steps[:1], drawn, sample)

    def cross(self, parent: Node, partner: Node, sample: str) -> Node:
        """Returns the Coder's answer where two programs are to be joined: of one family all steps, of two some."""
        drawn = self._drawn(f"cross {_name(parent)} {_name(partner)} {sample}")
        if partner.family != parent.family:
            return Node(partner.family, frozenset(step for step in partner.made if drawn.random() < 0.7))
        return self._stepped(parent, sorted(partner.made - parent.made), drawn, sample)

    def directive(self, parent: Node, round: int) -> str:
        """Returns the class that the Judge asks for."""
        drawn = self._drawn(f"judge {_name(parent)} {round}")
        open = self._open(parent)
        if not open:
            return "algorithm"
        steps = self._families[parent.family]
        best = max(open, key=lambda step: steps[step].gain)
        return steps[best].kind if drawn.random() < INSIGHT else drawn.choice(CLASSES)

    def kind(self, family: int, step: int) -> str:
        """Returns the class of a step."""
        return self._families[family][step].kind

    def row(self, node: Node) -> Row:
        """Returns what a verdict finds of a program."""
        if node.fault:
            reason = Reason.WRONG_OUTPUT if node.fault == "wrong" else Reason.CHEATING
            return Row(reason=reason, detail=f"f({[1, 2, 3]}) gave {len(node.mark)}, expected {len(node.made)}")
        return Row(self.speedup(node), hot=self._hot(node))

    def text(self, node: Node) -> str:
        """Returns the program's text: one part a step."""
        lines = ["def f(xs):", f"    table = open_{node.family}(xs)"]
        for number, step in enumerate(self._families[node.family]):
            name = f"part_{number}"
            if number in node.made:
                lines.append(f"    {name} = {step.kind.replace(' ', '_')}_{node.family}_{number}(table, xs)")
            else:
                lines += [f"    {name} = []", "    for x in xs:", f"        if x % {number + 2} in table:"]
                lines.append(f"            {name}.append(table[x % {number + 2}] * {number + node.family} + x)")
        if node.fault:
            lines.append(f"    {node.fault} = {node.mark!r}")
        elif node.mark:
            lines.append(f"    # as in answer {node.mark}")
        parts = ", ".join(f"part_{number}" for number in range(STEPS))
        return "\n".join([*lines, f"    return [{parts}]", ""])

    def _stepped(self, parent: Node, steps: Sequence[int], drawn: random.Random, sample: str) -> Node:
        wrong = [drawn.random() < self._families[parent.family][step].wrong for step in steps]
        made = parent.made.union(steps)
        return Node(parent.family, made, "wrong", sample) if any(wrong) else Node(parent.family, made)

    def _weight(self, family: int, step: int, asked: str) -> int:
        return ASKED if self.kind(family, step) == asked else 1

    def _open(self, node: Node) -> list[int]:
        steps = self._families[node.family]
        return [
            number
            for number, step in enumerate(steps)
            if number not in node.made and (step.needs is None or step.needs in node.made)
        ]

    def _hot(self, node: Node) -> tuple[HotLine, ...]:
        """Returns the lines of the parts that could be made faster, by what that would bring."""
        steps = self._families[node.family]
        drawn = self._drawn(f"profile {_name(node)}")
        left = {step: math.log(steps[step].gain) * drawn.uniform(0.5, 1.5) for step in self._open(node)}
        hottest = sorted((step for step in left if left[step] > 0), key=lambda step: -left[step])[:SHOWN]
        whole = sum(left[step] for step in hottest) + 0.5
        lines = self.text(node).split("\n")
        at = {step: lines.index(f"    part_{step} = []") + 4 for step in hottest}
        return tuple(HotLine(at[step], left[step] / whole, lines[at[step] - 1]) for step in hottest)

    def _drawn(self, what: str) -> random.Random:
        return random.Random(f"{VERSION} {self._seed} {what}")


def _steps(drawn: random.Random) -> list[ProgramEdit]:
    """Returns the steps of one family; what brings much is got wrong more often."""
    steps = []
    for number in range(STEPS):
        luck = drawn.random()
        least, most = next((least, most) for share, least, most in SIZES if luck < share)
        gain = drawn.uniform(least, most)
        wrong = 0.15 + 0.25 * max(0.0, math.log(gain) / math.log(4)) + drawn.uniform(0, 0.15)
        needs = drawn.randrange(number) if number and drawn.random() < NEEDS else None
        steps.append(ProgramEdit(drawn.choice(CLASSES), gain, wrong, needs))
    return steps


def _name(node: Node) -> str:
    return f"{node.family}:{','.join(map(str, sorted(node.made)))}"
