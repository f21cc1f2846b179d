"""From call stacks, or figures by line and function, to a profile. All of it comes from hostile processes."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from whet.core.profile import HotFunction, HotLine, MemoryLine, Profile
from whet.evaluators.finding import Fault
from whet.evaluators.screen import parse

MOST_LINES = 12
"""Lines of a profile, the hottest first. Prompts show them: more cost tokens, fewer hide lines of a program whose time
is spread evenly."""
MOST_FUNCTIONS = 12  # the same of functions
SMALLEST_SHARE = 0.01
"""Share of the time or memory, 0 to 1, that a line or function has at least: even if it took none, no more than that
would be saved. A smaller one fills prompts with lines that do not matter."""
LONGEST_NAME = 120
"""Characters of a function's or file's name; those of C++ templates can be much longer. More cost tokens, fewer make
instances of one template look alike."""
FEWEST = 40
"""Samples below which shares would say nothing."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A function on a stack, and the line at which it is."""

    name: str
    file: str
    line: int


Stack = tuple[Frame, ...]
"""Innermost first."""


@dataclass(frozen=True, slots=True)
class StackCost:
    """What a function cost; ``total`` is None where it is not known."""

    own: int = 0
    total: int | None = None


@dataclass(frozen=True, slots=True)
class Held:
    """What a line held of memory: bytes and blocks at the peak, allocations of the whole run where they are known."""

    size: int = 0
    blocks: int = 0
    allocations: int | None = None


def from_stacks(
    tool: str, stacks: Mapping[Stack, int], file: str, shown: str, source: str, starts: Mapping[int, int]
) -> Profile:
    """Returns the profile of samples.

    Samples in which nothing of the target's file is on the stack are left out: they are the harness's.

    Args:
        tool: what took them.
        stacks: how often each was met.
        file: the target's file, as the stacks name it, or its last part.
        shown: its name for readers.
        source: its text.
        starts: line of the target's file -> the line where its function begins; may be empty.
    """
    by_line: Counter[int] = Counter()
    own: Counter[tuple[str, str, int | None]] = Counter()
    total: Counter[tuple[str, str, int | None]] = Counter()
    for stack, count in stacks.items():
        theirs = [i for i, frame in enumerate(stack) if is_file(frame.file, file)]
        if not theirs:
            continue
        by_line[stack[theirs[0]].line] += count
        keys = [
            (frame.name, shown, starts.get(frame.line)) if is_file(frame.file, file) else (frame.name, frame.file, None)
            for frame in stack[: theirs[-1] + 1]
        ]
        own[keys[0]] += count
        total.update(dict.fromkeys(keys, count))
    if by_line.total() < FEWEST:
        return Profile((), tool, f"only {by_line.total()} samples met the target; such short runs are over too soon")
    costs = {key: StackCost(own[key], total[key]) for key in total}
    return Profile(hot_lines(source, by_line), tool, "", hot_functions(costs, by_line.total()), "samples")


def is_file(path: str, file: str) -> bool:
    """Whether a path leads to a file that is known by its whole path, or by its last part."""
    return path == file or path.endswith(f"/{file}")


def hot_lines(source: str, hits: Mapping[int, int]) -> tuple[HotLine, ...]:
    """Returns the lines that matter, hottest first."""
    lines = source.splitlines()
    total = sum(hits.values())
    ranked = sorted(hits.items(), key=lambda row: (-row[1], row[0]))[:MOST_LINES]
    return tuple(
        HotLine(line, count / total, lines[line - 1].strip())
        for line, count in ranked
        if 1 <= line <= len(lines) and count and count / total >= SMALLEST_SHARE
    )


def memory_lines(source: str, found: Mapping[int, Held]) -> tuple[MemoryLine, ...]:
    """Returns the lines that matter by bytes or by allocations, the largest first; no line 0 counts for the wholes."""
    lines = source.splitlines()
    theirs = {line: held for line, held in found.items() if 1 <= line <= len(lines)}
    whole = max(1, sum(held.size for held in theirs.values()))
    calls = max(1, sum(held.allocations or 0 for held in theirs.values()))

    def share(held: Held) -> float:
        return max(held.size / whole, (held.allocations or 0) / calls)

    most = sorted(theirs.items(), key=lambda row: (-share(row[1]), row[0]))[:MOST_LINES]
    return tuple(
        MemoryLine(line, lines[line - 1].strip(), held.size, held.blocks, held.allocations)
        for line, held in sorted(most, key=lambda row: (-row[1].size, -(row[1].allocations or 0), row[0]))
        if share(held) >= SMALLEST_SHARE
    )


def hot_functions(costs: Mapping[tuple[str, str, int | None], StackCost], whole: int) -> tuple[HotFunction, ...]:
    """Returns the functions that matter, hottest by themselves first."""
    ranked = sorted(costs.items(), key=lambda row: (-row[1].own, -(row[1].total or 0), row[0][:2]))
    return tuple(
        HotFunction(_short(name), _short(file), line, cost.own / whole, _share(cost.total, whole))
        for (name, file, line), cost in ranked[:MOST_FUNCTIONS]
        if whole and max(cost.own, cost.total or 0) / whole >= SMALLEST_SHARE
    )


def python_functions(source: str) -> dict[int, tuple[str, int]]:
    """Returns, for each line of a Python text, the innermost function around it: its name and first line."""
    module = parse(source)
    found: dict[int, tuple[str, int]] = {}
    waiting: list[tuple[ast.AST, str]] = [] if isinstance(module, Fault) else [(module, "")]
    while waiting:  # nesting costs no stack; what is inside a function comes after it, and names its lines anew
        node, prefix = waiting.pop()
        for child in ast.iter_child_nodes(node):
            name = prefix
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                name = f"{prefix}.{child.name}" if prefix else child.name
                if not isinstance(child, ast.ClassDef):
                    for line in range(child.lineno, (child.end_lineno or child.lineno) + 1):
                        found[line] = (name, child.lineno)
            waiting.append((child, name))
    return found


def _share(cost: int | None, whole: int) -> float | None:
    return None if cost is None else min(1.0, cost / whole)


def _short(name: str) -> str:
    line = " ".join(name.split())
    return line if len(line) <= LONGEST_NAME else f"{line[: LONGEST_NAME - 3]}..."
