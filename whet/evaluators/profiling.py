"""Hot lines: samples of the Python stack, or instructions by line from callgrind for native code."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence

from whet.core.profile import HotLine, Profile
from whet.core.task import Kind, Task
from whet.evaluators.inputs import Input
from whet.evaluators.subjects import Fault, LiveFunction, Workshop
from whet.sandbox.protocol import Incident, Job
from whet.sandbox.toolchains import native

SAMPLE_SECONDS = 0.4
MOST_LINES = 12
SMALLEST_SHARE = 0.01
CALLGRIND = "/usr/bin/valgrind"
CALLGRIND_SECONDS = 60.0
FILE_ROW = re.compile(r"(fl|fi|fe|cfi|cfl)=\((\d+)\)(?: (.*))?$")
COST_ROW = re.compile(r"([+-]?\d+|\*) (\d+)$")
# Debian's valgrind knows no AVX-512, so what is profiled must not be built for this very machine.
PORTABLE = ("-g", "-march=x86-64-v3")


def profile(workshop: Workshop, source: str, inputs: Sequence[Input]) -> Profile:
    """Returns the hot lines of a source text on some inputs, in a run of its own."""
    task = workshop.task
    if task.language == "python" and task.kind is Kind.FUNCTION:
        return _sampled(workshop, source, inputs)
    if task.language == "python":
        return Profile((), "sampling", "whole Python programs are not sampled yet")
    return _callgrind(workshop, source, inputs)


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


def _sampled(workshop: Workshop, source: str, inputs: Sequence[Input]) -> Profile:
    subject = workshop.build(source)
    live = subject if isinstance(subject, Fault) else subject.start()
    if isinstance(live, Fault):
        return Profile((), "sampling", live.detail)
    assert isinstance(live, LiveFunction)
    try:
        hits = dict(live.hot_lines([item.payload for item in inputs], SAMPLE_SECONDS))
    except Incident as incident:
        return Profile((), "sampling", str(incident))
    finally:
        live.close()
    return Profile(hot_lines(source, hits), "sampling")


def _callgrind(workshop: Workshop, source: str, inputs: Sequence[Input]) -> Profile:
    if shutil.which("valgrind", path="/usr/bin") is None:
        return Profile((), "callgrind", "valgrind is not installed: apt-get install valgrind")
    task = workshop.task
    built = native.compile_program(workshop.sandbox, workshop.interpreter, task, source, PORTABLE)
    if isinstance(built, native.Diagnostics):
        return Profile((), "callgrind", built.text[:300])
    tree = workshop.sandbox.stage("callgrind", {"program": built}, executable=True)
    session = workshop.sandbox.open(Job("programs", workshop.interpreter, tree, native.LIMITS))
    out = "/work/callgrind.out"
    argv = [CALLGRIND, "--tool=callgrind", f"--callgrind-out-file={out}", "--dump-line=yes", f"{session.tree}/program"]
    try:
        session.ask("prepare", argv, inputs[0].payload, seconds=10.0)
        session.ask("go", seconds=CALLGRIND_SECONDS)
        (_, report), _ = session.ask("read", out, seconds=10.0)
    except Incident as incident:
        return Profile((), "callgrind", f"callgrind did not come through: {incident}")
    finally:
        session.close()
    return Profile(hot_lines(source, by_line(report.decode("utf-8", "replace"), source_name(task))), "callgrind")


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
