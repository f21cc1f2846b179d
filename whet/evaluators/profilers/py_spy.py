"""Hot spots of Python by py-spy, which samples the sandboxed process from outside."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

from whet.core.profile import Profile
from whet.core.task import Kind, Task
from whet.evaluators.artifacts import Builder
from whet.evaluators.finding import Fault
from whet.evaluators.inputs.source import Input
from whet.evaluators.processes import FunctionProcess
from whet.evaluators.profilers.stacks import Frame, Stack, from_stacks, python_functions
from whet.evaluators.program_process import ProgramProcess
from whet.sandbox.counters.process import Silent
from whet.sandbox.sampling import inner, sample

TOOL = "py-spy"
RATE = "250"
READY = b"Sampling process"
FRAME = re.compile(r"(.*) \((.*):(\d{1,9})\)$")


def find() -> str | None:
    """Returns the path of py-spy: beside whet's own interpreter, or on PATH."""
    return shutil.which(TOOL, path=str(Path(sys.executable).parent)) or shutil.which(TOOL)


def profile(builder: Builder, source: str, inputs: Sequence[Input]) -> Profile:
    """Returns the hot spots of a Python text on some inputs."""
    tool = find()
    if tool is None:
        return Profile((), TOOL, "it is not installed: pip install py-spy")
    artifact = builder.build(source)
    process = artifact if isinstance(artifact, Fault) else artifact.start()
    if isinstance(process, Fault):
        return Profile((), TOOL, process.detail)
    assert isinstance(process, (FunctionProcess, ProgramProcess))
    try:
        stacks = parse(_recorded(tool, process, builder.task, inputs))
    except Silent as silent:
        return Profile((), TOOL, str(silent))
    finally:
        process.close()
    starts = {line: first for line, (_, first) in python_functions(source).items()}
    filename = builder.task.filename
    return from_stacks(TOOL, stacks, f"{process.session.tree}/{filename}", filename, source, starts)


def _recorded(tool: str, process: FunctionProcess | ProgramProcess, task: Task, inputs: Sequence[Input]) -> str:
    """Returns py-spy's report on a process that works."""
    payloads = cycle([item.payload for item in inputs])

    def work() -> float:
        answer = process.call(next(payloads), task.limits.seconds)
        if isinstance(answer, Fault):
            raise Silent(answer.detail)
        return answer[1]

    work()  # what has answered once is there to be found
    with tempfile.TemporaryDirectory(prefix="whet-profile-") as folder:
        report = Path(folder, "report")
        followed = ["--subprocesses"] if task.kind is Kind.PROGRAM else []
        argv = [tool, "record", "--format", "raw", "--full-filenames", "--rate", RATE, *followed]
        sample([*argv, "--output", str(report), "--pid", str(inner(process.session))], READY, work)
        try:
            return report.read_text("utf-8", "replace")
        except OSError:
            raise Silent("it wrote no report") from None


def parse(report: str) -> Counter[Stack]:
    """Reads folded stacks, outermost frame first: ``name (file:line);name (file:line) count``.

    Names are the profiled process's own choice: what is not in form is passed over.
    """
    stacks: Counter[Stack] = Counter()
    for row in report.splitlines():
        frames, _, count = row.rpartition(" ")
        if not (count.isascii() and count.isdecimal() and len(count) < 10):
            continue
        matches = [match for part in frames.split(";") if (match := FRAME.match(part))]
        stack = tuple(Frame(match[1], match[2], int(match[3])) for match in reversed(matches))
        stacks[stack] += int(count)
    return stacks
