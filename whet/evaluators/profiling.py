"""Hot lines: nanoseconds by line for Python, instructions by line from callgrind for native code."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from whet.core.profile import HotLine, Profile
from whet.core.task import Kind, Task
from whet.evaluators.inputs import Input
from whet.evaluators.subjects import Fault, LiveFunction, Workshop
from whet.sandbox.inside import line_timer
from whet.sandbox.protocol import Incident, Job, Session
from whet.sandbox.toolchains import native

TIMER_SECONDS = 0.4
MOST_LINES = 12
SMALLEST_SHARE = 0.01
SLOWED = 50.0
"""How many times slower a profiler may be."""
REPORT = "/work/profile.out"
CALLGRIND = 'exec /usr/bin/valgrind --tool=callgrind --dump-line=yes --callgrind-out-file="$2" "$1"'
FILE_ROW = re.compile(r"(fl|fi|fe|cfi|cfl)=\((\d+)\)(?: (.*))?$")
COST_ROW = re.compile(r"([+-]?\d+|\*) (\d+)$")
# Debian's valgrind knows no AVX-512, so what is profiled must not be built for this very machine.
PORTABLE = ("-g", "-march=x86-64-v3")


def profile(workshop: Workshop, source: str, inputs: Sequence[Input]) -> Profile:
    """Returns the hot lines of a source text on some inputs, in a run of its own."""
    task = workshop.task
    if task.language != "python":
        return _callgrind(workshop, source, inputs)
    return (
        _timed_calls(workshop, source, inputs) if task.kind is Kind.FUNCTION else _timed_run(workshop, source, inputs)
    )


def hot_lines(source: str, hits: Mapping[int, int]) -> tuple[HotLine, ...]:
    """Returns the lines that matter, hottest first."""
    lines = source.splitlines()
    total = sum(hits.values())
    ranked = sorted(hits.items(), key=lambda row: (-row[1], row[0]))[:MOST_LINES]
    return tuple(
        HotLine(line, count / total, lines[line - 1].strip())
        for line, count in ranked
        if 1 <= line <= len(lines) and count / total >= SMALLEST_SHARE
    )


def _timed_calls(workshop: Workshop, source: str, inputs: Sequence[Input]) -> Profile:
    subject = workshop.build(source)
    live = subject if isinstance(subject, Fault) else subject.start()
    if isinstance(live, Fault):
        return Profile((), "line timer", live.detail)
    assert isinstance(live, LiveFunction)
    try:
        hits = dict(live.hot_lines([item.payload for item in inputs], TIMER_SECONDS))
    except (Incident, ValueError, TypeError) as fault:  # what a candidate's process answers need not be in form
        return Profile((), "line timer", str(fault))
    finally:
        live.close()
    return Profile(hot_lines(source, hits), "line timer")


def _timed_run(workshop: Workshop, source: str, inputs: Sequence[Input]) -> Profile:
    subject = workshop.build(source)
    if isinstance(subject, Fault):
        return Profile((), "line timer", subject.detail)
    python = [str(workshop.interpreter.executable), "-s", "-B", "-c", Path(line_timer.__file__).read_text()]
    session = workshop.sandbox.open(Job("programs", workshop.interpreter, subject.tree, workshop.task.limits))
    report = _report(
        session, [*python, f"{session.tree}/{workshop.task.filename}"], inputs[0], workshop.task.limits.seconds
    )
    if isinstance(report, Incident):
        return Profile((), "line timer", str(report))
    try:
        hits = {int(line): int(spent) for line, spent in (row.split() for row in report.splitlines())}
    except ValueError:  # the program may have written over its report
        return Profile((), "line timer", "the report is not in form")
    return Profile(hot_lines(source, hits), "line timer")


def _report(session: Session, argv: list[str], item: Input, seconds: float) -> str | Incident:
    """Runs a profiler on one input; returns the report that it wrote to the path after its arguments."""
    try:
        session.ask("prepare", [*argv, REPORT], item.payload, seconds=10.0)
        session.ask("go", seconds=seconds * SLOWED)
        (_, report), _ = session.ask("read", REPORT, seconds=10.0)
    except Incident as incident:
        return incident
    finally:
        session.close()
    assert isinstance(report, bytes)
    return report.decode("utf-8", "replace")


def _callgrind(workshop: Workshop, source: str, inputs: Sequence[Input]) -> Profile:
    if shutil.which("valgrind", path="/usr/bin") is None:
        return Profile((), "callgrind", "valgrind is not installed: apt-get install valgrind")
    task = workshop.task
    built = native.compile_program(workshop.sandbox, workshop.interpreter, task, source, PORTABLE)
    if isinstance(built, native.Diagnostics):
        return Profile((), "callgrind", built.text[:300])
    tree = workshop.sandbox.stage("callgrind", {"program": built[0]}, executable=True)
    session = workshop.sandbox.open(Job("programs", workshop.interpreter, tree, native.LIMITS))
    argv = ["/bin/sh", "-c", CALLGRIND, "sh", f"{session.tree}/program"]
    report = _report(session, argv, inputs[0], task.limits.seconds)
    if isinstance(report, Incident):
        return Profile((), "callgrind", f"callgrind did not come through: {report}")
    return Profile(hot_lines(source, by_line(report, source_name(task))), "callgrind")


def source_name(task: Task) -> str:
    """Returns the file name that the compiler saw."""
    return f"{task.path.stem}{native.SUFFIXES[task.language]}"


def by_line(report: str, filename: str) -> Counter[int]:
    """Reads instructions by line of one file from a callgrind report (its documented text format).

    What a line calls in other files (libraries, templates in headers) counts for the line that calls it.
    """
    hits: Counter[int] = Counter()
    names: dict[str, str] = {}
    file = callee = ""
    line = 0
    calling = False
    for row in report.splitlines():
        if match := FILE_ROW.match(row):
            kind, number, name = match.groups()
            names.setdefault(number, name or "")
            if kind in ("cfi", "cfl"):
                callee = names[number]
            else:
                file = callee = names[number]
        elif row.startswith("calls="):
            calling = True
        elif match := COST_ROW.match(row):
            where, cost = match.groups()
            line = line if where == "*" else line + int(where) if where[0] in "+-" else int(where)
            if file.endswith(filename) and not (calling and callee.endswith(filename)):
                hits[line] += int(cost)
            if calling:
                calling, callee = False, file
    return hits
