"""What llvm-mca says of a routine's loops: advice for whoever writes the next version, and never a score.

It models a processor without caches, and knows fewer processors than there are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Sandbox
from whet.sandbox.toolchains.native import Diagnostics, found, run_compiler

TOOL = "llvm-mca"
PACKAGE = "llvm"
MOST_LOOPS = 3
"""Innermost loops that are told, the last ones of the text. Each costs a run of the tool and a line of the prompt."""
JUMP = re.compile(r"j[a-z]+\s+(\S+)$|loop[a-z]*\s+(\S+)$")
LABEL = re.compile(r"([\w.$]+):")
FIGURE = re.compile(r"^(Total Cycles|Total uOps|IPC|Block RThroughput):\s+([\d.]+)", re.MULTILINE)
PRESSURE = re.compile(
    r"^\s*-?\s*(Register Dependencies|Memory Dependencies|Resource Pressure)\s+\[ ([\d.]+)% \]", re.MULTILINE
)
ROUNDS = 100
"""Rounds of a loop that are simulated, llvm-mca's own default. Cycles are divided by them: with fewer, the first
round's start weighs more in the mean; more take longer."""


@dataclass(frozen=True, slots=True)
class AnalysedLoop:
    """An innermost loop: its lines, counted from 1, and its text without labels."""

    first: int
    last: int
    text: str


def advice(sandbox: Sandbox, interpreter: Interpreter, source: str) -> str:
    """Returns what the model says of the innermost loops of x86-64 assembly, a line each.

    Empty where there is no loop or no tool, or where it cannot read the text.
    """
    if found(TOOL) is None:
        return ""
    lines = []
    for loop in list(loops(source))[-MOST_LOOPS:]:
        said = _asked(sandbox, interpreter, loop.text)
        if told := said and _told(said):
            lines.append(f"lines {loop.first} to {loop.last}: {told}")
    return "\n".join(lines)


def loops(source: str) -> Iterator[AnalysedLoop]:
    """Yields the innermost loops: from a label to the jump back to it, with no other such loop between."""
    labels: dict[str, int] = {}
    lines = [re.sub(r"#.*", "", line).strip() for line in source.split("\n")]
    spans: list[tuple[int, int]] = []
    for number, line in enumerate(lines):
        while match := LABEL.match(line):
            labels[match[1]] = number
            line = line[match.end() :].strip()
        if (jump := JUMP.match(line)) and (name := jump[1] or jump[2]):
            start = labels.get(name[:-1] if re.fullmatch(r"\d+b", name) else name)
            if start is not None and not any(start <= first for first, _ in spans):
                spans.append((start, number))
    for first, last in spans:
        body = [LABEL.sub("", line).strip() for line in lines[first:last]]
        code = [line for line in body if line and not line.startswith(".")]
        if code:
            yield AnalysedLoop(first + 1, last + 1, "\n".join(code) + "\n")


def _asked(sandbox: Sandbox, interpreter: Interpreter, text: str) -> str:
    flags = f"-mcpu=native -iterations={ROUNDS} -bottleneck-analysis -instruction-info=false -resource-pressure=false"
    steps = ["cd /tmp", "cat > loop.s", f"{TOOL} {flags} loop.s > report"]
    made = run_compiler(sandbox, interpreter, steps, text.encode(), ["/tmp/report"])
    return "" if isinstance(made, Diagnostics) else made[0].decode("utf-8", "replace")


def _told(report: str) -> str:
    figures = dict(FIGURE.findall(report))
    if "Total Cycles" not in figures:
        return ""
    cycles = float(figures["Total Cycles"]) / ROUNDS
    told = f"{cycles:.2f} cycles a round, {figures.get('IPC', '?')} instructions a cycle"
    least = figures.get("Block RThroughput")
    told += f", {least} cycles by throughput alone" if least else ""
    pressed = [f"{name.lower()} in {share} % of the cycles" for name, share in PRESSURE.findall(report) if float(share)]
    return f"{told}; held up by {', '.join(pressed)}" if pressed else told
