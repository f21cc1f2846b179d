"""Memory by line of Python: ``tracemalloc`` in the process, which numpy's arrays are told to as well."""

from __future__ import annotations

from pathlib import Path

from whet.core.profile import Memory
from whet.core.task import Kind
from whet.evaluators.artifacts import Artifact, Builder
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.source import Input
from whet.evaluators.processes import FunctionProcess
from whet.evaluators.profilers.inside import report
from whet.evaluators.profilers.stacks import Held, memory_lines
from whet.sandbox.inside import memory_tracer
from whet.sandbox.protocol import Incident

TOOL = "tracemalloc"
SECONDS = 1.0
"""For which a run is followed; then it goes on at its own speed, and what was found until then is told."""
LARGEST = 1 << 50
"""Bytes, or blocks, from which on a row of the report is no count: the process is hostile, and 1 PiB is more than the
memory of a machine. A smaller bound must stay above that, a larger one lets more absurd figures through."""

Rows = list[tuple[int, int, int]]
"""Line, bytes, blocks; line 0 stands for the peak of all."""


def memory(builder: Builder, source: str, item: Input) -> Memory:
    """Returns the memory of a Python text's lines on an input."""
    artifact = builder.build(source)
    if isinstance(artifact, Fault):
        return Memory((), None, TOOL, artifact.detail)
    try:
        run = _called if builder.task.kind is Kind.FUNCTION else _run_twice
        rows = run(builder, artifact, item)
        if not all(0 <= size < LARGEST and 0 <= count < LARGEST for _, size, count in rows):
            raise ValueError("no count of bytes")
        peak = max(size for line, size, _ in rows if line == 0)
    except Incident as incident:
        return Memory((), None, TOOL, str(incident))
    except (ValueError, TypeError):  # what a candidate's process answers need not be in form
        return Memory((), None, TOOL, "the report is not in form")
    found: dict[int, Held] = {}
    for line, size, count in rows:
        before = found.get(line, Held())
        found[line] = Held(max(before.size, size), max(before.blocks, count))
    return Memory(memory_lines(source, found), peak, TOOL)


def _called(builder: Builder, artifact: Artifact, item: Input) -> Rows:
    process = artifact.start()
    if isinstance(process, Fault):
        raise Incident("crash", process.detail)
    assert isinstance(process, FunctionProcess)
    try:
        return process.memory_lines(item.payload, SECONDS, builder.task.limits.seconds)
    finally:
        process.close()


def _run_twice(builder: Builder, artifact: Artifact, item: Input) -> Rows:
    first = _run(builder, artifact, item, 0)
    _, peak, most = first[0]
    return [(0, peak, 0), *first[1:], *_run(builder, artifact, item, max(1, most))[1:]]


def _run(builder: Builder, artifact: Artifact, item: Input, reach: int) -> Rows:
    tracer = Path(memory_tracer.__file__).read_text()
    python = [str(builder.interpreter.executable), "-s", "-B", "-c", tracer]
    argv = [*python, f"{{tree}}/{builder.task.filename}", "{report}", str(SECONDS), str(reach)]
    rows: Rows = []
    for row in report(builder, artifact, argv, item).splitlines():
        line, size, count = map(int, row.split())
        rows.append((line, size, count))
    if not rows:
        raise ValueError("an empty report")
    return rows
