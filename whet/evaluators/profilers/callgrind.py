"""Hot spots of native programs by callgrind: instructions of a simulated processor, the same in every run."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from whet.core.profile import Profile
from whet.core.task import Kind
from whet.evaluators.artifacts import Builder
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.source import Input
from whet.evaluators.profilers.inside import report
from whet.evaluators.profilers.stacks import StackCost, hot_functions, hot_lines, is_file
from whet.sandbox.protocol import Incident
from whet.sandbox.toolchains import native

TOOL = "callgrind"
COMMAND = 'exec /usr/bin/valgrind --tool=callgrind --dump-line=yes --callgrind-out-file="$2" "$1"'
NAME_ROW = re.compile(r"(fl|fi|fe|cfi|cfl|fn|cfn)=\((\d{1,9})\)(?: (.*))?$")
COST_ROW = re.compile(r"([+-]?\d{1,9}|\*) (\d{1,18})$")
# Debian's valgrind knows no AVX-512, so what is profiled must not be built for this very machine.
PORTABLE = ("-g", "-march=x86-64-v3")


def profile(builder: Builder, source: str, inputs: Sequence[Input]) -> Profile:
    """Returns the hot spots of a native program on the first of some inputs."""
    if shutil.which("valgrind", path="/usr/bin") is None:
        return Profile((), TOOL, "valgrind is not installed: apt-get install valgrind")
    if builder.task.kind is Kind.FUNCTION:
        return Profile((), TOOL, "it follows programs alone, and this is a function")
    artifact = builder.build(source, PORTABLE)
    if isinstance(artifact, Fault):
        return Profile((), TOOL, artifact.detail[:300])
    argv = ["/bin/sh", "-c", COMMAND, "sh", *builder.argv("{tree}"), "{report}"]
    try:
        text = report(builder, artifact, argv, inputs[0])
    except Incident as incident:
        return Profile((), TOOL, f"it did not come through: {incident}")
    target = native.source_name(builder.task, source)
    found = parse(text, target)
    functions = {
        (name, builder.task.filename if is_file(file, target) else file, found.starts.get((name, file))): StackCost(
            found.own[name, file], found.total[name, file]
        )
        for name, file in found.total
    }
    whole = found.own.total()
    return Profile(hot_lines(source, found.lines), TOOL, "", hot_functions(functions, whole), "instructions")


@dataclass(slots=True)
class Report:
    """What a callgrind report says.

    Attributes:
        lines: instructions by line of the target's file; what a line calls in other files counts for it.
        own: instructions of each function (name, file) itself.
        total: with what it calls.
        starts: the first line of each.
    """

    lines: Counter[int] = field(default_factory=Counter)
    own: Counter[tuple[str, str]] = field(default_factory=Counter)
    total: Counter[tuple[str, str]] = field(default_factory=Counter)
    starts: dict[tuple[str, str], int] = field(default_factory=dict)


def parse(text: str, target: str) -> Report:
    """Reads a callgrind report (its documented text format).

    Args:
        text: the report.
        target: the target's file.
    """
    found = Report()
    files: dict[str, str] = {}
    functions: dict[str, str] = {}
    file = home = callee_file = function = callee = ""
    line = 0
    calling = False
    for row in text.splitlines():
        if match := NAME_ROW.match(row):
            kind, number, name = match.groups()
            names = functions if kind in ("fn", "cfn") else files
            names.setdefault(number, name or "")
            if kind == "fn":
                function, home = names[number], file
            elif kind == "cfn":
                callee = names[number]
            elif kind in ("cfi", "cfl"):
                callee_file = names[number]
            else:
                file = callee_file = names[number]
        elif row.startswith("calls="):
            calling = True
        elif match := COST_ROW.match(row):
            where, cost = match[1], int(match[2])
            line = line if where == "*" else line + int(where) if where[0] in "+-" else int(where)
            key = (function, home)
            if is_file(file, target) and not (calling and is_file(callee_file, target)):
                found.lines[line] += cost
            if not calling:
                found.own[key] += cost
                found.starts.setdefault(key, line)
            if not (calling and callee == function):  # what calls itself is counted once
                found.total[key] += cost
            if calling:
                calling, callee_file = False, file
    return found
