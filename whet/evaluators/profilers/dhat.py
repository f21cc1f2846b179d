"""Memory by line of native programs by valgrind's DHAT, which sees every block of the heap."""

from __future__ import annotations

import json
import re
import shutil
from typing import Any

from whet.core.profile import Memory
from whet.core.task import Kind
from whet.evaluators.artifacts import Builder
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.source import Input
from whet.evaluators.profilers.callgrind import PORTABLE
from whet.evaluators.profilers.inside import report
from whet.evaluators.profilers.stacks import Held, is_file, memory_lines
from whet.sandbox.protocol import Incident
from whet.sandbox.toolchains import native

TOOL = "dhat"
COMMAND = 'exec /usr/bin/valgrind --tool=dhat --num-callers=40 --dhat-out-file="$2" "$1"'
FRAME = re.compile(r"\(([^()]+):(\d{1,9})\)$")


def memory(builder: Builder, source: str, item: Input) -> Memory:
    """Returns the memory of a native program's lines on an input."""
    if shutil.which("valgrind", path="/usr/bin") is None:
        return Memory((), None, TOOL, "valgrind is not installed: apt-get install valgrind")
    if builder.task.kind is Kind.FUNCTION:
        return Memory((), None, TOOL, "it follows programs alone, and this is a function")
    artifact = builder.build(source, PORTABLE)
    if isinstance(artifact, Fault):
        return Memory((), None, TOOL, artifact.detail[:300])
    argv = ["/bin/sh", "-c", COMMAND, "sh", *builder.argv("{tree}"), "{report}"]
    try:
        peak, found = parse(report(builder, artifact, argv, item), native.source_name(builder.task, source))
    except Incident as incident:
        return Memory((), None, TOOL, f"it did not come through: {incident}")
    except (ValueError, TypeError, LookupError):
        return Memory((), None, TOOL, "the report is not in form")
    return Memory(memory_lines(source, found), peak, TOOL)


def parse(text: str, target: str) -> tuple[int, dict[int, Held]]:
    """Reads a DHAT report (its documented JSON; ``g`` is the moment at which most is held, ``t`` the whole run).

    A block counts for the innermost line of the target's file on its stack.

    Args:
        text: the report.
        target: the target's file.

    Returns:
        The most bytes that were held at a time, and what each line held of them.

    Raises:
        ValueError, TypeError, LookupError: it is not in form.
    """
    document: dict[str, Any] = json.loads(text)
    lines = [_line(str(frame), target) for frame in document["ftbl"]]
    peak = 0
    found: dict[int, Held] = {}
    for point in document["pps"]:
        size, blocks, allocations = int(point["gb"]), int(point["gbk"]), int(point["tbk"])
        peak += size
        line = next((lines[frame] for frame in point["fs"] if lines[frame]), 0)
        before = found.get(line, Held(allocations=0))
        found[line] = Held(before.size + size, before.blocks + blocks, (before.allocations or 0) + allocations)
    return peak, found


def _line(frame: str, target: str) -> int:
    match = FRAME.search(frame)
    return int(match[2]) if match and is_file(match[1], target) else 0
