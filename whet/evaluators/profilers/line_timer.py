"""Hot spots of Python by a tracer in its own process: slower than sampling, and no run is too short for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from whet.core.profile import Profile
from whet.core.task import Kind
from whet.evaluators.artifacts import Artifact, Builder
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.source import Input
from whet.evaluators.processes import LONGEST, FunctionProcess
from whet.evaluators.profilers.inside import report
from whet.evaluators.profilers.stacks import StackCost, hot_functions, hot_lines, python_functions
from whet.sandbox.inside import line_timer
from whet.sandbox.protocol import Incident

TOOL = "line timer"
SECONDS = 0.4
"""Seconds for which the inputs of a function are repeated under the tracer, each at least once. A longer time evens out
the noise of short calls, and is added to every profile."""


def profile(builder: Builder, source: str, inputs: Sequence[Input]) -> Profile:
    """Returns the hot spots of a Python text on some inputs."""
    artifact = builder.build(source)
    if isinstance(artifact, Fault):
        return Profile((), TOOL, artifact.detail)
    try:
        if builder.task.kind is Kind.FUNCTION:
            hits = _calls(artifact, inputs)
        else:
            hits = _run(builder, artifact, inputs[0])
    except Incident as incident:
        return Profile((), TOOL, str(incident))
    except (ValueError, TypeError):  # what a candidate's process answers need not be in form
        return Profile((), TOOL, "the report is not in form")
    return _profile(source, builder.task.filename, hits)


def _calls(artifact: Artifact, inputs: Sequence[Input]) -> dict[int, int]:
    process = artifact.start()
    if isinstance(process, Fault):
        raise Incident("crash", process.detail)
    assert isinstance(process, FunctionProcess)
    try:
        rows = process.hot_lines([item.payload for item in inputs], SECONDS)
    finally:
        process.close()
    return _checked(dict(rows))


def _run(builder: Builder, artifact: Artifact, item: Input) -> dict[int, int]:
    timer = Path(line_timer.__file__).read_text()
    python = [str(builder.interpreter.executable), "-s", "-B", "-c", timer]
    program = f"{{tree}}/{builder.task.filename}"
    rows = report(builder, artifact, [*python, program, "{report}"], item).splitlines()
    return _checked({int(line): int(spent) for line, spent in (row.split() for row in rows)})


def _checked(hits: dict[int, int]) -> dict[int, int]:
    if not all(0 <= spent < LONGEST for spent in hits.values()):
        raise ValueError("a time that is no count of nanoseconds")
    return hits


def _profile(source: str, filename: str, hits: Mapping[int, int]) -> Profile:
    around = python_functions(source)
    own: Counter[tuple[str, str, int | None]] = Counter()
    for line, spent in hits.items():
        name, first = around.get(line, ("<module>", 1))
        own[name, filename, first] += spent
    # What one function of the file calls in it stands on its own lines: only their own shares are known.
    functions = hot_functions({key: StackCost(spent) for key, spent in own.items()}, own.total())
    return Profile(hot_lines(source, hits), TOOL, "", functions, "ns")
