"""Memory by line of Python: ``tracemalloc`` in the process, which numpy's arrays are told to as well."""

from __future__ import annotations

from pathlib import Path

from whet.core.profile import Memory
from whet.core.task import Kind
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.source import Input
from whet.evaluators.live import LiveFunction
from whet.evaluators.profilers.inside import report
from whet.evaluators.profilers.stacks import Held, memory_lines
from whet.evaluators.subjects import Subject, Workshop
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


def memory(workshop: Workshop, source: str, item: Input) -> Memory:
    """Returns the memory of a Python text's lines on an input."""
    subject = workshop.build(source)
    if isinstance(subject, Fault):
        return Memory((), None, TOOL, subject.detail)
    try:
        run = _called if workshop.task.kind is Kind.FUNCTION else _run_twice
        rows = run(workshop, subject, item)
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


def _called(workshop: Workshop, subject: Subject, item: Input) -> Rows:
    live = subject.start()
    if isinstance(live, Fault):
        raise Incident("crash", live.detail)
    assert isinstance(live, LiveFunction)
    try:
        return live.memory_lines(item.payload, SECONDS, workshop.task.limits.seconds)
    finally:
        live.close()


def _run_twice(workshop: Workshop, subject: Subject, item: Input) -> Rows:
    first = _run(workshop, subject, item, 0)
    _, peak, most = first[0]
    return [(0, peak, 0), *first[1:], *_run(workshop, subject, item, max(1, most))[1:]]


def _run(workshop: Workshop, subject: Subject, item: Input, reach: int) -> Rows:
    tracer = Path(memory_tracer.__file__).read_text()
    python = [str(workshop.interpreter.executable), "-s", "-B", "-c", tracer]
    argv = [*python, f"{{tree}}/{workshop.task.filename}", "{report}", str(SECONDS), str(reach)]
    rows: Rows = []
    for row in report(workshop, subject, argv, item).splitlines():
        line, size, count = map(int, row.split())
        rows.append((line, size, count))
    if not rows:
        raise ValueError("an empty report")
    return rows
